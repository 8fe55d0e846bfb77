//! Pod affinity, for what the groups of a scheduler cannot say.

use std::collections::BTreeMap;

use grove_api::{constants::labels, names};
use k8s_openapi::{
    api::core::v1::{Pod, PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm},
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};

use crate::{
    capability::Answer,
    tree::{Content, Gang, Leaf, Node, Pack},
};

/// What a backend answers to preferred levels that are affinity.
pub(crate) const PREFERRED: Answer = Answer::Emulated("preferred pod affinity, weighted by level");
/// Likewise, beside a required level.
pub(crate) const BESIDE_REQUIRED: Answer =
    Answer::Emulated("the required level is the scheduler's own, the preferred one is pod affinity");

/// Weights of the levels of a gang, the widest first: first of all a gang is not torn apart.
const GANG: i32 = 100;
const BUNDLE: i32 = 50;
const GROUP: i32 = 25;

/// Draws a pod to the others of its group, bundle and gang, by their preferred levels.
pub(crate) fn prefer(pod: &mut Pod, gang: &Gang, leaf: &Leaf<'_>) {
    let all = around(pod, gang, leaf);
    add(pod, all);
}

/// Likewise, but not out of what the pod's own bundle or group requires: for schedulers that then break the latter.
pub(crate) fn prefer_within_required(pod: &mut Pod, gang: &Gang, leaf: &Leaf<'_>) {
    let mut all = around(pod, gang, leaf);
    let innermost = all.iter().rposition(|it| it.1.required.is_some());
    add(pod, all.split_off(innermost.unwrap_or_default()));
}

/// What a pod is part of, the widest first: weight, placement, and the pods of it.
fn around<'a>(pod: &Pod, gang: &'a Gang, leaf: &Leaf<'a>) -> Vec<(i32, &'a Pack, LabelSelector)> {
    let bundles = bundles_of(&gang.children, leaf.name).unwrap_or_default();
    std::iter::once((GANG, &gang.pack, equal([(labels::POD_GANG, gang.name.as_str())])))
        .chain(bundles.into_iter().map(|it| (BUNDLE, &it.pack, pods_of(it, pod))))
        .chain([(GROUP, leaf.pack, equal([(labels::POD_CLIQUE, leaf.name)]))])
        .collect()
}

fn add(pod: &mut Pod, all: Vec<(i32, &Pack, LabelSelector)>) {
    let wishes: Vec<_> = all
        .into_iter()
        .filter_map(|(weight, pack, of)| Some((weight, pack.preferred.as_ref()?, of)))
        .collect();
    if wishes.is_empty() {
        return;
    }
    let terms = affinity(pod).preferred_during_scheduling_ignored_during_execution.get_or_insert_default();
    for (weight, level, selector) in wishes {
        let wish = WeightedPodAffinityTerm { weight, pod_affinity_term: term(level, selector) };
        if !terms.contains(&wish) {
            terms.push(wish);
        }
    }
}

/// The levels that the pods of a group have to keep, the widest first.
pub(crate) fn required_levels<'a>(gang: &'a Gang, leaf: &Leaf<'a>) -> Vec<&'a str> {
    let bundles = bundles_of(&gang.children, leaf.name).unwrap_or_default();
    let packs = std::iter::once(&gang.pack).chain(bundles.into_iter().map(|it| &it.pack)).chain([leaf.pack]);
    packs.filter_map(|it| it.required.as_deref()).collect()
}

/// Lets a pod go only where the level's domain has a pod with these labels.
pub(crate) fn require(pod: &mut Pod, level: &str, labels: [(&str, &str); 2]) {
    let terms = affinity(pod).required_during_scheduling_ignored_during_execution.get_or_insert_default();
    let term = term(level, equal(labels));
    if !terms.contains(&term) {
        terms.push(term);
    }
}

fn affinity(pod: &mut Pod) -> &mut PodAffinity {
    let affinity = pod.spec.get_or_insert_default().affinity.get_or_insert_default();
    affinity.pod_affinity.get_or_insert_default()
}

fn term(level: &str, selector: LabelSelector) -> PodAffinityTerm {
    PodAffinityTerm {
        label_selector: Some(selector),
        topology_key: level.to_owned(),
        ..PodAffinityTerm::default()
    }
}

fn equal<const N: usize>(labels: [(&str, &str); N]) -> LabelSelector {
    let labels: BTreeMap<_, _> =
        labels.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    LabelSelector { match_labels: Some(labels), match_expressions: None }
}

/// The pods of a bundle: those of a replica of a scaling group have labels for it, others only those of their cliques.
fn pods_of(bundle: &Node, pod: &Pod) -> LabelSelector {
    let label = |key: &str| pod.metadata.labels.as_ref()?.get(key).map(String::as_str);
    let replica = label(labels::SCALING_GROUP).zip(label(labels::SCALING_GROUP_REPLICA_INDEX));
    let is_it = |group: &str, index: &str| {
        index.parse().is_ok_and(|it| names::topology_group(group, it) == bundle.name)
    };
    match replica {
        Some((group, index)) if is_it(group, index) => {
            equal([(labels::SCALING_GROUP, group), (labels::SCALING_GROUP_REPLICA_INDEX, index)])
        }
        _ => {
            let cliques = LabelSelectorRequirement {
                key: labels::POD_CLIQUE.to_owned(),
                operator: "In".to_owned(),
                values: Some(groups_of(bundle)),
            };
            LabelSelector { match_labels: None, match_expressions: Some(vec![cliques]) }
        }
    }
}

fn groups_of(node: &Node) -> Vec<String> {
    match &node.content {
        Content::Group { .. } => vec![node.name.clone()],
        Content::Bundle(children) => children.iter().flat_map(groups_of).collect(),
    }
}

/// The bundles around a group, the widest first.
fn bundles_of<'a>(nodes: &'a [Node], group: &str) -> Option<Vec<&'a Node>> {
    nodes.iter().find_map(|node| match &node.content {
        Content::Group { .. } => (node.name == group).then(Vec::new),
        Content::Bundle(children) => {
            let mut around = bundles_of(children, group)?;
            around.insert(0, node);
            Some(around)
        }
    })
}
