//! Whether the server's history went back, as the informers of a process tell each other.
//!
//! etcd that is restored from a backup gives out revisions a second time. An informer notices where the server shows a lower
//! revision than before. Where the server has passed that revision meanwhile, nothing shows it: the watch goes on, and what
//! was taken back in between is never heard of. Kinds that change often notice nearly always, so they tell the others.

use tokio::sync::watch;

/// The history of one API server. Clones are the same one.
#[derive(Clone, Debug)]
pub struct History {
    /// How often it went back.
    epoch: watch::Sender<u64>,
}

impl Default for History {
    fn default() -> Self {
        Self { epoch: watch::Sender::new(0) }
    }
}

impl History {
    /// How often it went back so far.
    pub(super) fn epoch(&self) -> u64 {
        *self.epoch.borrow()
    }

    /// It went back since it had gone back `known` times. Where somebody else has said so, it did not go back again.
    pub(super) fn went_back(&self, known: u64) {
        self.epoch.send_if_modified(|it| {
            let is_news = *it == known;
            *it += u64::from(is_news);
            is_news
        });
    }

    /// Waits until it has gone back more often than `known`.
    pub(super) async fn changed(&self, known: u64) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.epoch.subscribe().wait_for(|it| *it != known).await;
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
