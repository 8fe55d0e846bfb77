//! A backup that is restored: the store is as it was some changes ago, its revision too, and nothing tells those who watch.
//!
//! The revisions that were taken back are given out again, for other changes. A client that holds one of them, in an open
//! watch or in a cache, believes that it has seen what it has not.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Event, Key, Store};
use crate::object::Object;

impl Store {
    /// Takes the last `changes` back, as far as they are remembered. Says what that changed, object by object.
    ///
    /// `noticed`: open watches end, and one from a revision that is yet to come is refused as expired from now on. Otherwise
    /// they stay open and show nothing until their revision has passed.
    pub(crate) fn restore(&self, changes: u64, noticed: bool) -> Vec<Event> {
        let mut state = self.state.lock();
        let mut before: BTreeMap<Key, Option<Arc<Object>>> = BTreeMap::new();
        for _ in 0..changes {
            let Some(event) = state.ring.pop() else { break };
            before.entry(event.key.clone()).or_insert_with(|| event.new.clone());
            match &event.old {
                Some(old) => state.objects.insert(event.key.clone(), Arc::clone(old)),
                None => state.objects.remove(&event.key),
            };
            state.index.update(&event.key, event.new.as_deref(), event.old.as_deref());
            state.note_definitions(&event.key);
            state.revision -= 1;
        }
        state.refuses_future |= noticed;
        state.restores += 1;
        let revision = state.revision;
        let after = |key: &Key| state.objects.get(key).cloned();
        let jumps = before.into_iter().map(|(key, old)| {
            let new = after(&key);
            Event::new(revision, key, old, new)
        });
        let jumps: Vec<Event> = jumps.filter(|it| it.old.is_some() || it.new.is_some()).collect();
        self.signal.modify(|it| {
            it.revision = revision;
            it.cuts += u64::from(noticed);
        });
        jumps
    }
}
