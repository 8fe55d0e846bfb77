//! The stock scheduler of Kubernetes.
//!
//! It places gangs in the best way that the API server serves, which is found out by probes (`cluster`):
//!
//! | form | needs | what a gang becomes |
//! |---|---|---|
//! | tree | CompositePodGroup | a CompositePodGroup, one more for each constrained bundle, a PodGroup for each group |
//! | flat | PodGroup | one PodGroup with the minimum of every group; further pods stand alone |
//! | plain | nothing | pods alone, each placed by itself |

mod capabilities;
mod cluster;
mod config;
mod explain;
mod flat;
mod form;
mod objects;
mod pod;
mod seen;
mod topology;
mod tree;
mod validate;
mod workload;

use std::sync::Arc;

use grove_api::{
    constants::schedulers,
    field::{Errors, Path},
    wire::PodCliqueSet,
};
use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

use self::{
    cluster::Found,
    form::{Form, GangForm},
};
use crate::{
    backend::{
        Example, Findings, Object, PrepareError, RenderError, ResourceUse, Scheduler, SchedulerBackend, Uses,
    },
    capability::Capabilities,
    probe::{Probe, Probed},
    tree::Gang,
    workload::{GroupReader, WorkloadGroups},
};

/// The backend of the stock scheduler.
#[derive(Clone, Copy, Debug, Default)]
pub struct KubeBackend;

impl SchedulerBackend for KubeBackend {
    fn name(&self) -> &'static str {
        schedulers::DEFAULT
    }

    fn synonyms(&self) -> &'static [&'static str] {
        &[schedulers::KUBE]
    }

    fn check_config(&self, config: &Value, path: &Path) -> Errors {
        config::check(config, path)
    }

    fn is_always_active(&self) -> bool {
        true
    }

    fn resources(&self, config: &Value) -> Vec<ResourceUse> {
        if !config::is_gang_scheduling(config) {
            return Vec::new();
        }
        let writes = |resource, reason| ResourceUse { resource, uses: Uses::Writes, reason };
        vec![
            writes(objects::pod_groups(), "groups of pods, as the stock scheduler knows them"),
            writes(
                objects::composite_pod_groups(),
                "gangs of several groups, as the stock scheduler knows them",
            ),
        ]
    }

    fn probes(&self, config: &Value) -> Vec<Probe> {
        if config::is_gang_scheduling(config) { cluster::probes() } else { Vec::new() }
    }

    fn init(&self, config: &Value, cluster: &Probed) -> Result<Arc<dyn Scheduler>, String> {
        let found = if config::is_gang_scheduling(config) {
            Found::of(cluster)?
        } else {
            Found { form: Form::Plain(capabilities::SWITCHED_OFF), preemption_policy: false }
        };
        Ok(Arc::new(Kube { found }))
    }

    fn groups(&self) -> Option<&dyn GroupReader> {
        Some(&seen::Groups)
    }

    fn examples(&self) -> Vec<Example> {
        cluster::examples()
    }
}

/// The stock scheduler as the cluster has it.
#[derive(Debug)]
struct Kube {
    found: Found,
}

impl Scheduler for Kube {
    fn version(&self) -> Option<String> {
        self.found.version()
    }

    fn capabilities(&self) -> Capabilities {
        capabilities::of(self.found.form)
    }

    fn form(&self) -> &'static str {
        self.found.form.name()
    }

    fn render(&self, gang: &Gang, existing: &[Value]) -> Result<Vec<Object>, RenderError> {
        match GangForm::of(gang, self.found.form).map_err(RenderError)? {
            GangForm::New(Form::Tree) => tree::render(gang, existing),
            GangForm::New(Form::Flat { topology }) => flat::render(gang, topology, existing),
            GangForm::New(Form::Plain(why)) => topology::refuse_required(gang, why).map(|()| Vec::new()),
            GangForm::Adopted => Ok(Vec::new()),
        }
    }

    fn places_minima_first(&self, gang: &Gang) -> bool {
        !GangForm::of(gang, self.found.form).is_ok_and(GangForm::has_groups)
    }

    fn prepare_pod(&self, pod: &mut Pod, gang: &Gang) -> Result<(), PrepareError> {
        let form = GangForm::of(gang, self.found.form).map_err(PrepareError)?;
        pod::prepare(pod, gang, form)
    }

    fn validate_pod_clique_set(&self, set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Findings {
        Findings { errors: validate::check(self.found.form, set, old), warnings: Vec::new() }
    }

    fn workloads(&self) -> Option<&dyn WorkloadGroups> {
        self.found.form.has_groups().then_some(self as &dyn WorkloadGroups)
    }

    fn explain(&self, gang: &Gang, objects: &[Value]) -> Option<String> {
        explain::explain(gang, objects)
    }

    fn readable(&self, words: &str) -> String {
        explain::readable(words)
    }
}
