//! What a situation is, as `e2e/gang-situations.yaml` says it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    nodes::{BLOCK, HOST, RACK, ZONE},
    objects,
};

/// The checked-in file.
const TEXT: &str = include_str!("../../../../../e2e/gang-situations.yaml");

/// Nodes, pods and groups, and what changes then. Not what becomes of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Situation {
    pub(super) name: String,
    pub(super) about: About,
    pub(super) nodes: Vec<Nodes>,
    /// Pods that run when the others come.
    #[serde(default)]
    pub(super) running: Vec<Pods>,
    #[serde(default)]
    pub(super) groups: Vec<Group>,
    /// Pods in no group, which come after those in groups.
    #[serde(default)]
    pub(super) pods: Vec<Pods>,
    /// One after the other, each when everything has been decided.
    #[serde(default)]
    pub(super) then: Vec<Change>,
}

/// What a situation is mainly about.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub(super) enum About {
    /// How many pods of a group, and groups of a group, are needed.
    Minima,
    /// What is not whole is not placed.
    AllOrNothing,
    /// One domain of a level.
    RequiredTopology,
    /// One domain of a level, if there is room.
    PreferredTopology,
    /// Pods above the minimum.
    AboveMinimum,
    /// Node selectors and affinity, taints, cordoned nodes.
    Nodes,
    /// What a pod asks for.
    Resources,
    /// Affinity, anti-affinity, ports.
    OtherPods,
    /// Topology spread constraints.
    Spread,
    /// Several gangs want the same room.
    Order,
    /// Others make room.
    Preemption,
    /// Scheduling gates.
    Gates,
    /// Room that becomes free, pods that come later or go.
    Later,
}

/// Some nodes that are alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nodes {
    /// With a number behind it; the rack's name where none is given.
    #[serde(default)]
    name: Option<String>,
    #[serde(default = "one")]
    count: usize,
    #[serde(default)]
    pub(super) rack: Option<String>,
    #[serde(default)]
    pub(super) block: Option<String>,
    #[serde(default)]
    pub(super) zone: Option<String>,
    #[serde(default)]
    pub(super) gpus: u32,
    #[serde(default = "many")]
    pub(super) cpus: u32,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    /// `KEY:EFFECT`.
    #[serde(default)]
    pub(super) taints: Vec<String>,
    #[serde(default)]
    pub(super) cordoned: bool,
}

/// A group of pods or of groups.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) name: String,
    /// Pods or groups that are placed together; none: each for itself.
    #[serde(default)]
    pub(super) min: Option<u32>,
    /// All in one domain.
    #[serde(default)]
    pub(super) level: Option<String>,
    /// All in one domain, if there is room.
    #[serde(default)]
    pub(super) prefers: Option<String>,
    /// Whether it makes room only as a whole.
    #[serde(default)]
    pub(super) whole: bool,
    /// Priority class of a root and its pods.
    #[serde(default)]
    pub(super) priority: Option<String>,
    #[serde(default)]
    pub(super) pods: Vec<Pods>,
    #[serde(default)]
    pub(super) groups: Vec<Group>,
}

/// Some pods that are alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pods {
    /// With a number behind it; the group's where none is given.
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default = "one")]
    pub(super) count: usize,
    #[serde(default = "one_gpu")]
    pub(super) gpus: u32,
    #[serde(default)]
    pub(super) cpus: u32,
    /// The node that they are on already.
    #[serde(default)]
    pub(super) node: Option<String>,
    /// Whether somebody else holds them back.
    #[serde(default)]
    pub(super) gated: bool,
    /// Priority class, where it is not the group's.
    #[serde(default)]
    pub(super) priority: Option<String>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) selector: BTreeMap<String, String>,
    /// Keys of taints.
    #[serde(default)]
    pub(super) tolerates: Vec<String>,
    /// Affinity.
    #[serde(default)]
    pub(super) near: Vec<Other>,
    /// Anti-affinity.
    #[serde(default)]
    pub(super) apart: Vec<Other>,
    #[serde(default)]
    pub(super) spread: Vec<Spread>,
    /// What else their spec has.
    #[serde(default)]
    pub(super) spec: Value,
}

/// Pods that others want to be near to or apart from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Other {
    pub(super) level: String,
    /// The group, or the name of pods in none.
    pub(super) of: String,
}

/// A topology spread constraint.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spread {
    pub(super) level: String,
    pub(super) of: String,
    #[serde(default = "one_gpu")]
    pub(super) skew: u32,
    #[serde(default)]
    pub(super) domains: Option<u32>,
}

