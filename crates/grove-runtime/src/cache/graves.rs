//! Remembers objects that are gone, so that what arrives late cannot bring them back.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::version;

/// How many deleted objects of one kind are remembered.
///
/// What arrives late is seconds late at most; this bounds memory, not correctness of anything slower.
const CAPACITY: usize = 16_384;

/// What may bring an object back from the dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Burial {
    /// Nothing: the object with this UID was deleted for good.
    Final,
    /// A watch event newer than this version.
    ///
    /// A watch with a selector reports an object that stops matching as deleted, and it may match again later.
    At(String),
    /// Any watch event: a list did not have it, and at which version is unknown.
    Unlisted,
}

/// UIDs of deleted objects, the oldest forgotten first.
#[derive(Debug)]
pub(super) struct Graves {
    by_uid: BTreeMap<Arc<str>, (u64, Burial)>,
    order: VecDeque<(u64, Arc<str>)>,
    next: u64,
    capacity: usize,
}

impl Default for Graves {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl Graves {
    fn with_capacity(capacity: usize) -> Self {
        Self { by_uid: BTreeMap::new(), order: VecDeque::new(), next: 0, capacity }
    }

    /// Remembers `uid`. A final burial stays final.
    pub(super) fn bury(&mut self, uid: &str, how: Burial) {
        // Only half-made test objects have no UID, and they must not bury each other.
        if uid.is_empty() {
            return;
        }
        if let Some((_, burial)) = self.by_uid.get_mut(uid) {
            if *burial != Burial::Final {
                *burial = how;
            }
            return;
        }
        let uid: Arc<str> = uid.into();
        self.by_uid.insert(uid.clone(), (self.next, how));
        self.order.push_back((self.next, uid));
        self.next += 1;
        while self.order.len() > self.capacity {
            self.forget_oldest();
        }
    }

    /// Whether the answer to a write must be ignored. Only a watch knows that an object is back.
    pub(super) fn holds(&self, uid: &str) -> bool {
        self.by_uid.contains_key(uid)
    }

    /// Whether a watch event of this version must be ignored; if not, the object is alive again.
    pub(super) fn keeps_from_watch(&mut self, uid: &str, incoming: &str) -> bool {
        let keeps = match self.by_uid.get(uid) {
            None => return false,
            Some((_, Burial::Final)) => true,
            Some((_, Burial::Unlisted)) => false,
            Some((_, Burial::At(version))) => {
                matches!(version::compare(incoming, version), Some(Ordering::Less | Ordering::Equal))
            }
        };
        if !keeps {
            self.by_uid.remove(uid);
        }
        keeps
    }

    fn forget_oldest(&mut self) {
        let Some((number, uid)) = self.order.pop_front() else { return };
        // The number tells this grave from a later one of an object that came back in between.
        if self.by_uid.get(&uid).is_some_and(|(kept, _)| *kept == number) {
            self.by_uid.remove(&uid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_newer_than_the_deletion_comes_back() {
        let mut graves = Graves::default();
        graves.bury("a", Burial::At("10".into()));
        assert!(graves.keeps_from_watch("a", "9"));
        assert!(graves.keeps_from_watch("a", "10"));
        assert!(graves.holds("a"));
        assert!(!graves.keeps_from_watch("a", "11"));
        assert!(!graves.holds("a"));
    }

    #[test]
    fn a_final_burial_stays_final() {
        let mut graves = Graves::default();
        graves.bury("a", Burial::Final);
        graves.bury("a", Burial::Unlisted);
        assert!(graves.keeps_from_watch("a", "99"));
    }

    #[test]
    fn the_watch_brings_back_what_a_list_did_not_have() {
        let mut graves = Graves::default();
        graves.bury("a", Burial::Unlisted);
        assert!(graves.holds("a"));
        assert!(!graves.keeps_from_watch("a", "1"));
    }

    #[test]
    fn memory_is_bounded_and_a_second_grave_outlives_the_first() {
        let mut graves = Graves::with_capacity(3);
        graves.bury("a", Burial::Unlisted);
        assert!(!graves.keeps_from_watch("a", "1"));
        graves.bury("b", Burial::Final);
        graves.bury("a", Burial::Final);
        graves.bury("c", Burial::Final);
        assert!(graves.holds("a"), "its first grave was forgotten, not its second");
        graves.bury("d", Burial::Final);
        assert!(!graves.holds("b"));
        assert_eq!(graves.by_uid.len(), 3);
        assert_eq!(graves.order.len(), 3);
    }

    #[test]
    fn objects_without_a_uid_are_not_remembered() {
        let mut graves = Graves::default();
        graves.bury("", Burial::Final);
        assert!(!graves.holds(""));
    }
}
