//! Volcano: one PodGroup for each gang, with a sub-group policy for each group of pods.
//!
//! What the installed Volcano understands is read from its CRD and its HyperNodes (`form`). A PodGroup has one level
//! of sub-groups, so that a gang's tree is first laid out on it (`layout`) and then written down (`pod_group`). HyperNodes
//! are made from a ClusterTopologyBinding and the labels of nodes (`hyper_nodes`). Pods that others made are told to it in
//! `workload`.

mod capabilities;
mod explain;
mod form;
mod hyper_nodes;
mod layout;
mod pod;
mod pod_group;
mod seen;
mod validate;
mod workload;

use std::sync::Arc;

use grove_api::{
    config::check_keys,
    constants::{annotations, schedulers},
    field::{Errors, Path},
    wire::PodCliqueSet,
};
use k8s_openapi::api::core::v1::Pod;
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::Value;

use crate::{
    agreed::{Setting, Source},
    backend::{
        Example, Findings, Object, PrepareError, RenderError, ResourceUse, Scheduler, SchedulerBackend, Uses,
    },
    capability::Capabilities,
    probe::{Probe, Probed},
    topology::TopologyTree,
    tree::Gang,
    workload::{GroupReader, WorkloadGroups},
};
use form::Form;

const API_VERSION: &str = "scheduling.volcano.sh/v1beta1";

/// The queue in which the gang stands: Grove's annotation, or the one that Volcano knows from pods.
const QUEUE: Setting = Setting {
    what: "queue",
    sources: &[
        Source::Annotation(annotations::VOLCANO_QUEUE),
        Source::Annotation(annotations::VOLCANO_QUEUE_NAME),
    ],
};

/// The queue that every Volcano has.
const DEFAULT_QUEUE: &str = "default";

/// The Volcano backend.
#[derive(Clone, Copy, Debug, Default)]
pub struct VolcanoBackend;

impl SchedulerBackend for VolcanoBackend {
    fn name(&self) -> &'static str {
        schedulers::VOLCANO
    }

    fn check_config(&self, config: &Value, path: &Path) -> Errors {
        check_keys(config, path, &[])
    }

    fn topology_tree(&self) -> Option<&dyn TopologyTree> {
        Some(&hyper_nodes::HyperNodes)
    }

    fn resources(&self, _: &Value) -> Vec<ResourceUse> {
        vec![
            ResourceUse {
                resource: pod_groups(),
                uses: Uses::Writes,
                reason: "one PodGroup for each gang, which tells Volcano what is placed together",
            },
            ResourceUse {
                resource: hyper_nodes(),
                uses: Uses::Writes,
                reason: "the levels of the network by which a gang may be placed; made from a ClusterTopologyBinding \
                         where nobody else makes them",
            },
        ]
    }

    fn probes(&self, _: &Value) -> Vec<Probe> {
        form::probes()
    }

    fn init(&self, _: &Value, cluster: &Probed) -> Result<Arc<dyn Scheduler>, String> {
        Ok(Arc::new(Installed { form: Form::of(cluster)? }))
    }

    fn groups(&self) -> Option<&dyn GroupReader> {
        Some(&seen::Groups)
    }

    fn examples(&self) -> Vec<Example> {
        form::examples()
    }
}

fn pod_groups() -> ApiResource {
    let kind = GroupVersionKind::gvk("scheduling.volcano.sh", "v1beta1", "PodGroup");
    ApiResource::from_gvk_with_plural(&kind, "podgroups")
}

fn hyper_nodes() -> ApiResource {
    let kind = GroupVersionKind::gvk("topology.volcano.sh", "v1alpha1", "HyperNode");
    ApiResource::from_gvk_with_plural(&kind, "hypernodes")
}

/// Volcano as this cluster has it.
#[derive(Clone, Debug)]
struct Installed {
    form: Form,
}

impl Scheduler for Installed {
    fn version(&self) -> Option<String> {
        Some(self.form.version().to_owned())
    }

    fn lacks_tree(&self) -> Option<&'static str> {
        self.form.lacks_names()
    }

    fn capabilities(&self) -> Capabilities {
        capabilities::capabilities(&self.form)
    }

    fn render(&self, gang: &Gang, existing: &[Value]) -> Result<Vec<Object>, RenderError> {
        if gang.leaves().is_empty() {
            return Ok(Vec::new());
        }
        pod_group::render(&self.form, gang, existing).map(|it| vec![it]).map_err(RenderError)
    }

    fn prepare_pod(&self, pod: &mut Pod, gang: &Gang) -> Result<(), PrepareError> {
        pod::prepare(&self.form, pod, gang).map_err(PrepareError)
    }

    fn validate_pod_clique_set(&self, set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Findings {
        validate::validate(set, old)
    }

    fn workloads(&self) -> Option<&dyn WorkloadGroups> {
        Some(self)
    }

    fn explain(&self, _: &Gang, objects: &[Value]) -> Option<String> {
        explain::explain(objects)
    }
}
