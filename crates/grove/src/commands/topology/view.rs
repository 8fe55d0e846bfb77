//! What is shown: a pure function of what was read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    facts::{Facts, GangName, Kind, Level, Topology},
    natural,
    nesting::Nesting,
    seats::{seats, unseated},
    tree::{Domain, UsedNode, grow},
};
use crate::amount::Amount;

/// Domains of a level that are shown where nobody says how far to go.
const MANY: usize = 64;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub(super) resource: String,
    pub(super) topologies: Vec<Shown>,
    /// Gangs without a bound pod.
    pub(super) gangs_without_place: Vec<String>,
    /// Whether what is free, and where gangs sit, could be read.
    pub(super) pods_read: bool,
    pub(super) gangs_read: bool,
    /// Whether there may be Kueue Topologies that must not be read.
    pub(super) kueue_refused: bool,
}

/// One topology.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) levels: Vec<LevelShown>,
    /// All nodes, and the domains below.
    pub(super) tree: Domain,
    /// Levels that the tree does not go down to.
    #[serde(skip)]
    pub(super) left_out: Vec<String>,
}

/// One level, and how far its label goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LevelShown {
    pub(super) domain: String,
    pub(super) key: String,
    /// Values of the label.
    pub(super) domains: usize,
    pub(super) nodes_with_label: usize,
    pub(super) nodes_without_label: Vec<String>,
    /// Values that lie in more than one domain of the level above.
    pub(super) torn: Vec<String>,
}

/// How far the tree goes down.
#[derive(Clone, Copy, Debug)]
pub(super) enum Depth<'a> {
    /// All levels.
    All,
    /// To the narrowest level that is not too long.
    Readable,
    /// To this level, by domain or label.
    Level(&'a str),
}

impl View {
    pub(super) fn of(facts: &Facts, resource: &str, depth: Depth<'_>) -> Self {
        let mut used: Option<BTreeMap<&str, Amount>> = facts.pods.as_ref().map(|_| BTreeMap::new());
        for pod in facts.pods.iter().flatten() {
            if let Some(used) = &mut used {
                let sum = used.entry(&pod.node).or_default();
                *sum = sum.plus(pod.takes);
            }
        }
        let used_of = |name: &str| used.as_ref().map(|it| it.get(name).copied().unwrap_or_default());
        let nodes: Vec<UsedNode<'_>> =
            facts.nodes.iter().map(|node| UsedNode { node, used: used_of(&node.name) }).collect();
        let name = |it: GangName| format!("{}/{}", it.namespace, it.name);
        Self {
            resource: resource.to_owned(),
            topologies: facts.topologies.iter().map(|it| shown(facts, it, &nodes, depth)).collect(),
            gangs_without_place: unseated(facts).into_iter().map(name).collect(),
            pods_read: facts.pods.is_some(),
            gangs_read: facts.gangs.is_some(),
            kueue_refused: facts.kueue_refused,
        }
    }
}

fn shown(facts: &Facts, topology: &Topology, nodes: &[UsedNode<'_>], depth: Depth<'_>) -> Shown {
    let all = topology.levels.len();
    let tree = grow(&topology.levels, nodes, seats(facts, topology));
    let readable = || (2..=all).rev().find(|it| tree.count(*it) <= MANY).unwrap_or(1);
    let levels = match depth {
        Depth::All => all,
        Depth::Readable => readable(),
        // Another topology may have it.
        Depth::Level(name) => position(topology, name).map_or_else(readable, |it| it + 1),
    };
    let mut above = None;
    let level = |level: &Level| level_shown(facts, level, above.replace(level.key.clone()).as_deref());
    Shown {
        name: topology.name.clone(),
        kind: topology.kind,
        levels: topology.levels.iter().map(level).collect(),
        tree: tree.cut(levels),
        left_out: topology.levels.iter().skip(levels).map(|it| it.domain.clone()).collect(),
    }
}

/// Which level of a topology has this domain or label.
pub(super) fn position(topology: &Topology, name: &str) -> Option<usize> {
    topology.levels.iter().position(|it| it.domain == name || it.key == name)
}

fn level_shown(facts: &Facts, level: &Level, above: Option<&str>) -> LevelShown {
    let (with, without): (Vec<_>, Vec<_>) =
        facts.nodes.iter().partition(|it| it.labels.contains_key(&level.key));
    let values: BTreeSet<&str> =
        with.iter().filter_map(|it| it.labels.get(&level.key)).map(String::as_str).collect();
    let mut without: Vec<String> = without.into_iter().map(|it| it.name.clone()).collect();
    without.sort_by(|a, b| natural::order(a, b));
    let torn =
        above.map(|above| Nesting::of(facts.nodes.iter().map(|it| &it.labels), &level.key, above).torn);
    LevelShown {
        domain: level.domain.clone(),
        key: level.key.clone(),
        domains: values.len(),
        nodes_with_label: with.len(),
        nodes_without_label: without,
        torn: torn.unwrap_or_default().into_iter().map(|it| it.0).collect(),
    }
}

#[cfg(test)]
mod tests;
