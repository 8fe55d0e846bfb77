//! How many pods there may be of a clique, and which of them have to be there.

use std::collections::BTreeSet;

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueSet, PodGang},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    facts::Tally,
    gang::is_initialized,
    layout::{self, Place, count},
};

use super::{Grove, clique::gang_place};
use crate::seen::label;

impl Grove {
    /// How many pods there may be: none before the gang, and the minimum while other cliques of the gang lack theirs.
    pub(super) fn allowed(&self, set: &PodCliqueSet, clique: &PodClique) -> u32 {
        let replicas = clique.spec.replicas.map_or(0, count);
        let minimum = clique.spec.min_available.map_or(replicas, count);
        match (self.has_gang(set, clique), replicas <= minimum || self.others_have_minimum(set, clique)) {
            (false, _) => 0,
            (true, true) => replicas,
            (true, false) => minimum,
        }
    }

    /// How many pods, by their index, the scheduler counts for the minimum of the gang; none where it counts all.
    pub(super) fn core_of(&self, set: &PodCliqueSet, clique: &PodClique) -> u32 {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        let gang = self.seen.gangs.cache.get(namespace, gang);
        let all = gang
            .zip(gang_place(set, clique))
            .is_none_or(|(gang, place)| self.places_minima_first(set, &gang, place));
        if all { 0 } else { layout::spec_minimum(&clique.spec) }
    }

    /// Whether every other clique of the gang has its minimum, or had it.
    fn others_have_minimum(&self, set: &PodCliqueSet, clique: &PodClique) -> bool {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        if self.seen.gangs.cache.get(namespace, gang).is_some_and(|it| is_initialized(&it)) {
            return true;
        }
        let Some(place) = gang_place(set, clique) else { return true };
        let Some(mut wanted) = layout::cliques_of(set, place) else { return true };
        let zero = self.scaled_to_zero(set, place);
        wanted.retain(|it| !zero.contains(&it.name));
        let pods_of = |name: &str| {
            let clique = self.seen.cliques.cache.get(namespace, name);
            clique.map(|it| self.seen.pods_of(&it)).unwrap_or_default()
        };
        let mut others_have_it = true;
        for member in &wanted {
            let pods = pods_of(&member.name);
            // A gang that was made anew does not know that it was complete once, but pods that were let go show it.
            if pods.iter().any(|it| !it.fact.terminating && !it.fact.is_gated()) {
                return true;
            }
            let live = Tally::of(pods.iter().map(|it| &it.fact), "").live;
            let is_other = Some(member.name.as_str()) != clique.metadata.name.as_deref();
            others_have_it &= !is_other || live >= layout::clique_minimum(member.template);
        }
        others_have_it
    }

    /// Whether there is a gang that pods can be made for, and the clique is in it: one that was scaled to zero is put back
    /// first, because the scheduler has no group for its pods before.
    fn has_gang(&self, set: &PodCliqueSet, clique: &PodClique) -> bool {
        let name = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        let gang = self.seen.gangs.cache.get(layout::set_namespace(set), name);
        let is_in = |gang: &PodGang| {
            gang.spec.pod_groups.iter().any(|it| Some(&it.name) == clique.metadata.name.as_ref())
        };
        gang.is_some_and(|it| is_in(&it)) && self.can_be_made(set, name)
    }

    /// Cliques of the gang at `place` that are scaled to zero.
    pub(super) fn scaled_to_zero(&self, set: &PodCliqueSet, place: Place<'_>) -> BTreeSet<String> {
        let (namespace, seen) = (layout::set_namespace(set), &self.seen);
        layout::scaled_to_zero(
            set,
            place,
            |name| seen.cliques.cache.get(namespace, name)?.spec.replicas,
            |name| Some(seen.groups.cache.get(namespace, name)?.spec.replicas),
        )
    }

    /// Whether pods of the gang of this name can be made.
    pub(super) fn can_be_made(&self, set: &PodCliqueSet, gang: &str) -> bool {
        self.seen.gangs.cache.get(layout::set_namespace(set), gang).is_some_and(|gang| {
            gang.metadata.deletion_timestamp.is_none()
                && OwnerKey::of(set).controls(&gang.metadata)
                && self.why_no_pods(set, &gang).is_none()
        })
    }
}
