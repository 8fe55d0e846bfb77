//! The group of a workload that the pod grouper found: what a scheduler has to know of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The queue of workloads that name none.
pub const DEFAULT_QUEUE: &str = "default-queue";

/// Pods that are placed together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Namespace, that of its pods.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Who owns it.
    pub owner: GroupOwner,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// The queue that it is charged to; [`DEFAULT_QUEUE`] where nobody names one.
    pub queue: String,
    /// PriorityClass.
    pub priority_class: String,
    /// Whether it may be preempted; `None` where nobody says.
    pub preemptibility: Option<Preemptibility>,
    /// Pods that have to be placed together. Not used where `min_sub_groups` is there.
    pub min_members: u32,
    /// Sub-groups without a parent that have to be placed together.
    pub min_sub_groups: Option<u32>,
    /// Its parts: parents come before their children.
    pub sub_groups: Vec<SubGroup>,
    /// Where all of it goes.
    pub topology: Option<Topology>,
    /// How long it is not preempted, as a Go duration.
    pub preemption_delay: Option<String>,
    /// How long it may miss pods, as a Go duration.
    pub staleness_grace_period: Option<String>,
    /// What its user said and what has no effect, in sentences. It is no part of the object.
    pub remarks: Vec<String>,
}

/// The object that a group goes with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupOwner {
    /// API version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
}

/// A part of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubGroup {
    /// Name, unique in the group.
    pub name: String,
    /// The part that it is in.
    pub parent: Option<String>,
    /// Pods of it that have to be placed together. Not used where `min_sub_groups` is there.
    pub min_members: u32,
    /// Parts of it that have to be placed together.
    pub min_sub_groups: Option<u32>,
    /// Names of pods that are known to be in it. Mostly it is the one that was looked at, or none.
    pub pods: Vec<String>,
    /// Where it goes, inside of what it is in.
    pub topology: Option<Topology>,
}

/// Levels of a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Name of the topology.
    pub name: String,
    /// The level that has to hold.
    pub required: Option<String>,
    /// The level to try for.
    pub preferred: Option<String>,
}

/// Whether a group may be preempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemptibility {
    /// It may.
    Preemptible,
    /// It may not.
    NonPreemptible,
}

impl Preemptibility {
    /// As labels and objects say it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preemptible => "preemptible",
            Self::NonPreemptible => "non-preemptible",
        }
    }

    /// Reads it, exactly.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Preemptible, Self::NonPreemptible].into_iter().find(|it| it.as_str() == text)
    }
}

impl GroupOwner {
    /// As objects of the group refer to it. It is no controller of theirs, and nobody's deletion waits for them.
    pub fn reference(&self) -> Value {
        json!({ "apiVersion": self.api_version, "kind": self.kind, "name": self.name, "uid": self.uid })
    }
}

impl Group {
    /// The sub-group in which a pod is known to be.
    pub fn sub_group_of(&self, pod: &str) -> Option<&SubGroup> {
        self.sub_groups.iter().find(|it| it.pods.iter().any(|name| name == pod))
    }
}

#[cfg(test)]
mod tests;
