//! The interface of a scheduler backend.
//!
//! A [`SchedulerBackend`] is what is known without a cluster: its names, its settings, the API it uses. When the
//! framework has answered its probes, [`init`](SchedulerBackend::init) makes a [`Scheduler`] of it: the scheduler as
//! this cluster has it. Both are pure; the framework reads, writes, retries and reports.

use std::{fmt::Debug, sync::Arc};

use grove_api::{
    config::{CheckConfig, KnownBackend},
    constants::{gates, labels},
    field::{Errors, Path, Warning},
    wire::PodCliqueSet,
};
use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use serde_json::Value;

use crate::{
    capability::Capabilities,
    probe::{Probe, Probed},
    topology::{TopologyPart, TopologyTree},
    tree::Gang,
    words::{MAX_LINE, clean, cut},
    workload::{GroupReader, WorkloadGroups},
};

/// Version of this interface, by semantic versioning: within a major version no method is removed or changes its
/// meaning, and a new one has a default.
pub const BACKEND_API_VERSION: &str = "1.3.0";

/// A scheduler backend, before it is known what the cluster has.
pub trait SchedulerBackend: Send + Sync + Debug {
    /// What pods carry as `schedulerName`.
    fn name(&self) -> &'static str;

    /// Other names that the operator's configuration accepts for it.
    fn synonyms(&self) -> &'static [&'static str] {
        &[]
    }

    /// Checks the `config` object of its profile; the path is that of the object. An absent one is given as `{}`.
    fn check_config(&self, config: &Value, path: &Path) -> Errors;

    /// Whether it is active even if no profile configures it.
    fn is_always_active(&self) -> bool {
        false
    }

    /// Whether the scheduler has topology objects of its own, so that a ClusterTopologyBinding may bind one.
    fn is_topology_aware(&self) -> bool {
        self.topology().is_some() || self.topology_tree().is_some()
    }

    /// These objects, where one object lists all levels.
    fn topology(&self) -> Option<&dyn TopologyPart> {
        None
    }

    /// These objects, where there is one for each domain. A backend has one or the other.
    fn topology_tree(&self) -> Option<&dyn TopologyTree> {
        None
    }

    /// The API resources that it reads and writes: rights and watches follow from it, and nothing else is ever written.
    fn resources(&self, config: &Value) -> Vec<ResourceUse>;

    /// What it wants to know of the cluster.
    fn probes(&self, config: &Value) -> Vec<Probe>;

    /// The scheduler as this cluster has it; an error says in a sentence what is missing, and is retried.
    fn init(&self, config: &Value, cluster: &Probed) -> Result<Arc<dyn Scheduler>, String>;

    /// Clusters on which its answers differ, for the tables of what it can do.
    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }

    /// How its groups are read, for whoever explains why pods wait. `None` where it has no groups of its own.
    fn groups(&self) -> Option<&dyn GroupReader> {
        None
    }

    /// As the configuration needs to know it.
    fn known(&self) -> KnownNames {
        KnownNames {
            name: self.name(),
            synonyms: self.synonyms(),
            always_active: self.is_always_active(),
            topology_aware: self.is_topology_aware(),
        }
    }
}

/// A cluster as its backend would find it.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// What tells it from others, in a few words.
    pub title: &'static str,
    /// What would be found out there.
    pub cluster: Probed,
}

/// What the operator's configuration knows of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownNames {
    name: &'static str,
    synonyms: &'static [&'static str],
    always_active: bool,
    topology_aware: bool,
}

impl KnownNames {
    /// With the check of its settings.
    pub fn with_check(self, check_config: CheckConfig<'_>) -> KnownBackend<'_> {
        let Self { name, synonyms, always_active, topology_aware } = self;
        KnownBackend { name, synonyms, check_config, always_active, topology_aware }
    }
}

/// What a backend does with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// It is read and watched.
    Reads,
    /// Objects of it are made for gangs, watched, and deleted with them.
    Writes,
}

/// A resource that a backend uses.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceUse {
    /// The resource.
    pub resource: ApiResource,
    /// What is done with it.
    pub uses: Uses,
    /// Why, for whoever reads the rights.
    pub reason: &'static str,
}

/// A scheduler as this cluster has it.
pub trait Scheduler: Send + Sync + Debug {
    /// Version of the scheduler or of its API, where it can be known.
    fn version(&self) -> Option<String> {
        None
    }

    /// What it does about each feature.
    fn capabilities(&self) -> Capabilities;

