//! What happened last, as far back as the ring reaches.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::Key;
use crate::object::Object;
use crate::watch::line;

/// One change of one object.
#[derive(Debug)]
pub struct Event {
    /// The revision that the change made.
    pub revision: u64,
    /// The object's key.
    pub key: Key,
    /// The object before; none if it is new.
    pub old: Option<Arc<Object>>,
    /// The object after; none if it is gone.
    pub new: Option<Arc<Object>>,
    /// The object as it left: as it was before, with the revision of the change. Made when somebody asks.
    gone: OnceLock<Arc<Object>>,
    /// The line of a watch that selects the object before and after.
    line: OnceLock<Bytes>,
}

/// A revision is older than the ring reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too old resource version: {wanted} ({oldest})")]
pub struct Expired {
    /// The revision that was asked for.
    pub wanted: u64,
    /// The oldest revision that could have been asked for.
    pub oldest: u64,
}

impl Event {
    pub(super) fn new(revision: u64, key: Key, old: Option<Arc<Object>>, new: Option<Arc<Object>>) -> Self {
        Self { revision, key, old, new, gone: OnceLock::new(), line: OnceLock::new() }
    }

    /// What a watch is told that selected `old` before and selects `new` after.
    pub(crate) fn change<'a>(
        &'a self,
        old: Option<&'a Arc<Object>>,
        new: Option<&'a Arc<Object>>,
    ) -> Option<(&'static str, &'a Arc<Object>)> {
        match (old, new) {
            (None, None) => None,
            (None, Some(new)) => Some(("ADDED", new)),
            (Some(_), Some(new)) => Some(("MODIFIED", new)),
            (Some(old), None) => Some(("DELETED", self.gone.get_or_init(|| left(old, self.revision)))),
        }
    }

    /// The line of a watch that selects whatever there is; serialised once for all such watches.
    pub(crate) fn line(&self) -> Bytes {
        let make = || {
            let change = self.change(self.old.as_ref(), self.new.as_ref());
            change.map(|(kind, object)| line(kind, &object.json())).unwrap_or_default()
        };
        self.line.get_or_init(make).clone()
    }
}

/// As the real server does it: content as it was, revision as it is.
fn left(old: &Object, revision: u64) -> Arc<Object> {
    let mut value = old.value().clone();
    crate::metadata::set(&mut value, "resourceVersion", Some(revision.to_string().into()));
    Arc::new(Object::new(value))
}

#[derive(Debug)]
pub(crate) struct Ring {
    capacity: usize,
    /// The oldest revision that a watch may start from: the one before the oldest event.
    floor: u64,
    events: VecDeque<Arc<Event>>,
}

impl Ring {
    pub(super) fn new(capacity: usize, floor: u64) -> Self {
        Self { capacity, floor, events: VecDeque::new() }
    }

    /// Adds the event of the next revision.
    pub(super) fn push(&mut self, event: Event) {
        self.events.push_back(Arc::new(event));
        while self.events.len() > self.capacity {
            if let Some(oldest) = self.events.pop_front() {
                self.floor = oldest.revision;
            }
        }
    }

    pub(super) fn compact(&mut self, revision: u64) {
        self.events.clear();
        self.floor = revision;
    }

    /// Takes the last event back.
    pub(super) fn pop(&mut self) -> Option<Arc<Event>> {
        self.events.pop_back()
    }

    /// The events after a revision. Revisions have no gaps, so the first one is found by counting.
    pub(crate) fn since(
        &self,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &Arc<Event>>, Expired> {
        let Some(skip) = revision.checked_sub(self.floor) else {
            return Err(Expired { wanted: revision, oldest: self.floor });
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(self.events.len());
        Ok(self.events.range(skip..))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(revision: u64) -> Event {
        let object = Object::new(json!({"metadata": {"resourceVersion": revision.to_string()}}));
        Event::new(revision, Key::new("things", "", "a"), None, Some(Arc::new(object)))
    }

    fn revisions(ring: &Ring, since: u64) -> Option<Vec<u64>> {
        ring.since(since).ok().map(|events| events.map(|it| it.revision).collect())
    }

    #[test]
    fn reaches_back_as_far_as_it_has_room() {
        let mut ring = Ring::new(3, 1);
        assert_eq!(revisions(&ring, 1), Some(vec![]));
        assert_eq!(revisions(&ring, 0), None);
        (2..=6).for_each(|it| ring.push(event(it)));
        assert_eq!(revisions(&ring, 2), None);
        assert_eq!(revisions(&ring, 3), Some(vec![4, 5, 6]));
        assert_eq!(revisions(&ring, 5), Some(vec![6]));
        assert_eq!(revisions(&ring, 99), Some(vec![]));
        ring.compact(6);
        assert_eq!(revisions(&ring, 5), None);
        assert_eq!(revisions(&ring, 6), Some(vec![]));
    }

    #[test]
    fn the_last_event_has_the_old_content_and_the_new_revision() {
        let old =
            Arc::new(Object::new(json!({"metadata": {"name": "a", "resourceVersion": "3"}, "data": 1})));
        let event = Event::new(7, Key::new("things", "", "a"), Some(old), None);
        let expected = "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"},\"data\":1}}\n";
        assert_eq!(event.line(), expected);
    }
}
