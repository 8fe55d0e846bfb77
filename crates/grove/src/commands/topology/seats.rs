//! The nodes that each gang is on.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use serde::Serialize;

use super::{
    facts::{Facts, GangName, Node, Topology},
    natural,
};
use crate::amount::Amount;

/// A gang that has pods on nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Seat {
    pub(super) namespace: String,
    pub(super) name: String,
    /// Pods that have a node.
    pub(super) pods: usize,
    /// What they take of the resource.
    pub(super) takes: Amount,
    /// Their nodes.
    #[serde(rename = "nodes")]
    pub(super) on: BTreeSet<String>,
    /// Level that the whole gang has to be in one domain of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) required: Option<Required>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Required {
    pub(super) level: String,
    /// Whether it is.
    pub(super) holds: bool,
}

impl Seat {
    pub(super) fn order(&self, other: &Self) -> Ordering {
        natural::order(&self.namespace, &other.namespace)
            .then_with(|| natural::order(&self.name, &other.name))
    }
}

/// The gangs that have pods on nodes that there are, sorted.
pub(super) fn seats(facts: &Facts, topology: &Topology) -> Vec<Seat> {
    let nodes: BTreeMap<&str, &Node> = facts.nodes.iter().map(|it| (it.name.as_str(), it)).collect();
    let mut seats: BTreeMap<&GangName, Seat> = BTreeMap::new();
    for pod in facts.pods.iter().flatten() {
        let Some(gang) = pod.gang.as_ref().filter(|_| nodes.contains_key(pod.node.as_str())) else {
            continue;
        };
        let seat = seats.entry(gang).or_insert_with(|| Seat {
            namespace: gang.namespace.clone(),
            name: gang.name.clone(),
            ..Seat::default()
        });
        seat.pods += 1;
        seat.takes = seat.takes.plus(pod.takes);
        seat.on.insert(pod.node.clone());
    }
    for gang in facts.gangs.iter().flatten() {
        let level = topology.levels.iter().find(|it| Some(&it.key) == gang.required.as_ref());
        let (Some(level), Some(seat)) = (level, seats.get_mut(&gang.name)) else { continue };
        let values: BTreeSet<Option<&String>> = seat
            .on
            .iter()
            .filter_map(|it| nodes.get(it.as_str()))
            .map(|it| it.labels.get(&level.key))
            .collect();
        let holds = values.len() == 1 && !values.contains(&None);
        seat.required = Some(Required { level: level.domain.clone(), holds });
    }
    let mut seats: Vec<Seat> = seats.into_values().collect();
    seats.sort_by(Seat::order);
    seats
}

/// Gangs without a pod on any node, sorted.
pub(super) fn unseated(facts: &Facts) -> Vec<GangName> {
    // Without the pods nobody knows.
    let Some(pods) = &facts.pods else { return Vec::new() };
    let seated: BTreeSet<&GangName> = pods.iter().filter_map(|it| it.gang.as_ref()).collect();
    let gangs = facts.gangs.iter().flatten().map(|it| &it.name).filter(|it| !seated.contains(it));
    let mut gangs: Vec<GangName> = gangs.cloned().collect();
    gangs.sort_by(|a, b| {
        natural::order(&a.namespace, &b.namespace).then_with(|| natural::order(&a.name, &b.name))
    });
    gangs
}
