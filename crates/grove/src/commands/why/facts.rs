//! What a cluster says of the gangs of a set.

use std::collections::BTreeSet;

use grove_api::{
    constants::{
        conditions::{pod_gang, scheduler_backend_ready},
        gates, labels,
    },
    wire::{Condition, PodGang, SchedulerBackend},
};
use grove_placement::natural::compare;
use grove_scheduler::Registry;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::nodes::Node;
use crate::commands::preemptions::{self, Preemptions};

/// The objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) namespace: String,
    /// Name of the set.
    pub(super) set: String,
    /// All gangs of the set.
    pub(super) gangs: Vec<PodGang>,
    /// Name of the gang that was asked about; `None`: all.
    pub(super) gang: Option<String>,
    /// The scaling group that was asked about: gangs without one of its pods are left out.
    pub(super) group: Option<String>,
    /// Name of the pod that was asked about.
    pub(super) pod: Option<String>,
    /// Pods of the gangs that were asked about.
    pub(super) pods: Vec<Pod>,
    /// Who preempted gangs.
    pub(super) preemptions: Preemptions,
    /// Nodes of the cluster. `None`: they may not be read, or need not be.
    pub(super) nodes: Option<Vec<Node>>,
    /// `None`: they may not be read, or there are none in this cluster.
    pub(super) backends: Option<Vec<SchedulerBackend>>,
    /// Reads what schedulers say of pods.
    pub(super) registry: Registry,
}

impl Facts {
    /// Whether a gang was asked about.
    pub(super) fn is_asked(&self, gang: &PodGang) -> bool {
        let name = gang.name_any();
        let is_of = |it: &Pod, group: &String| {
            it.labels().get(labels::POD_GANG) == Some(&name)
                && it.labels().get(labels::SCALING_GROUP) == Some(group)
        };
        self.gang.as_ref().is_none_or(|it| *it == name)
            && self.group.as_ref().is_none_or(|group| self.pods.iter().any(|it| is_of(it, group)))
    }

    /// What the scheduler says of a pod that has no place, as one readable sentence.
    pub(super) fn said_of(&self, pod: &Pod) -> Option<String> {
        let words = refusal(pod)?;
        let scheduler = pod.spec.as_ref().and_then(|it| it.scheduler_name.as_deref()).unwrap_or_default();
        let reader = self.registry.get(scheduler).and_then(|it| it.groups());
        Some(reader.map_or_else(|| words.to_owned(), |it| it.readable(words)))
    }
}

/// A gang, and what else is known of it.
pub(super) struct Around<'a> {
    pub(super) facts: &'a Facts,
    pub(super) gang: &'a PodGang,
}

impl<'a> Around<'a> {
    pub(super) fn name(&self) -> String {
        self.gang.name_any()
    }

