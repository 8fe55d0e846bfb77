//! A set with its children as the caches have them: what recovery decides on, and what the status of the set reports on.

use std::{collections::BTreeMap, sync::Arc};

use grove_api::wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet};
use grove_ownership::OwnerKey;
use grove_plan::{
    layout::{set_name, set_namespace},
    status::{CliqueState, SetState},
    termination::is_status_outdated,
    topology::Topology,
};

use super::{Grove, set::by_name, uid};
use crate::seen::joined;

/// Children of a set, held while they are looked at.
pub(super) struct SetChildren {
    cliques: Vec<Arc<PodClique>>,
    groups: Vec<Arc<PodCliqueScalingGroup>>,
    pub(super) topology: Option<Topology>,
}

impl Grove {
    pub(super) fn children_of(&self, set: &PodCliqueSet) -> SetChildren {
        SetChildren {
            cliques: self.seen.cliques.by_set.get(&joined(set_namespace(set), set_name(set))),
            groups: self.seen.groups.of_owner(&OwnerKey::of(set)),
            topology: self.topology(set),
        }
    }

    /// What they are now.
    pub(super) fn observe<'a>(&self, set: &'a PodCliqueSet, children: &'a SetChildren) -> SetState<'a> {
        let cliques: BTreeMap<&str, CliqueState<'_>> = by_name(&children.cliques)
            .into_iter()
            .map(|(name, clique)| (name, self.state(set, clique)))
            .collect();
        let groups = by_name(&children.groups);
        let outdated = groups.iter().filter(|(_, it)| is_status_outdated(it));
        let changed = |group: &PodCliqueScalingGroup| {
            self.memory.generation_seen(uid(group), group.metadata.generation, self.now())
        };
        SetState {
            groups_changed: outdated.map(|(name, it)| (*name, changed(it))).collect(),
            set,
            cliques,
            groups,
            topology: self.topology_seen(children.topology.as_ref()),
            generation_hash: self.noted_hash(set),
            now: self.now(),
            watched_since: self.watched_since(),
        }
    }
}
