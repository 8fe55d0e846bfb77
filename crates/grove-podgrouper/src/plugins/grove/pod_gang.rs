//! Parts of a PodGang: its groups of pods, and the groups of those groups that share a place.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::topology;
use crate::{
    fields::{list, map, required_text},
    group::SubGroup,
    integers::required,
    plugin::Refused,
    sub_groups::{self, checked_name, leaf, parent},
};

const GROUPS: &str = "spec.podgroups";
const CONFIGS: &str = "spec.topologyConstraintGroupConfigs";

/// Parents first, then leaves, both in the order of the PodGang.
pub(super) fn parts(gang: &Value, topology: &str) -> Result<Vec<SubGroup>, Refused> {
    let groups = list(&gang["spec"]["podgroups"], format_args!("{GROUPS}"))?;
    let configs = list(&gang["spec"]["topologyConstraintGroupConfigs"], format_args!("{CONFIGS}"))?;
    sub_groups::within(groups.len().saturating_add(configs.len()), format_args!("{GROUPS} and {CONFIGS}"))?;
    let (parents, parent_of) = parents(configs, topology)?;
    let namespace = gang["metadata"]["namespace"].as_str().unwrap_or_default();
    let mut leaves = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let leaf = pod_group(index, group, namespace, topology)?;
        leaves.push(SubGroup { parent: parent_of.get(leaf.name.as_str()).cloned(), ..leaf });
    }
    // A parent without parts would count as a leaf, and no pod would ever be in it.
    let with_parts: BTreeSet<&String> = leaves.iter().filter_map(|it| it.parent.as_ref()).collect();
    let mut all: Vec<SubGroup> = parents.into_iter().filter(|it| with_parts.contains(&it.name)).collect();
    all.extend(leaves);
    sub_groups::checked(all, format_args!("{GROUPS}[].name and {CONFIGS}[].name"))
}

/// The groups of groups, and for the name of a group the one that it is in. Who lists it last has it.
fn parents<'a>(
    configs: &'a [Value],
    topology: &str,
) -> Result<(Vec<SubGroup>, BTreeMap<&'a str, String>), Refused> {
    let mut parents = Vec::new();
    let mut parent_of = BTreeMap::new();
    for (index, config) in configs.iter().enumerate() {
        let field = format!("{CONFIGS}[{index}]");
        map(config, format_args!("{field}"))?;
        let name = required_text(&config["name"], format_args!("{field}.name"))?;
        let members = list(&config["podGroupNames"], format_args!("{field}.podGroupNames"))?;
        if members.is_empty() {
            continue;
        }
        checked_name(name, format_args!("{field}.name"))?;
        for (at, member) in members.iter().enumerate() {
            let member = required_text(member, format_args!("{field}.podGroupNames[{at}]"))?;
            parent_of.insert(member, name.to_owned());
        }
        // All that are listed, even one that is not there yet: the others wait for it.
        let count = u32::try_from(members.len()).unwrap_or(u32::MAX);
        let constraint = topology::constraint(config, topology, format_args!("{field}"))?;
        parents.push(SubGroup { topology: constraint, ..parent(name, count) });
    }
    Ok((parents, parent_of))
}

/// A group of pods, with the pods that it lists.
fn pod_group(index: usize, group: &Value, namespace: &str, topology: &str) -> Result<SubGroup, Refused> {
    let field = format!("{GROUPS}[{index}]");
    map(group, format_args!("{field}"))?;
    let name = required_text(&group["name"], format_args!("{field}.name"))?;
    checked_name(name, format_args!("{field}.name"))?;
    let minimum = required(&group["minReplicas"], format_args!("{field}.minReplicas"), 1)?;
    if group["podReferences"].is_null() {
        return Err(Refused(format!(
            "{field}.podReferences is missing: list the pods there, or nothing as long as there are none"
        )));
    }
    let references = list(&group["podReferences"], format_args!("{field}.podReferences"))?;
    let mut pods = Vec::new();
    for (at, reference) in references.iter().enumerate() {
        let field = format!("{field}.podReferences[{at}]");
        map(reference, format_args!("{field}"))?;
        let of = required_text(&reference["namespace"], format_args!("{field}.namespace"))?;
        let pod = required_text(&reference["name"], format_args!("{field}.name"))?;
        // Else whoever writes PodGangs in one namespace would decide over pods of another.
        if of != namespace {
            return Err(Refused(format!(
                "{field}.namespace is {of:?}, but the PodGang is in {namespace:?}: list pods of its own \
                 namespace only"
            )));
        }
        pods.push(pod.to_owned());
    }
    let constraint = topology::constraint(group, topology, format_args!("{field}"))?;
    Ok(SubGroup { pods, topology: constraint, ..leaf(name, minimum) })
}
