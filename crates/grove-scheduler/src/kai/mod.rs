//! KAI: one PodGroup for each gang, with a sub-group for each group of pods.
//!
//! What the installed KAI understands is read from its CRD (`form`); the rest follows the data: from the gang to the
//! `pod_group` and its `sub_groups`, from the pod to its place in it (`pod`), and from KAI's answer to a sentence
//! (`explain`). Pods that others made are told to it in `workload`.

mod cause;
mod explain;
mod form;
mod pod;
mod pod_group;
mod rival;
mod said;
mod seen;
mod sub_groups;
mod topology;
mod validate;
mod workload;

use std::sync::Arc;

use grove_api::{
    config::{Key, Shape, check_keys},
    constants::{labels, schedulers},
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
    capability::{Answer, Capabilities},
    probe::{Probe, Probed},
    topology::TopologyPart,
    tree::Gang,
    workload::{GroupReader, WorkloadGroups},
};
use form::Form;

const GROUP: &str = "scheduling.run.ai";
const VERSION: &str = "v2alpha2";

/// The queue in which the gang stands.
const QUEUE: Setting = Setting {
    what: "queue",
    sources: &[Source::Label(labels::KAI_QUEUE), Source::Annotation(labels::KAI_QUEUE)],
};

/// The part of the cluster in which the gang is placed. A PodGroup outside of a scheduler's pool is invisible to it.
const NODE_POOL: Setting = Setting { what: "node pool", sources: &[Source::Label(NODE_POOL_KEY)] };

const NODE_POOL_KEY: &str = "kai.scheduler/node-pool";
const PREEMPTIBILITY_KEY: &str = "kai.scheduler/preemptibility";
const PREEMPTION_DELAY_KEY: &str = "kai.scheduler/preemption-delay";
const STALENESS_KEY: &str = "kai.scheduler/staleness-grace-period";
/// Describes the owner of a PodGroup. KAI's own pod grouper writes it too.
const TOP_OWNER_KEY: &str = "kai.scheduler/top-owner-metadata";

/// Why nothing is placed by topology.
const NO_TOPOLOGIES: &str =
    "the cluster has no CRD topologies.kai.scheduler that serves v1alpha1: install KAI's Topology CRD";

/// Setting of the profile: the queue of sets that name none.
const DEFAULT_QUEUE: &str = "defaultQueue";

/// The KAI backend.
#[derive(Clone, Copy, Debug, Default)]
pub struct KaiBackend;

impl SchedulerBackend for KaiBackend {
    fn name(&self) -> &'static str {
        schedulers::KAI
    }

    fn check_config(&self, config: &Value, path: &Path) -> Errors {
        const KEYS: &[Key] = &[Key::optional(DEFAULT_QUEUE, Shape::Name)];
        check_keys(config, path, KEYS)
    }

    fn topology(&self) -> Option<&dyn TopologyPart> {
        Some(&topology::Topologies)
    }

    fn resources(&self, _: &Value) -> Vec<ResourceUse> {
        let reason = "one PodGroup for each gang, which tells KAI what is placed together";
        vec![
            ResourceUse { resource: pod_groups(), uses: Uses::Writes, reason },
            ResourceUse {
                resource: topology::Topologies.resource(),
                uses: Uses::Writes,
                reason: "the levels of each ClusterTopologyBinding, as KAI wants to be told of them",
            },
        ]
    }

    fn probes(&self, _: &Value) -> Vec<Probe> {
        vec![Probe::Definition(form::DEFINITION.to_owned()), Probe::Served(topology::served())]
    }

    fn init(&self, config: &Value, cluster: &Probed) -> Result<Arc<dyn Scheduler>, String> {
        let default_queue = config.get(DEFAULT_QUEUE).and_then(Value::as_str).filter(|it| !it.is_empty());
        Ok(Arc::new(Installed {
            form: Form::of(cluster)?,
            least: form::least(cluster),
            has_topologies: cluster.serves(&topology::served()),
            default_queue: default_queue.map(str::to_owned),
        }))
    }

    fn groups(&self) -> Option<&dyn GroupReader> {
        Some(&seen::Groups)
    }

    fn examples(&self) -> Vec<Example> {
        form::examples()
    }
}

fn pod_groups() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(GROUP, VERSION, "PodGroup"), "podgroups")
}

/// KAI as this cluster has it.
#[derive(Clone, Debug)]
struct Installed {
    form: Form,
    /// The smallest number that a PodGroup may ask for.
    least: u32,
    /// Whether there are topologies for KAI to place by.
    has_topologies: bool,
    default_queue: Option<String>,
}

impl Installed {
    fn queue<'a>(&'a self, gang: &'a Gang) -> Result<Option<&'a str>, String> {
        Ok(QUEUE.of_gang(gang)?.or(self.default_queue.as_deref()))
    }
}

impl Scheduler for Installed {
    fn version(&self) -> Option<String> {
        Some(self.form.version().to_owned())
    }

    fn capabilities(&self) -> Capabilities {
        let required = if self.has_topologies { Answer::Native } else { Answer::Reject(NO_TOPOLOGIES) };
        Capabilities {
            single_group_gang: Answer::Native,
            multi_group_gang: Answer::Native,
            hierarchical_gang: Answer::Native,
            best_effort_above_minimum: Answer::Native,
            minimum_change: Answer::Native,
            required_topology_gang: required,
            required_topology_bundle: required,
            required_topology_group: required,
            nested_required_topology: required,
            preferred_topology: if self.has_topologies {
                Answer::Native
            } else {
                Answer::Pass(NO_TOPOLOGIES)
            },
            required_and_preferred_topology: required,
            priority_class: Answer::Native,
            gang_preemptor: Answer::Native,
            gang_victim: Answer::Native,
            reservation_reuse: Answer::Pass("KAI keeps no capacity for a gang that comes later"),
            scaled_after_base: Answer::Emulated(
                "pods of a scaled gang stay gated until its base gang is placed",
            ),
            queue: Answer::Native,
            group_status: Answer::Native,
        }
    }

    fn render(&self, gang: &Gang, existing: &[Value]) -> Result<Vec<Object>, RenderError> {
        if gang.leaves().is_empty() {
            return Ok(Vec::new());
        }
        if !self.has_topologies && topology::is_required(gang) {
            return Err(RenderError(NO_TOPOLOGIES.to_owned()));
        }
        let gang = if self.has_topologies { gang } else { &topology::without_preferences(gang) };
        pod_group::render(self, gang, existing).map(|it| vec![it]).map_err(RenderError)
    }

    fn prepare_pod(&self, pod: &mut Pod, gang: &Gang) -> Result<(), PrepareError> {
        pod::prepare(self, pod, gang).map_err(PrepareError)
    }

    fn pod_group_name(&self, gang: &Gang) -> Option<String> {
        Some(pod_group::name(gang, gang.objects.iter().map(String::as_str)))
    }

    fn validate_pod_clique_set(&self, set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Findings {
        validate::validate(self, set, old)
    }

    fn explain(&self, _: &Gang, objects: &[Value]) -> Option<String> {
        explain::explain(objects)
    }

    fn workloads(&self) -> Option<&dyn WorkloadGroups> {
        Some(self)
    }

    fn readable(&self, words: &str) -> String {
        explain::readable(words)
    }
}
