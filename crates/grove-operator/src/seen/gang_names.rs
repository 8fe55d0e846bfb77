//! What gangs are called that exist already: those of upstream Grove have names that do not follow from their place.

use std::fmt;

use grove_api::{
    constants::labels,
    wire::{PodCliqueSet, PodGang},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    gang_names::{GangNames, first_name, has_role},
    layout::{set_name, set_namespace},
};

use super::{Seen, joined, label};

/// The PodCliques that a gang lists, if it may have another name than ours; nearly always there is no such gang.
pub(super) fn listed_by_named(gang: &PodGang) -> Vec<String> {
    let namespace = gang.metadata.namespace.as_deref().unwrap_or_default();
    let listed = gang.spec.pod_groups.iter().filter(|_| has_role(gang));
    listed.map(|it| joined(namespace, &it.name)).collect()
}

impl Seen {
    /// The name of a gang that was deleted while it had pods. They carry its name, and its PodCliques do: only both together say
    /// what it was called, because anybody who may write one of them may put any name there.
    fn lost_name(&self, set: &PodCliqueSet, ours: &str, cliques: &[String]) -> Option<String> {
        let namespace = set_namespace(set);
        cliques.iter().find_map(|name| {
            let clique = self.cliques.cache.get(namespace, name)?;
            let gang = label(&clique.metadata, labels::POD_GANG).filter(|it| *it != ours)?;
            let is_lost = self.gangs.cache.get(namespace, gang).is_none()
                && self.set_of(&clique.metadata).is_some_and(|it| it.metadata.uid == set.metadata.uid)
                && self.pods_of(&clique).iter().any(|it| it.fact.is_live() && it.fact.gang == gang);
            is_lost.then(|| gang.to_owned())
        })
    }
}

impl GangNames for Seen {
    fn other_name(
        &self,
        set: &PodCliqueSet,
        ours: &str,
        cliques: &dyn Fn() -> Vec<String>,
    ) -> Option<String> {
        let (namespace, owner) = (set_namespace(set), OwnerKey::of(set));
        if self.named_gangs_by_set.count(&joined(namespace, set_name(set))) > 0 {
            let listing = cliques();
            let all = listing.iter().flat_map(|it| self.named_gangs_by_clique.get(&joined(namespace, it)));
            let all: Vec<_> = all.filter(|it| owner.controls(&it.metadata)).collect();
            if let Some(name) = first_name(all.iter().map(AsRef::as_ref)) {
                return Some(name);
            }
        }
        if self.gangs.cache.get(namespace, ours).is_some() {
            return None;
        }
        self.lost_name(set, ours, &cliques())
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen").finish_non_exhaustive()
    }
}
