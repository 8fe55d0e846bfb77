//! Workloads that others make: pods that exist already when they are grouped.
//!
//! The pod grouper finds out which pods belong together ([`Group`]); a backend that can place them says so with
//! [`Scheduler::workloads`](crate::backend::Scheduler::workloads), and is asked through [`WorkloadGroups`]: for the object
//! that its scheduler reads, and for what a pod carries to be found in it. Groups that are there already, whoever made
//! them, are read by a [`GroupReader`] ([`SchedulerBackend::groups`](crate::backend::SchedulerBackend::groups)). All of it
//! is pure.

#[cfg(test)]
pub(crate) mod fixture;
mod group;
pub(crate) mod metadata;
pub(crate) mod parts;
mod seen;

use std::{collections::BTreeMap, fmt::Debug};

use kube::core::ApiResource;
use serde_json::Value;

use crate::backend::RenderError;

pub use group::{DEFAULT_QUEUE, Group, GroupOwner, Preemptibility, SubGroup, Topology};
pub use seen::{About, Bound, GroupReader, Minimum, QueueShare, Refusal, ResourceShare, SeenGroup, SeenPart};

/// Label of pods and namespaces that want groups of a scheduler which does not make them for all its pods.
pub const ENABLE_LABEL: &str = "grove.io/pod-grouper";
/// Its value. With any other a pod stands aside though its namespace wants groups.
pub const ENABLED: &str = "enabled";

/// How a scheduler is told of groups whose pods exist already.
pub trait WorkloadGroups: Send + Sync + Debug {
    /// The kind of the objects that groups become.
    fn resource(&self) -> ApiResource;

    /// Name of the object that the pod needs: that of the group, unless a scheduler's pods say for good which one it is.
    fn object_name<'a>(&self, group: &'a Group, _pod: &'a Value) -> &'a str {
        &group.name
    }

    /// What becomes of a group: `pod` is one of its members, the one that is being looked at, and `existing` the object
    /// of [that name](Self::object_name), if there is one. What belongs to others after its creation is taken from there.
    ///
    /// The error is told to the user as it is.
    fn render(&self, group: &Group, pod: &Value, existing: Option<&Value>) -> Result<Told, RenderError>;

    /// Whether an object without parts may be one of an older pod grouper, whose way with a workload is kept. Where groups
    /// with parts look so too, or no older one was ever there, it may not.
    fn knows_older_groups(&self) -> bool {
        false
    }

    /// What [`render`](Self::render) may put on pods. The pod grouper puts nothing else there, and the admission policy of its
    /// account allows nothing else.
    fn pod_marks(&self) -> PodMarks;

    /// Name of the object that a pod says it is in, if it does.
    fn group_of<'a>(&self, pod: &'a Value) -> Option<&'a str>;
}

/// Keys of labels and annotations that pods carry for their group's sake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodMarks {
    /// Labels.
    pub labels: &'static [&'static str],
    /// Annotations.
    pub annotations: &'static [&'static str],
}

impl PodMarks {
    /// A key that a pod would get and that is not among these.
    pub fn undeclared<'a>(&self, grouped: &'a Grouped) -> Option<&'a str> {
        let labels = grouped.labels.keys().find(|it| !self.labels.contains(&it.as_str()));
        let annotations = || grouped.annotations.keys().find(|it| !self.annotations.contains(&it.as_str()));
        labels.or_else(annotations).map(String::as_str)
    }
}

/// What a backend makes of a group and one of its pods.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The object, and what the pod carries.
    Grouped(Box<Grouped>),
    /// Somebody else placed the pod in a group for good: it is left alone.
    LeftAlone,
}

/// A group as its scheduler reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grouped {
    /// The whole object: API version, kind, metadata with namespace and owner, spec. Labels and annotations of an
    /// existing object that are not in it stay; its spec and owners are replaced.
    pub object: Value,
    /// Labels of the pod; `None` for one that it must not have.
    pub labels: BTreeMap<String, Option<String>>,
    /// Likewise, annotations.
    pub annotations: BTreeMap<String, Option<String>>,
    /// What the workload asks for and the scheduler cannot be told, in sentences.
    pub remarks: Vec<String>,
    /// Likewise, what concerns this pod alone.
    pub pod_remarks: Vec<String>,
}
