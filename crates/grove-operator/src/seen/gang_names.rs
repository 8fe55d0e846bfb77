//! What gangs are called that exist already: those of upstream Grove have names that do not follow from their place.

use std::fmt;

use grove_api::{
    constants::labels,
    wire::{PodCliqueSet, PodGang},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    gang_names::{GangNames, first_name, has_role, is_anchor},
    layout::{self, Place, set_name, set_namespace},
};

use super::{Seen, joined, label};

/// Under which replica of its set a base gang is found that may have another name than ours.
pub(super) fn replica_of_named(gang: &PodGang) -> Vec<String> {
    let of = |set, replica| replica_key(gang.metadata.namespace.as_deref().unwrap_or_default(), set, replica);
    let key = |key| label(&gang.metadata, key);
    let found = key(labels::PART_OF).zip(key(labels::SET_REPLICA_INDEX)).filter(|_| is_anchor(gang));
    found.map(|(set, replica)| of(set, replica)).into_iter().collect()
}

/// Under which PodCliques a scaled gang is found that may have another name than ours.
pub(super) fn cliques_of_named(gang: &PodGang) -> Vec<String> {
    let namespace = gang.metadata.namespace.as_deref().unwrap_or_default();
    let listed = gang.spec.pod_groups.iter().filter(|_| has_role(gang) && !is_anchor(gang));
    listed.map(|it| joined(namespace, &it.name)).collect()
}

fn replica_key(namespace: &str, set: &str, replica: impl fmt::Display) -> String {
    format!("{namespace}/{set}/{replica}")
}

impl Seen {
    /// The name of the gang at `place` that has a role: its labels say of which replica it is the base gang, or it lists what is there.
    fn named(&self, set: &PodCliqueSet, place: Place<'_>) -> Option<String> {
        let (namespace, owner) = (set_namespace(set), OwnerKey::of(set));
        let all = match place {
            Place::Base { replica } => self.named_bases.get(&replica_key(namespace, set_name(set), replica)),
            Place::Scaled { .. } => {
                let cliques = one_of_each_template(set, place);
                cliques.iter().flat_map(|it| self.named_scaled.get(&joined(namespace, it))).collect()
            }
        };
        first_name(all.iter().map(AsRef::as_ref).filter(|it| owner.controls(&it.metadata)))
    }

    /// The name of a gang that was deleted while it had pods. They carry its name, and its PodCliques do: only both together say
    /// what it was called, because anybody who may write one of them may put any name there.
    fn lost_name(&self, set: &PodCliqueSet, place: Place<'_>, ours: &str) -> Option<String> {
        let namespace = set_namespace(set);
        if self.pods_by_set.count(&joined(namespace, set_name(set))) == 0 {
            return None;
        }
        one_of_each_template(set, place).iter().find_map(|name| {
            let clique = self.cliques.cache.get(namespace, name)?;
            let gang = label(&clique.metadata, labels::POD_GANG).filter(|it| *it != ours)?;
            let is_lost = self.gangs.cache.get(namespace, gang).is_none()
                && self.set_of(&clique.metadata).is_some_and(|it| it.metadata.uid == set.metadata.uid)
                && self.pods_of(&clique).iter().any(|it| it.fact.is_live() && it.fact.gang == gang);
            is_lost.then(|| gang.to_owned())
        })
    }
}

/// PodCliques of the gang at `place`, one of each template: a base gang may have thousands, and this is asked for each of them.
fn one_of_each_template(set: &PodCliqueSet, place: Place<'_>) -> Vec<String> {
    let name = |it: layout::Clique<'_>| it.name;
    match place {
        Place::Base { replica } => {
            let groups = set.spec.template.scaling_groups.iter();
            let first = groups.flat_map(|it| layout::members(set, replica, it, 0));
            layout::standalone(set, replica).chain(first).map(name).collect()
        }
        Place::Scaled { .. } => {
            layout::cliques_of(set, place).unwrap_or_default().into_iter().map(name).collect()
        }
    }
}

impl GangNames for Seen {
    fn other_name(&self, set: &PodCliqueSet, place: Place<'_>, ours: &str) -> Option<String> {
        if let Some(name) = self.named(set, place) {
            return Some(name);
        }
        if self.gangs.cache.get(set_namespace(set), ours).is_some() {
            return None;
        }
        self.lost_name(set, place, ours)
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen").finish_non_exhaustive()
    }
}
