//! A gang whose set names a topology that does not exist, or no longer: its binding was deleted.
//!
//! What is required has to hold. A gang that has its constraints keeps them, and its scheduler goes by them; one that has
//! none yet stays gated until the topology is there. Where nothing is required, pods are placed without the topology.

use grove_api::{
    constants::annotations,
    wire::{PodGang, PodGroup},
};

use super::{Seen, name};
use crate::topology::{is_required, requires, topology_name};

/// Whether the pods of a gang stay gated: a level is required of them, and which node label that is nobody knows.
pub fn is_held(seen: &Seen<'_>) -> bool {
    seen.topology_missing
        && !has_required(seen.gang)
        // What runs already was placed without, by whoever managed it then: it is not left to bleed out.
        && !has_pods_let_go(seen)
        && requires(seen.context.set, seen.place)
}

/// Why the pods of a gang stay gated, in words.
pub fn why_held(seen: &Seen<'_>) -> Option<String> {
    let name = topology_name(seen.context.set).filter(|_| is_held(seen))?;
    Some(format!(
        "pods stay gated: a level of topology {name:?} is required, and there is no ClusterTopologyBinding and no Topology of \
         Kueue of this name; create it"
    ))
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
