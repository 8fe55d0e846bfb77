//! What the gangs of a set say, what the scheduler under test is told of them, and where their pods are.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use grove_api::{
    constants::annotations,
    wire::{GangTopologyConstraint, PodGang},
};
use kube::{
    ResourceExt,
    api::{DynamicObject, ListParams},
};
use serde_json::Value;

use crate::{
    cluster::Scheduler,
    nodes::{BLOCK, RACK},
    scenario::{Context, PodState},
    scenarios::{backends::stage, operator::stage::api},
};

use super::tree::Tree;

/// The PodGangs of a set.
pub(super) async fn gangs(context: &Context, set: &str) -> Result<Vec<Tree>> {
    let all = api::<PodGang>(context).list(&ListParams::default()).await?.items;
    Ok(all.iter().filter(|it| is_of(set, &it.name_any())).map(of_gang).collect())
}

fn of_gang(gang: &PodGang) -> Tree {
    let tree = |name: &str, constraint: Option<&GangTopologyConstraint>| {
        let pack = constraint.and_then(|it| it.pack_constraint.clone()).unwrap_or_default();
        let (required, preferred) = (pack.required, pack.preferred);
        Tree { name: name.to_owned(), required, preferred, ..Tree::default() }
    };
    let spec = &gang.spec;
    let mut groups: Vec<Tree> =
        spec.pod_groups.iter().map(|it| tree(&it.name, it.topology_constraint.as_ref())).collect();
    let mut whole = tree(&gang.name_any(), spec.topology_constraint.as_ref());
    for config in &spec.topology_constraint_group_configs {
        let mut bundle = tree(&config.name, config.topology_constraint.as_ref());
        bundle.parts = groups.extract_if(.., |it| config.pod_group_names.contains(&it.name)).collect();
        whole.parts.push(bundle);
    }
    whole.parts.extend(groups);
    whole.topologies = gang.annotations().get(annotations::TOPOLOGY_NAME).cloned().into_iter().collect();
    whole
}

/// The objects that the scheduler under test has for the gangs of a set.
pub(super) async fn objects(context: &Context, set: &str) -> Result<Vec<Tree>> {
    let all = stage::groups(context).await?;
    let of_set = |it: &&DynamicObject| is_of(set, &gang_of(it));
    let of_set: Vec<&DynamicObject> = all.iter().filter(of_set).collect();
    Ok(match context.scheduler() {
        Scheduler::Kube => of_kube(&of_set, None),
        Scheduler::Kai => of_set.into_iter().map(of_kai).collect(),
        Scheduler::Volcano => of_set.into_iter().map(of_volcano).collect(),
    })
}

/// CompositePodGroups, and PodGroups in them.
fn of_kube(all: &[&DynamicObject], parent: Option<&str>) -> Vec<Tree> {
    let is_below = |it: &&&DynamicObject| it.data["spec"]["parentCompositePodGroupName"].as_str() == parent;
    let tree = |it: &&DynamicObject| {
        let name = it.name_any();
        let parts = of_kube(all, Some(&name));
        let required = text(&it.data["spec"]["schedulingConstraints"]["topology"][0]["key"]);
        Tree { name, required, parts, ..Tree::default() }
    };
    all.iter().filter(is_below).map(tree).collect()
}

/// KAI's PodGroup, and sub-groups in it.
fn of_kai(group: &DynamicObject) -> Tree {
    let spec = &group.data["spec"];
    let entries: Vec<&Value> = spec["subGroups"].as_array().into_iter().flatten().collect();
    let mut whole = kai_tree(&gang_of(group), spec, &entries);
    whole.parts = below(&entries, None);
    let constraints =
        std::iter::once(spec).chain(entries.iter().copied()).map(|it| &it["topologyConstraint"]["topology"]);
    whole.topologies = constraints.filter_map(text).collect();
    whole
}

fn below(entries: &[&Value], parent: Option<&str>) -> Vec<Tree> {
    let children = entries.iter().filter(|it| it["parent"].as_str() == parent);
    children.map(|it| kai_tree(it["name"].as_str().unwrap_or_default(), it, entries)).collect()
}

