//! A gang whose set names a topology that does not exist, or no longer (its binding was deleted), or that lacks a level that is
//! required.
//!
//! What is required has to hold. A gang that has its constraints keeps them, and its scheduler goes by them; one that has
//! none yet stays gated until the level is there. Where nothing is required, pods are placed without the topology.

use grove_api::{
    constants::{annotations, conditions::pod_gang as reasons},
    wire::{GangTopologyConstraint, PodGang, PodGroup},
};

use super::{Seen, name};
use crate::{
    objects,
    topology::{every_level, is_required, missing_required_levels, topology_name},
};

/// Whether the pods of a gang stay gated: a level is required of them, and which node label that is nobody knows.
pub fn is_held(seen: &Seen<'_>) -> bool {
    seen.topology_missing
        && lacks_required(seen)
        // What runs already was placed without, by whoever managed it then: it is not left to bleed out.
        && !has_pods_let_go(seen)
}

/// Why the pods of a gang stay gated: a reason, and words.
pub fn why_held(seen: &Seen<'_>) -> Option<(&'static str, String)> {
    let set = seen.context.set;
    let name = topology_name(set).filter(|_| is_held(seen))?;
    let Some(topology) = seen.topology else {
        let words = format!(
            "pods stay gated: a level of topology {name:?} is required, and there is no ClusterTopologyBinding and no Topology \
             of Kueue of this name; create it"
        );
        return Some((reasons::TOPOLOGY_NOT_FOUND, words));
    };
    let missing: Vec<String> = missing_required_levels(set, seen.place, topology).into_iter().collect();
    let words = format!(
        "pods stay gated: topology {name:?} has no level {}, which is required; add it",
        missing.join(", ")
    );
    Some((reasons::TOPOLOGY_LEVELS_UNAVAILABLE, words))
}

/// Whether a level is required of the gang, or of a part of it, and it is not told so.
fn lacks_required(seen: &Seen<'_>) -> bool {
    let every_level = every_level(seen.context.set);
    let references = |clique: &str| seen.cliques.contains_key(clique).then(Vec::new);
    let wanted = objects::gang(seen.context, seen.place, Some(&every_level), references);
    let Some(wanted) = wanted.map(|it| it.spec) else { return false };
    let has = &seen.gang.spec;
    let lacks = |wanted: Option<&GangTopologyConstraint>, has: Option<&GangTopologyConstraint>| {
        is_required(wanted) && !is_required(has)
    };
    let of_bundle = |name: &str| has.topology_constraint_group_configs.iter().find(|it| it.name == name);
    let of_group = |name: &str| has.pod_groups.iter().find(|it| it.name == name);
    lacks(wanted.topology_constraint.as_ref(), has.topology_constraint.as_ref())
        || wanted.topology_constraint_group_configs.iter().any(|it| {
            let before = of_bundle(&it.name).and_then(|it| it.topology_constraint.as_ref());
            lacks(it.topology_constraint.as_ref(), before)
        })
        || wanted.pod_groups.iter().any(|it| {
            let before = of_group(&it.name).and_then(|it| it.topology_constraint.as_ref());
            lacks(it.topology_constraint.as_ref(), before)
        })
}

/// Gives `wanted` the placement that the gang has, where that would be lost.
pub(super) fn keep_placement(seen: &Seen<'_>, wanted: &mut PodGang) {
    if !seen.topology_missing || !has_required(seen.gang) {
        return;
    }
    let (from, to) = (&seen.gang.spec, &mut wanted.spec);
    to.topology_constraint.clone_from(&from.topology_constraint);
    to.topology_constraint_group_configs.clone_from(&from.topology_constraint_group_configs);
    for group in &mut to.pod_groups {
        let before = from.pod_groups.iter().find(|it| it.name == group.name);
        group.topology_constraint = before.and_then(|it| it.topology_constraint.clone());
    }
    let named = seen.gang.metadata.annotations.as_ref().and_then(|it| it.get(annotations::TOPOLOGY_NAME));
    if let Some(named) = named {
        let notes = wanted.metadata.annotations.get_or_insert_default();
        notes.insert(annotations::TOPOLOGY_NAME.to_owned(), named.clone());
    }
}

fn has_required(gang: &PodGang) -> bool {
    let spec = &gang.spec;
    let of_group = |it: &PodGroup| is_required(it.topology_constraint.as_ref());
    is_required(spec.topology_constraint.as_ref())
        || spec
            .topology_constraint_group_configs
            .iter()
            .any(|it| is_required(it.topology_constraint.as_ref()))
        || spec.pod_groups.iter().any(of_group)
}

fn has_pods_let_go(seen: &Seen<'_>) -> bool {
    let pods = seen.cliques.values().flat_map(|it| it.members(name(seen)));
    pods.into_iter().any(|it| !it.is_gated())
}

#[cfg(test)]
mod tests;
