//! What the gangs of a set are called.
//!
//! A gang that Grove creates has a name that follows from its place ([`layout`](crate::layout)). Upstream Grove names gangs by the
//! time of their creation from v0.1.0-alpha.12 on (`inf-0-1758000000000000000`), and pods cannot move to another gang without being
//! written. So a gang that exists keeps its name: which gang is at a place is decided by the PodCliques that it lists, and no name is
//! read back.

use std::{collections::BTreeMap, fmt};

use grove_api::{
    constants::labels,
    wire::{PodCliqueSet, PodGang},
};

use crate::{
    facts::label,
    layout::{self, Clique, Gang, Place},
    objects::Context,
};

/// Knows which gangs exist under other names than ours.
pub trait GangNames: fmt::Debug + Sync {
    /// The name of the gang of `set` that has these PodCliques, where it is not `ours`.
    fn other_name(&self, set: &PodCliqueSet, ours: &str, cliques: &dyn Fn() -> Vec<String>)
    -> Option<String>;
}

/// Every gang is called as we call it.
#[derive(Clone, Copy, Debug, Default)]
pub struct OurNames;

impl GangNames for OurNames {
    fn other_name(&self, _: &PodCliqueSet, _: &str, _: &dyn Fn() -> Vec<String>) -> Option<String> {
        None
    }
}

impl Context<'_> {
    /// The gang at `place`; `None` where the template has no such place.
    pub fn gang_at(self, place: Place<'_>) -> Option<Gang> {
        let ours = layout::gang_at(self.set, place)?;
        Some(self.named(ours, place))
    }

    /// The name of the base gang of a set replica.
    pub fn base_gang(self, replica: u32) -> String {
        let place = Place::Base { replica };
        self.name(grove_api::names::base_gang(layout::set_name(self.set), replica), place)
    }

    /// The gang of a PodClique.
    pub fn gang_of(self, clique: &Clique<'_>) -> Gang {
        self.named(clique.gang.clone(), clique.place())
    }

    fn named(self, ours: Gang, place: Place<'_>) -> Gang {
        let (Place::Base { replica } | Place::Scaled { replica, .. }) = place;
        Gang { base: ours.base.map(|_| self.base_gang(replica)), name: self.name(ours.name, place) }
    }

    fn name(self, ours: String, place: Place<'_>) -> String {
        let set = self.set;
        let cliques = || {
            let cliques = layout::cliques_of(set, place).unwrap_or_default();
            cliques.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        self.gang_names.other_name(set, &ours, &cliques).unwrap_or(ours)
    }
}

/// Whether a gang says in a label what it is in its set: those of upstream Grove from v0.1.0-alpha.12 on do, and those that we
/// create in place of one of them. Only such a gang may have another name than ours.
pub fn has_role(gang: &PodGang) -> bool {
    label(gang.metadata.labels.as_ref(), labels::POD_GANG_ROLE).is_some()
}

/// Says it, on a gang that is created under another name than ours because its pods carry that name.
pub fn note_role(gang: &mut PodGang, place: Place<'_>) {
    let (role, replica) = match place {
        Place::Base { replica } => (labels::ROLE_ANCHOR, replica),
        Place::Scaled { replica, .. } => (labels::ROLE_TAIL, replica),
    };
    let labels: &mut BTreeMap<String, String> = gang.metadata.labels.get_or_insert_default();
    labels.insert(labels::POD_GANG_ROLE.to_owned(), role.to_owned());
    labels.insert(labels::SET_REPLICA_INDEX.to_owned(), replica.to_string());
}

/// Of gangs at one place, the name of the one that was created first. Upstream's newer updates may have several: those of later
/// epochs are added to, and the first one is what others depend on.
pub fn first_name<'a>(gangs: impl IntoIterator<Item = &'a PodGang>) -> Option<String> {
    // A decimal number without leading zeros: the longer one is larger.
    let epoch = |gang: &PodGang| {
        let epoch = label(gang.metadata.labels.as_ref(), labels::EPOCH).unwrap_or_default();
        (epoch.len(), epoch.to_owned(), gang.metadata.name.clone())
    };
    gangs.into_iter().min_by_key(|it| epoch(it))?.metadata.name.clone()
}

#[cfg(test)]
mod tests;
