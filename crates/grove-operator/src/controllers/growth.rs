//! Minima first: which gangs of a set wait for a place, and which could grow and wait for those.

use std::collections::BTreeMap;

use grove_api::{
    constants::{conditions::pod_gang, labels},
    wire::{PodCliqueSet, PodGang},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    gang::{self, Growth, Seen as GangSeen, Waiting, may_follow, may_grow},
    layout::Place,
};

use super::{Grove, uid};
use crate::{
    key::Key,
    seen::{joined, label},
};

impl Grove {
    /// Notes whether a gang has its place, and decides which of its pods wait for other gangs of the set.
    pub(super) fn growth(&self, seen: &GangSeen<'_>) -> Growth {
        let (set, gang) = (uid(seen.context.set), Key::of(seen.gang));
        let is_placed = gang::is_scheduled(seen);
        let is_base = matches!(seen.place, Place::Base { .. });
        let minima_first = || self.places_minima_first(seen.context.set, seen.gang, seen.place);
        if is_placed {
            self.wake_held(&gang, set, false);
        } else {
            let own = self.base_of(&gang).filter(|_| !seen.may_go);
            let held = if is_base || !seen.may_go || minima_first() {
                None
            } else {
                self.follows(seen.context.set, &gang)
            };
            self.memory.lines.waits(set, &gang.name, is_base, own.as_deref().or(held.as_deref()));
            if held.is_some() {
                return Growth::AllHeld;
            }
        }
        // Nearly always there is nothing to hold back.
        if !gang::is_growing(seen) || minima_first() {
            return Growth::Free;
        }
        if !is_placed {
            return Growth::AfterMinimum;
        }
        // Noted first: whoever finds a place from now on wakes it.
        self.memory.lines.holds_back(set, &gang.name);
        match may_grow(&gang.name, &self.line(seen.context.set)) {
            Ok(()) => Growth::AfterMinimum,
            Err(rest) => {
                self.queues.gangs.add_after(gang, rest);
                Growth::Held
            }
        }
    }

    /// The base gang of another replica that a scaled gang waits for: it would take the room of one that the scheduler
    /// happens to try a moment later.
    fn follows(&self, set: &PodCliqueSet, gang: &Key) -> Option<String> {
        self.memory.lines.holds_back(uid(set), &gang.name);
        let line = self.line(set);
        let (base, rest) = may_follow(&line).err()?;
        self.queues.gangs.add_after(gang.clone(), rest);
        Some(base.to_owned())
    }

    /// Why a gang that could go is held back, in words.
    pub(super) fn after_others(&self, seen: &GangSeen<'_>) -> Option<(&'static str, String)> {
        let name = seen.gang.metadata.name.as_deref().unwrap_or_default();
        let first = self.memory.lines.comes_after(uid(seen.context.set), name).filter(|_| seen.may_go)?;
        Some((pod_gang::WAITING_FOR_OTHERS, format!("waiting for base gang {first} to be scheduled")))
    }

    /// Wakes those that waited for a gang, which has its place now or is gone.
    pub(crate) fn wake_held(&self, gang: &Key, set: &str, is_gone: bool) {
        for held in self.memory.lines.has_place(set, &gang.name, is_gone) {
            self.queues.gangs.add(Key::new(gang.namespace.clone(), held));
        }
    }

    /// The gangs of a set that wait for a place. Those that nobody has looked at since the operator started say so
    /// themselves.
    fn line(&self, set: &PodCliqueSet) -> BTreeMap<String, Waiting> {
        let (mut waiting, placed) = self.memory.lines.line(uid(set));
        let gangs = self.seen.gangs.of_owner(&OwnerKey::of(set));
        // Nobody waits for a gang that is gone, also where a look at it that was under way then noted it once more.
        waiting.retain(|name, _| gangs.iter().any(|it| it.metadata.name.as_ref() == Some(name)));
        for gang in gangs {
            let name = gang.metadata.name.as_deref().unwrap_or_default();
            if !waiting.contains_key(name) && !placed.contains(name) && says_that_it_waits(&gang) {
                let created = gang.metadata.creation_timestamp.as_ref().map_or(self.now(), |it| it.0);
                let for_ = self.now().duration_since(created).try_into().unwrap_or_default();
                let is_base = self.base_of(&Key::of(gang.as_ref())).is_none();
                waiting.insert(name.to_owned(), Waiting { for_, after: None, is_base });
            }
        }
        waiting
    }

    fn base_of(&self, gang: &Key) -> Option<String> {
        let cliques = self.seen.cliques_by_gang.get(&joined(&gang.namespace, &gang.name));
        cliques.iter().find_map(|it| label(&it.metadata, labels::BASE_POD_GANG)).map(str::to_owned)
    }
}

fn says_that_it_waits(gang: &PodGang) -> bool {
    let conditions = gang.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
    gang.metadata.deletion_timestamp.is_none()
        && !conditions.iter().any(|it| it.type_ == pod_gang::SCHEDULED && it.status == "True")
}