/// What changes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    #[serde(default)]
    pub(super) cordon: Vec<String>,
    #[serde(default)]
    pub(super) uncordon: Vec<String>,
    /// Pods that go.
    #[serde(default)]
    pub(super) delete: Vec<String>,
    /// Pods that nobody holds back any more.
    #[serde(default)]
    pub(super) ungate: Vec<String>,
    #[serde(default)]
    pub(super) groups: Vec<Group>,
    /// Pods that come into groups that are there: by the group's name.
    #[serde(default)]
    pub(super) more: BTreeMap<String, Vec<Pods>>,
    #[serde(default)]
    pub(super) pods: Vec<Pods>,
}

fn one() -> usize {
    1
}

fn one_gpu() -> u32 {
    1
}

fn many() -> u32 {
    64
}

/// The node label of a level.
pub(super) fn key(level: &str) -> &str {
    match level {
        "zone" => ZONE,
        "block" => BLOCK,
        "rack" => RACK,
        "host" => HOST,
        other => other,
    }
}

/// All of them.
pub(super) fn all() -> Result<Vec<Situation>> {
    let mut names = BTreeSet::new();
    let mut situations = Vec::new();
    for value in objects::parse(TEXT)? {
        let name = value["name"].as_str().unwrap_or_default().to_owned();
        let situation: Situation =
            serde_json::from_value(value).with_context(|| format!("e2e/gang-situations.yaml: {name}"))?;
        ensure!(names.insert(name.clone()), "e2e/gang-situations.yaml: {name} is there twice");
        situations.push(situation);
    }
    Ok(situations)
}

impl Situation {
    /// Its nodes by name: those of a rack are numbered.
    pub(super) fn nodes(&self) -> Vec<(String, &Nodes)> {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut nodes = Vec::new();
        for it in &self.nodes {
            let base = it.name.as_deref().or(it.rack.as_deref()).unwrap_or("node-");
            for _ in 0..it.count {
                let number = numbers.entry(base).or_default();
                nodes.push((format!("{base}{number}"), it));
                *number += 1;
            }
        }
        nodes
    }

    /// All groups that it ever has.
    pub(super) fn all_groups(&self) -> Vec<&Group> {
        let roots = self.groups.iter().chain(self.then.iter().flat_map(|it| &it.groups));
        roots.flat_map(Group::and_below).collect()
    }
}

impl Group {
    /// It, and the groups in it.
    pub(super) fn and_below(&self) -> Vec<&Group> {
        let below = self.groups.iter().flat_map(Group::and_below);
        std::iter::once(self).chain(below).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_of_every_kind() {
        let situations = all().unwrap();
        assert!(situations.len() >= 60, "{}", situations.len());
        let mut counts: BTreeMap<About, usize> = BTreeMap::new();
        for it in &situations {
            *counts.entry(it.about).or_default() += 1;
        }
        for about in [About::Minima, About::AllOrNothing, About::RequiredTopology] {
            assert!(counts[&about] >= 5, "{counts:?}");
        }
    }

    /// kube-scheduler tries the children of a group by the second of their creation, then by name: only where the order of names is
    /// that of the file is it the same in every run.
    #[test]
    fn children_stand_in_the_order_of_their_names() {
        for situation in all().unwrap() {
            for group in situation.all_groups() {
                let names: Vec<&str> = group.groups.iter().map(|it| it.name.as_str()).collect();
                assert!(names.is_sorted(), "{}: {names:?}", situation.name);
                assert!(group.groups.is_empty() || group.pods.is_empty(), "{}", situation.name);
            }
        }
    }

    #[test]
    fn what_is_named_is_there() {
        for situation in all().unwrap() {
            let nodes: BTreeSet<String> = situation.nodes().into_iter().map(|it| it.0).collect();
            let groups = situation.all_groups();
            let names: BTreeSet<&str> = groups.iter().map(|it| it.name.as_str()).collect();
            let more = situation.then.iter().flat_map(|it| it.more.values().flatten());
            let later = situation.then.iter().flat_map(|it| &it.pods);
            let of_groups = groups.iter().flat_map(|it| &it.pods);
            let pods =
                situation.running.iter().chain(&situation.pods).chain(more).chain(later).chain(of_groups);
            for node in pods.filter_map(|it| it.node.as_ref()) {
                assert!(nodes.contains(node), "{}: no node {node}", situation.name);
            }
            for change in &situation.then {
                for node in change.cordon.iter().chain(&change.uncordon) {
                    assert!(nodes.contains(node), "{}: no node {node}", situation.name);
                }
                for group in change.more.keys() {
                    assert!(names.contains(group.as_str()), "{}: no group {group}", situation.name);
                }
            }
            assert_eq!(names.len(), groups.len(), "{}: two groups of one name", situation.name);
        }
    }
}
