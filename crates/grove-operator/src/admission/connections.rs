//! The open connections, and which of them goes when there are too many.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What a connection is doing. The order is that in which connections are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It has never asked anything: it shakes hands, is silent, or is slow with its first headers.
    New,
    /// It has asked before and may ask again: an API server keeps such connections.
    Idle,
    /// A body is on its way.
    Receiving,
    /// A question is being answered; never given up.
    Working,
}

/// One connection.
pub(super) struct Connection {
    id: u64,
    state: Mutex<(Phase, Instant)>,
    /// Cancelled when the connection has to go.
    pub(super) closed: CancellationToken,
    all: Arc<Connections>,
}

/// All connections, of which there are never more than `limit`.
pub(super) struct Connections {
    limit: usize,
    next: AtomicU64,
    open: Mutex<BTreeMap<u64, Arc<Connection>>>,
    /// Told when a connection ends, or may be given up.
    changed: Notify,
}

/// Takes the connection off the list when its task ends, however it ends.
pub(super) struct Held(Arc<Connection>);

impl Connections {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        let (next, open, changed) = (AtomicU64::new(0), Mutex::default(), Notify::new());
        Arc::new(Self { limit, next, open, changed })
    }

    /// Makes room for one more: gives up the least useful connection if need be, and waits while all are useful.
    pub(super) async fn room(self: &Arc<Self>) -> Held {
        loop {
            // Registered before looking, so that no change is missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(held) = self.take() {
                return held;
            }
            changed.await;
        }
    }

    fn take(self: &Arc<Self>) -> Option<Held> {
        let mut open = self.open.lock();
        if open.len() >= self.limit {
            let useless = open.values().map(|it| (*it.state.lock(), it.id)).min()?;
            let ((phase, _), id) = useless;
            if phase == Phase::Working {
                return None;
            }
            if let Some(connection) = open.remove(&id) {
                connection.closed.cancel();
            }
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection {
            id,
            state: Mutex::new((Phase::New, Instant::now())),
            closed: CancellationToken::new(),
            all: Arc::clone(self),
        });
        open.insert(id, Arc::clone(&connection));
        Some(Held(connection))
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.open.lock().len()
    }
}

impl Connection {
    /// Whether it has never asked anything.
    pub(super) fn is_new(&self) -> bool {
        self.state.lock().0 == Phase::New
    }

    pub(super) fn enter(&self, phase: Phase) {
        *self.state.lock() = (phase, Instant::now());
        if phase != Phase::Working {
            self.all.changed.notify_one();
        }
    }
}

impl std::ops::Deref for Held {
    type Target = Arc<Connection>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let all = &self.0.all;
        all.open.lock().remove(&self.0.id);
        all.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn with(phases: &[Phase]) -> (Arc<Connections>, Vec<Held>) {
        let all = Connections::new(phases.len());
        let mut held = Vec::new();
        for phase in phases {
            let connection = all.room().await;
            connection.enter(*phase);
            held.push(connection);
        }
        (all, held)
    }

    #[tokio::test]
    async fn the_least_useful_goes_first_and_the_oldest_of_them() {
        use Phase::{Idle, New, Receiving, Working};
        for (phases, victim) in [
            (&[Idle, New, New][..], 1),
            (&[Receiving, Idle, Idle], 1),
            (&[Working, Receiving, Receiving], 1),
            (&[New, Working, Idle], 0),
        ] {
            let (all, held) = with(phases).await;
            let _one_more = all.room().await;
            let closed: Vec<usize> = (0..held.len()).filter(|at| held[*at].closed.is_cancelled()).collect();
            assert_eq!(closed, [victim], "{phases:?}");
            assert_eq!(all.len(), phases.len());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn while_all_work_a_new_one_waits() {
        let (all, mut held) = with(&[Phase::Working, Phase::Working]).await;
        let waiting = Duration::from_secs(1);
        assert!(tokio::time::timeout(waiting, all.room()).await.is_err());
        held.remove(0);
        let third = tokio::time::timeout(waiting, all.room()).await.expect("one has ended");
        third.enter(Phase::Working);
        assert!(tokio::time::timeout(waiting, all.room()).await.is_err());
        held[0].enter(Phase::Idle);
        tokio::time::timeout(waiting, all.room()).await.expect("one has nothing to do");
        assert!(held[0].closed.is_cancelled() && !third.closed.is_cancelled());
    }

    #[tokio::test]
    async fn whatever_ends_is_off_the_list() {
        let (all, held) = with(&[Phase::Idle, Phase::New]).await;
        drop(held);
        assert_eq!(all.len(), 0);
    }
}