fn kai_tree(name: &str, place: &Value, entries: &[&Value]) -> Tree {
    let constraint = &place["topologyConstraint"];
    Tree {
        name: name.to_owned(),
        required: text(&constraint["requiredTopologyLevel"]),
        preferred: text(&constraint["preferredTopologyLevel"]),
        parts: below(entries, Some(name)),
        ..Tree::default()
    }
}

/// Volcano's PodGroup, and its one level of sub-groups.
fn of_volcano(group: &DynamicObject) -> Tree {
    let tree = |name: &str, place: &Value| {
        let network = &place["networkTopology"];
        // Volcano writes the number of a tier in the place of its name.
        let tier = match network["highestTierAllowed"].as_i64() {
            Some(1) => Some(RACK.to_owned()),
            Some(2) => Some(BLOCK.to_owned()),
            Some(other) => Some(format!("tier {other}")),
            None => text(&network["highestTierName"]),
        };
        let mode = network["mode"].as_str();
        let required = tier.filter(|_| mode == Some("hard"));
        let preferred = (mode == Some("soft")).then(String::new);
        Tree { name: name.to_owned(), required, preferred, ..Tree::default() }
    };
    let spec = &group.data["spec"];
    let policies = spec["subGroupPolicy"].as_array().into_iter().flatten();
    let mut whole = tree(&gang_of(group), spec);
    whole.parts = policies.map(|it| tree(it["name"].as_str().unwrap_or_default(), it)).collect();
    whole
}

/// The gang that an object is of: its owner.
fn gang_of(object: &DynamicObject) -> String {
    let owners = object.owner_references();
    owners.iter().find(|it| it.kind == "PodGang").map(|it| it.name.clone()).unwrap_or_default()
}

/// Whether a gang or a pod is of a set, by its name.
pub(super) fn is_of(set: &str, name: &str) -> bool {
    name.strip_prefix(set).is_some_and(|it| it.starts_with('-'))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}

/// Fails unless all pods whose names begin with `prefix` are in one domain of a node label.
pub(super) fn are_together(
    pods: &[PodState],
    nodes: &BTreeMap<String, BTreeMap<String, String>>,
    prefix: &str,
    key: &str,
) -> Result<()> {
    let domain = |it: &PodState| nodes.get(it.node.as_deref()?)?.get(key).cloned();
    let ours = pods.iter().filter(|it| it.name.starts_with(prefix));
    let places: Vec<(&str, Option<String>)> = ours.map(|it| (it.name.as_str(), domain(it))).collect();
    let domains: BTreeSet<&Option<String>> = places.iter().map(|it| &it.1).collect();
    let is_one = domains.len() == 1 && !domains.contains(&None);
    ensure!(is_one, "pods {prefix}* are not in one domain of {key}: {places:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn together_is_one_domain_of_a_label_that_all_nodes_have() {
        let labels = |it: &str| BTreeMap::from([("rack".to_owned(), it.to_owned())]);
        let nodes = BTreeMap::from([
            ("a".to_owned(), labels("1")),
            ("b".to_owned(), labels("1")),
            ("c".to_owned(), labels("2")),
            ("d".to_owned(), BTreeMap::new()),
        ]);
        let pod = |it: &&str| PodState {
            name: format!("x-{it}"),
            node: Some((*it).to_owned()).filter(|it| !it.is_empty()),
            ..PodState::default()
        };
        let together = |on: &[&str]| {
            let pods: Vec<PodState> = on.iter().map(pod).collect();
            are_together(&pods, &nodes, "x-", "rack").is_ok()
        };
        assert!(together(&["a", "b"]));
        assert!(!together(&["a", "c"]));
        assert!(!together(&["d"]), "a node without the label is in no domain");
        assert!(!together(&["a", ""]), "a pod without a node is in no domain");
        assert!(!together(&[]), "nothing is nowhere");
    }
}
