//! What changed since it was last looked at: names of objects, each once, in the order of the changes.
//!
//! Bounded by the number of objects, however fast they change.

use std::collections::{BTreeSet, VecDeque};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{group_view::GroupKey, pod_view::PodKey};

/// An object that changed, appeared or went away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Changed {
    Node(String),
    Pod(PodKey),
    Group(GroupKey),
}

/// Changes that nobody has looked at.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    waiting: Mutex<Waiting>,
    notify: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    order: VecDeque<Changed>,
    known: BTreeSet<Changed>,
}

impl Changes {
    pub(crate) fn add(&self, changed: Changed) {
        let mut waiting = self.waiting.lock();
        if waiting.known.insert(changed.clone()) {
            waiting.order.push_back(changed);
            drop(waiting);
            self.notify.notify_one();
        }
    }

    /// All changes, the first one first.
    pub(crate) fn take(&self) -> Vec<Changed> {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        waiting.order.into()
    }

    /// Waits until there is a change.
    pub(crate) async fn wait(&self) {
        while self.waiting.lock().order.is_empty() {
            self.notify.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_object_waits_once_in_order() {
        let changes = Changes::default();
        for name in ["b", "a", "b"] {
            changes.add(Changed::Node(name.to_owned()));
        }
        changes.wait().await;
        assert_eq!(changes.take(), [Changed::Node("b".to_owned()), Changed::Node("a".to_owned())]);
        assert_eq!(changes.take(), []);
        changes.add(Changed::Node("b".to_owned()));
        changes.wait().await;
        assert_eq!(changes.take().len(), 1);
    }
}