    /// Why the scheduler has no use for its [`topology_tree`](SchedulerBackend::topology_tree) in this cluster.
    fn lacks_tree(&self) -> Option<&'static str> {
        None
    }

    /// How new gangs are made, where a scheduler has more than one way to do it. The framework notes it on the PodGang
    /// ([`FORM_ANNOTATION`](crate::tree::FORM_ANNOTATION)) when that is created and hands it back as [`Gang::form`]:
    /// what a pod was created with stays, so that a gang keeps its form when the cluster learns a better one.
    fn form(&self) -> &'static str {
        ""
    }

    /// The objects that make the scheduler place the gang. `existing` are those that the gang has now; fields that
    /// the scheduler owns at run time belong into [`Object::once`].
    fn render(&self, gang: &Gang, existing: &[Value]) -> Result<Vec<Object>, RenderError>;

    /// Whether the scheduler itself sees to it that pods above a group's minimum do not take a place that another group
    /// needs for its own. Where it does not, such pods stay gated until the minima of their set are placed, and
    /// [`prepare_pod`](Self::prepare_pod) must leave them out of groups that wait for every member.
    fn places_minima_first(&self, _gang: &Gang) -> bool {
        true
    }

    /// What has to be deleted by hand when the gang is deleted. What was rendered goes by itself.
    fn on_pod_gang_delete(&self, _gang: &Gang) -> Vec<Object> {
        Vec::new()
    }

    /// Prepares a pod of the gang before it is created. The framework has set `schedulerName` already, and refuses a
    /// change of names, owners, Grove's labels or Grove's gate.
    fn prepare_pod(&self, pod: &mut Pod, gang: &Gang) -> Result<(), PrepareError>;

    /// What pods of the gang have to carry in the annotation
    /// [`pod-group-name`](grove_api::constants::annotations::POD_GROUP_NAME), where that is how the scheduler finds the group of a
    /// pod. A recreated PodGang may have a group of another name: the annotation of existing pods is updated.
    fn pod_group_name(&self, _gang: &Gang) -> Option<String> {
        None
    }

    /// Rules that only this scheduler has; `old` is there in an update. What its capabilities say is checked by the
    /// framework.
    fn validate_pod_clique_set(&self, _set: &PodCliqueSet, _old: Option<&PodCliqueSet>) -> Findings {
        Findings::default()
    }

    /// Why the gang is not placed, in the scheduler's own words, made one readable sentence; `objects` are those that
    /// were rendered for it, as they are now.
    fn explain(&self, _gang: &Gang, _objects: &[Value]) -> Option<String> {
        None
    }

    /// How the scheduler is told of workloads that others made, for the pod grouper. `None` where it cannot be.
    fn workloads(&self) -> Option<&dyn WorkloadGroups> {
        None
    }

    /// What the scheduler says of one pod, in its condition `PodScheduled`, made one readable sentence: one line, cut
    /// after 400 characters, without the full stop at the end.
    fn readable(&self, words: &str) -> String {
        cut(&clean(words), MAX_LINE)
    }
}

/// What a backend says of a set.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The set is refused.
    pub errors: Errors,
    /// The user is told.
    pub warnings: Vec<Warning>,
}

/// An object that a scheduler needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its kind.
    pub resource: ApiResource,
    /// The whole object; namespace and owner are added by the framework.
    pub value: Value,
    /// JSON pointers of fields that are given when it is created, and belong to others afterwards.
    pub once: Vec<String>,
    /// JSON pointers of fields that cannot be changed: where one differs, the object is made anew.
    pub immutable: Vec<String>,
}

/// Why a gang cannot be rendered. It is told to the user and tried again when the gang changes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RenderError(pub String);

/// Why a pod cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PrepareError(pub String);

/// Lets a scheduler prepare a pod, and holds it to its contract.
pub fn prepare(scheduler: &dyn Scheduler, pod: &mut Pod, gang: &Gang) -> Result<(), PrepareError> {
    let before = Identity::of(pod);
    scheduler.prepare_pod(pod, gang)?;
    match before.differs_from(&Identity::of(pod)) {
        None => Ok(()),
        Some(what) => Err(PrepareError(format!("the scheduler backend changed the pod's {what}"))),
    }
}

/// What of a pod is Grove's.
#[derive(PartialEq)]
struct Identity {
    name: [Option<String>; 5],
    owners: Value,
    labels: Vec<(String, String)>,
    gated: bool,
}

impl Identity {
    fn of(pod: &Pod) -> Self {
        let (metadata, spec) = (&pod.metadata, pod.spec.as_ref());
        let is_ours = |key: &str| key.starts_with("grove.io/") || OURS.contains(&key);
        let labels = metadata.labels.iter().flatten().filter(|(key, _)| is_ours(key));
        let gates = spec.and_then(|it| it.scheduling_gates.as_ref());
        Self {
            name: [
                metadata.name.clone(),
                metadata.generate_name.clone(),
                metadata.namespace.clone(),
                spec.and_then(|it| it.hostname.clone()),
                spec.and_then(|it| it.subdomain.clone()),
            ],
            owners: serde_json::to_value(&metadata.owner_references).unwrap_or_default(),
            labels: labels.map(|(key, value)| (key.clone(), value.clone())).collect(),
            gated: gates.into_iter().flatten().any(|it| it.name == gates::POD_GANG_PENDING),
        }
    }

    fn differs_from(&self, after: &Self) -> Option<&'static str> {
        [
            (self.name != after.name, "name or host name"),
            (self.owners != after.owners, "owners"),
            (self.labels != after.labels, "Grove labels"),
            (self.gated != after.gated, "Grove gate"),
        ]
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
    }
}

/// Labels outside of our domain that are ours.
const OURS: [&str; 4] = [labels::MANAGED_BY, labels::PART_OF, labels::NAME, labels::COMPONENT];