    /// Name of its scheduler.
    pub(super) fn scheduler(&self) -> &'a str {
        let noted = self.gang.labels().get(labels::SCHEDULER_NAME).map(String::as_str);
        let of_pod = || self.pods().find_map(|it| it.spec.as_ref()?.scheduler_name.as_deref());
        noted.or_else(of_pod).unwrap_or_default()
    }

    pub(super) fn condition(&self, type_: &str) -> Option<&'a Condition> {
        self.gang.status.as_ref()?.conditions.iter().find(|it| it.type_ == type_)
    }

    /// Its pods that count.
    pub(super) fn pods(&self) -> impl Iterator<Item = &'a Pod> + use<'a> {
        let name = self.gang.name_any();
        let is_of = move |it: &&Pod| it.labels().get(labels::POD_GANG) == Some(&name);
        self.facts.pods.iter().filter(is_of).filter(|it| it.metadata.deletion_timestamp.is_none())
    }

    /// Whether its minimum has its place.
    pub(super) fn is_placed(&self) -> bool {
        is_placed(self.gang)
    }

    /// Who preempted it.
    pub(super) fn preempted(&self) -> Option<&'a str> {
        preemptions::of_gang(&self.facts.preemptions, self.gang)
    }

    /// Whether all of its pods existed once.
    pub(super) fn is_initialized(&self) -> bool {
        self.condition(pod_gang::INITIALIZED).is_some_and(|it| it.status == "True")
    }

    /// Whether one of its pods is above the minimum of its PodClique.
    pub(super) fn is_above(&self, pod: &Pod) -> bool {
        let clique = pod.labels().get(labels::POD_CLIQUE);
        let group = self.gang.spec.pod_groups.iter().find(|it| Some(&it.name) == clique);
        let index = pod.labels().get(labels::POD_INDEX).and_then(|it| it.parse::<i32>().ok());
        group.zip(index).is_some_and(|(group, index)| index >= group.min_replicas)
    }

    /// Its pods that Grove holds back.
    pub(super) fn held(&self) -> usize {
        self.pods().filter(|it| gate(it) == Some(Gate::Ours)).count()
    }

    /// Until when what this gang has above its minimum is held back: the minima of the set's other gangs go first.
    pub(super) fn go_first(&self) -> Option<String> {
        let others = self.facts.gangs.iter().filter(|it| it.name_any() != self.name());
        let waits = |it: &&PodGang| it.metadata.deletion_timestamp.is_none() && !is_placed(it);
        let mut names: Vec<String> = others.filter(waits).map(ResourceExt::name_any).collect();
        names.sort_by(|one, other| compare(one, other));
        let first = names.first()?;
        let placed = match names.len() {
            1 => format!("gang {first} is scheduled"),
            all => format!("gang {first} and {} more are scheduled", all - 1),
        };
        Some(format!("{placed}, for five minutes at most"))
    }

    /// Node labels of the topology levels that it requires, as a whole or for a part of it.
    pub(super) fn required_levels(&self) -> BTreeSet<&'a str> {
        let spec = &self.gang.spec;
        let groups = spec.pod_groups.iter().map(|it| &it.topology_constraint);
        let configs = spec.topology_constraint_group_configs.iter().map(|it| &it.topology_constraint);
        let all = std::iter::once(&spec.topology_constraint).chain(groups).chain(configs).flatten();
        all.filter_map(|it| it.pack_constraint.as_ref()?.required.as_deref())
            .filter(|it| !it.is_empty())
            .collect()
    }

    /// The gang that goes before it.
    pub(super) fn base(&self) -> Option<&'a str> {
        self.pods().find_map(|it| it.labels().get(labels::BASE_POD_GANG)).map(String::as_str)
    }

    /// What is said of its scheduler's backend, where that cannot be used.
    pub(super) fn unready_backend(&self) -> Option<&'a Condition> {
        let backends = self.facts.backends.as_ref()?;
        let backend = backends.iter().find(|it| it.name_any() == self.scheduler())?;
        let conditions = &backend.status.as_ref()?.conditions;
        conditions.iter().find(|it| it.type_ == scheduler_backend_ready::TYPE && it.status != "True")
    }
}

pub(super) fn is_placed(gang: &PodGang) -> bool {
    let mut conditions = gang.status.iter().flat_map(|it| &it.conditions);
    conditions.any(|it| it.type_ == pod_gang::SCHEDULED && it.status == "True")
}

/// What holds a pod back: Grove's gate, or that of somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate<'a> {
    Ours,
    Foreign(&'a str),
}

pub(super) fn gate(pod: &Pod) -> Option<Gate<'_>> {
    let gates = pod.spec.as_ref()?.scheduling_gates.as_deref().unwrap_or_default();
    match gates.iter().find(|it| it.name != gates::POD_GANG_PENDING) {
        Some(other) => Some(Gate::Foreign(&other.name)),
        None => gates.first().map(|_| Gate::Ours),
    }
}

/// Node of a pod.
pub(super) fn node(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|it| !it.is_empty())
}

/// What the scheduler says of a pod that has no place, to the letter.
pub(super) fn refusal(pod: &Pod) -> Option<&str> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let refused = conditions.iter().find(|it| {
        it.type_ == "PodScheduled" && it.status == "False" && it.reason.as_deref() == Some("Unschedulable")
    })?;
    refused.message.as_deref().filter(|it| !it.is_empty())
}
