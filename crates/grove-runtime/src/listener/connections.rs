//! The open connections, and which of them goes when there are too many.
//!
//! First those of a peer that has more than its share, so that one address cannot push out the others; then the least useful
//! one. Of those that have never asked anything, first those of the peer that has most of them: a flood from many addresses must
//! leave time for the TLS handshake of an honest client. Then the oldest first. A connection whose question is being answered is
//! never closed.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What a connection is doing. The order is that in which connections are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It has never asked anything: it shakes hands, is silent, or is slow with its first headers.
    New,
    /// It has asked before and may ask again: an API server keeps such connections. Or it is slow to take its answer.
    Idle,
    /// A body is on its way.
    Receiving,
    /// A question is being answered; never given up.
    Working,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    id: u64,
    peer: IpAddr,
    state: Mutex<(Phase, Instant)>,
    /// Cancelled when the connection has to go.
    pub(super) closed: CancellationToken,
    all: Arc<Connections>,
}

/// All connections, of which there are never more than `limit`.
#[derive(Debug)]
pub(super) struct Connections {
    limit: usize,
    /// How many of them one peer may have while others want to come in.
    share: usize,
    next: AtomicU64,
    open: Mutex<BTreeMap<u64, Arc<Connection>>>,
    /// Told when a connection ends, or may be given up.
    changed: Notify,
}

/// Takes the connection off the list when its task ends, however it ends.
pub(super) struct Held(Arc<Connection>);

impl Connections {
    pub(super) fn new(limit: usize, share: usize) -> Arc<Self> {
        let (next, open, changed) = (AtomicU64::new(0), Mutex::default(), Notify::new());
        Arc::new(Self { limit, share, next, open, changed })
    }

    /// Makes room for one more of `peer`: gives up the least useful connection if need be, and waits while all are useful.
    pub(super) async fn room(self: &Arc<Self>, peer: IpAddr) -> Held {
        loop {
            // Registered before looking, so that no change is missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(held) = self.take(peer) {
                return held;
            }
            changed.await;
        }
    }

    fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Held> {
        let mut open = self.open.lock();
        if open.len() >= self.limit {
            let least_useful = self.least_useful(&open)?;
            open.remove(&least_useful)?.closed.cancel();
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection {
            id,
            peer,
            state: Mutex::new((Phase::New, Instant::now())),
            closed: CancellationToken::new(),
            all: Arc::clone(self),
        });
        open.insert(id, Arc::clone(&connection));
        Some(Held(connection))
    }

    /// Of those that may go.
    fn least_useful(&self, open: &BTreeMap<u64, Arc<Connection>>) -> Option<u64> {
        let states: Vec<(&Connection, (Phase, Instant))> =
            open.values().map(|it| (it.as_ref(), it.state())).collect();
        // All, and those that have never asked anything.
        let mut of_peer: BTreeMap<IpAddr, (usize, usize)> = BTreeMap::new();
        for (it, (phase, _)) in &states {
            let (all, new) = of_peer.entry(it.peer).or_default();
            *all += 1;
            *new += usize::from(*phase == Phase::New);
        }
        let worth = |(it, (phase, since)): (&Connection, (Phase, Instant))| {
            let (all, new) = of_peer.get(&it.peer).copied().unwrap_or_default();
            let crowd = if phase == Phase::New { new } else { 0 };
            (all <= self.share, phase, Reverse(crowd), since, it.id)
        };
        let may_go = states.into_iter().filter(|(_, (phase, _))| *phase != Phase::Working);
        may_go.map(worth).min().map(|(.., id)| id)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.open.lock().len()
    }
}

impl Connection {
    /// The address at its other end.
    pub fn peer(&self) -> IpAddr {
        self.peer
    }

    /// What it is doing, and since when.
    pub(super) fn state(&self) -> (Phase, Instant) {
        *self.state.lock()
    }

    /// Notes what it is doing from now on.
    pub fn enter(&self, phase: Phase) {
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

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn peer(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, number])
    }

    async fn with(phases: &[Phase]) -> (Arc<Connections>, Vec<Held>) {
        let all = Connections::new(phases.len(), phases.len());
        let mut held = Vec::new();
        for phase in phases {
            let connection = all.room(PEER).await;
            connection.enter(*phase);
            held.push(connection);
        }
        (all, held)
    }

    fn closed(held: &[Held]) -> Vec<usize> {
        (0..held.len()).filter(|at| held[*at].closed.is_cancelled()).collect()
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
            let _one_more = all.room(PEER).await;
            assert_eq!(closed(&held), [victim], "{phases:?}");
            assert_eq!(all.len(), phases.len());
        }
    }

    #[tokio::test]
    async fn a_peer_above_its_share_loses_its_own_connections() {
        let all = Connections::new(4, 2);
        let mut held = vec![all.room(peer(1)).await];
        for _ in 0..3 {
            let connection = all.room(peer(2)).await;
            // However useful they look.
            connection.enter(Phase::Idle);
            held.push(connection);
        }
        for _ in 0..100 {
            held.push(all.room(peer(2)).await);
            assert!(!held[0].closed.is_cancelled(), "the only connection of its peer");
        }
        assert_eq!(all.len(), 4);
    }

    /// Each address of the flood has no more than its share.
    #[tokio::test]
    async fn a_flood_from_many_addresses_leaves_an_honest_client_time_to_ask() {
        let all = Connections::new(8, 4);
        let honest = all.room(peer(1)).await;
        let mut flood = Vec::new();
        for at in 0..100 {
            flood.push(all.room(peer(2 + at % 3)).await);
            assert!(!honest.closed.is_cancelled(), "the oldest, but alone, after {at} others");
        }
        let mut kept = Vec::new();
        for _ in 0..3 {
            let connection = all.room(peer(1)).await;
            connection.enter(Phase::Idle);
            kept.push(connection);
        }
        flood.push(all.room(peer(9)).await);
        assert!(kept.iter().all(|it| !it.closed.is_cancelled()), "an API server keeps several connections");
    }

    #[tokio::test(start_paused = true)]
    async fn while_all_work_a_new_one_waits() {
        let (all, mut held) = with(&[Phase::Working, Phase::Working]).await;
        let waiting = Duration::from_secs(1);
        assert!(tokio::time::timeout(waiting, all.room(PEER)).await.is_err());
        held.remove(0);
        let third = tokio::time::timeout(waiting, all.room(PEER)).await.expect("one has ended");
        third.enter(Phase::Working);
        assert!(tokio::time::timeout(waiting, all.room(PEER)).await.is_err());
        held[0].enter(Phase::Idle);
        tokio::time::timeout(waiting, all.room(PEER)).await.expect("one has nothing to do");
        assert!(held[0].closed.is_cancelled() && !third.closed.is_cancelled());
    }

    #[tokio::test]
    async fn whatever_ends_is_off_the_list() {
        let (all, held) = with(&[Phase::Idle, Phase::New]).await;
        drop(held);
        assert_eq!(all.len(), 0);
    }
}
