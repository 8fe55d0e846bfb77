//! Groups as they are in a cluster, whoever made them: what a scheduler reads of them, and what it answers.

use std::{collections::BTreeMap, fmt::Debug};

use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use serde_json::Value;

use crate::words::{MAX_LINE, clean, cut};

/// How the groups of a scheduler are read. It is pure, and knows no cluster: what it reads is the same in all of them.
pub trait GroupReader: Send + Sync + Debug {
    /// The kind of the objects that groups are.
    fn resource(&self) -> ApiResource;

    /// Name of the group that a pod says it is in, if it does.
    fn group_of<'a>(&self, pod: &'a Pod) -> Option<&'a str>;

    /// Whether the scheduler places pods that are in no group.
    fn places_alone(&self) -> bool;

    /// Whether one pod with a scheduling gate holds its whole group back, also where the others are enough.
    fn waits_for_gated(&self) -> bool {
        false
    }

    /// What a group says. What cannot be read of it is left out.
    fn read(&self, object: &Value) -> SeenGroup;

    /// Name of the part of its group that a pod is in.
    fn part_of(&self, object: &Value, pod: &Pod) -> Option<String>;

    /// What the scheduler says of one pod, in its condition `PodScheduled`, made one readable sentence.
    fn readable(&self, words: &str) -> String {
        cut(&clean(words), MAX_LINE)
    }
}

/// A group as it is in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenGroup {
    /// What has to be placed together.
    pub minimum: Minimum,
    /// Its parts.
    pub parts: Vec<SeenPart>,
    /// The queue that it is charged to.
    pub queue: Option<String>,
    /// PriorityClass.
    pub priority_class: Option<String>,
    /// Whether it may be preempted, where it says so.
    pub preemptibility: Option<String>,
    /// The group that it is a part of.
    pub above: Option<String>,
    /// Why the scheduler does not place it, where it says so.
    pub refusal: Option<Refusal>,
}

/// A part of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenPart {
    /// Name.
    pub name: String,
    /// The part that it is in.
    pub parent: Option<String>,
    /// What of it has to be placed together.
    pub minimum: Minimum,
}

/// What has to be placed together: both, where both are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minimum {
    /// So many pods.
    pub pods: Option<u64>,
    /// So many of the parts that are directly in it, each with its own minimum.
    pub parts: Option<u64>,
}

/// Why a scheduler does not place a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it is about.
    pub about: About,
    /// The scheduler's words, as one readable sentence.
    pub words: String,
    /// What the queue has, where the scheduler says it.
    pub share: Option<QueueShare>,
}

/// What a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The queue is not there.
    NoQueue,
    /// The queue may not have more.
    Share,
    /// It has not been let into its queue yet.
    Queue,
    /// No nodes have room.
    Room,
}

/// What a queue may have and what it has, as the scheduler saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueShare {
    /// Name of the queue.
    pub queue: String,
    /// Which bound would be crossed.
    pub bound: Bound,
    /// By resource.
    pub resources: BTreeMap<String, ResourceShare>,
}

/// A bound of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// What all of its groups may have together.
    #[default]
    Limit,
    /// What its groups may have together that cannot be preempted.
    Quota,
}

/// Of one resource, as quantities; negative ones are without a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceShare {
    /// What the minimum of the group asks for.
    pub requested: Option<String>,
    /// What of that may not be preempted.
    pub requested_non_preemptible: Option<String>,
    /// What all groups of the queue ask for.
    pub queue_requested: Option<String>,
    /// What the queue is entitled to: its quota.
    pub deserved: Option<String>,
    /// What the queue has.
    pub allocated: Option<String>,
    /// What of that may not be preempted.
    pub allocated_non_preemptible: Option<String>,
    /// What the queue may have at most.
    pub limit: Option<String>,
}
