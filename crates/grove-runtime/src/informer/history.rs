//! Whether the server's history went back, as the informers of a process tell each other.
//!
//! etcd that is restored from a backup gives out revisions a second time. An informer notices where the server shows a lower
//! revision than before. Where the server has passed that revision meanwhile, nothing shows it: the watch goes on, and what
//! was taken back in between is never heard of. Kinds that change often notice nearly always, so they tell the others.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;

/// The history of one API server. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct History {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// How often it went back.
    epoch: AtomicU64,
    /// Wakes in the order in which they waited, so that a simulation can be repeated; `watch` does not.
    went_back: Notify,
}

impl History {
    /// How often it went back so far.
    pub(super) fn epoch(&self) -> u64 {
        self.shared.epoch.load(Ordering::Acquire)
    }

    /// It went back since it had gone back `known` times. Where somebody else has said so, it did not go back again.
    pub(super) fn went_back(&self, known: u64) {
        let next = known.saturating_add(1);
        if self.shared.epoch.compare_exchange(known, next, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.shared.went_back.notify_waiters();
        }
    }

    /// Waits until it has gone back more often than `known`.
    pub(super) async fn changed(&self, known: u64) {
        // Registered before looking, so that no change is missed.
        let mut went_back = pin!(self.shared.went_back.notified());
        went_back.as_mut().enable();
        if self.epoch() == known {
            went_back.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_who_notice_the_same_rewind_are_one_rewind() {
        let history = History::default();
        let other = history.clone();
        history.went_back(0);
        other.went_back(0);
        other.changed(0).await;
        assert_eq!(other.epoch(), 1);
        other.went_back(1);
        assert_eq!(history.epoch(), 2);
    }
}
