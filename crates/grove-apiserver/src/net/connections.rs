//! The open connections, and which of them is closed when there are too many.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// All connections, of which there are never more than `limit`.
#[derive(Debug)]
pub(super) struct Connections {
    limit: usize,
    open: Mutex<Open>,
    /// Told when a connection ends or becomes idle.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next_id: u64,
    by_id: BTreeMap<u64, State>,
}

#[derive(Debug)]
struct State {
    in_flight: usize,
    /// Whether a request has come at all.
    is_proven: bool,
    idle_since: Instant,
    closed: CancellationToken,
}

/// One open connection; off the list when it is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    id: u64,
    all: Arc<Connections>,
    closed: CancellationToken,
}

/// A request in flight: its connection is not closed for another one.
#[derive(Debug)]
pub(super) struct InFlight(Arc<Connection>);

/// What a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    /// No request has come yet.
    New,
    /// No request is in flight, since then.
    Idle(Instant),
    /// Requests are in flight.
    Busy,
}

impl Connections {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit: limit.max(1), open: Mutex::default(), changed: Notify::new() })
    }

    /// Makes room for one more: closes the one that has been idle for longest, or waits while all are busy.
    pub(super) async fn admit(self: &Arc<Self>) -> Arc<Connection> {
        loop {
            // Registered before looking, so that no change is missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(connection) = self.try_admit() {
                return connection;
            }
            changed.await;
        }
    }

    fn try_admit(self: &Arc<Self>) -> Option<Arc<Connection>> {
        let mut open = self.open.lock();
        if open.by_id.len() >= self.limit {
            // Those that never sent a request go first: a flood of them does not close the connections of clients.
            let idle = open.by_id.iter().filter(|(_, it)| it.in_flight == 0);
            let id = idle.min_by_key(|(_, it)| (it.is_proven, it.idle_since)).map(|(id, _)| *id)?;
            open.by_id.remove(&id)?.closed.cancel();
        }
        let id = open.next_id;
        open.next_id += 1;
        let closed = CancellationToken::new();
        let state =
            State { in_flight: 0, is_proven: false, idle_since: Instant::now(), closed: closed.clone() };
        open.by_id.insert(id, state);
        Some(Arc::new(Connection { id, all: Arc::clone(self), closed }))
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.open.lock().by_id.len()
    }
}

impl Connection {
    /// Ends when the connection has to make room for another one.
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Notes that a request is in flight until the result is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> InFlight {
        if let Some(state) = self.all.open.lock().by_id.get_mut(&self.id) {
            state.in_flight += 1;
            state.is_proven = true;
        }
        InFlight(Arc::clone(self))
    }

    /// What it does now.
    pub(super) fn activity(&self) -> Activity {
        match self.all.open.lock().by_id.get(&self.id) {
            Some(state) if state.in_flight > 0 => Activity::Busy,
            Some(state) if state.is_proven => Activity::Idle(state.idle_since),
            _ => Activity::New,
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let Self(connection) = self;
        if let Some(state) = connection.all.open.lock().by_id.get_mut(&connection.id) {
            state.in_flight -= 1;
            state.idle_since = Instant::now();
        }
        connection.all.changed.notify_one();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.open.lock().by_id.remove(&self.id);
        self.all.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_connection_makes_room() {
        let all = Connections::new(3);
        let mut open = Vec::new();
        for _ in 0..3 {
            let connection = all.admit().await;
            drop(connection.begin_request());
            open.push(connection);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let busy = open[0].begin_request();
        let fourth = all.admit().await;
        let closed: Vec<bool> = open.iter().map(|it| it.closed().now_or_never().is_some()).collect();
        assert_eq!(closed, [false, true, false]);
        assert_eq!(all.len(), 3);
        // One that never asked anything goes before one that did, although it is newer.
        let _fifth = all.admit().await;
        assert!(fourth.closed().now_or_never().is_some());
        drop(busy);
    }

    #[tokio::test(start_paused = true)]
    async fn while_all_are_busy_a_new_connection_waits() {
        let all = Connections::new(2);
        let (one, two) = (all.admit().await, all.admit().await);
        let (first, _second) = (one.begin_request(), two.begin_request());
        assert_eq!(one.activity(), Activity::Busy);
        let wait = Duration::from_secs(1);
        assert!(tokio::time::timeout(wait, all.admit()).await.is_err());
        drop(first);
        assert_eq!(one.activity(), Activity::Idle(Instant::now()));
        let third = tokio::time::timeout(wait, all.admit()).await.unwrap();
        let _busy = third.begin_request();
        assert!(one.closed().now_or_never().is_some());
        assert!(tokio::time::timeout(wait, all.admit()).await.is_err());
        drop(two);
        assert!(tokio::time::timeout(wait, all.admit()).await.is_err(), "its request goes on");
    }

    #[tokio::test]
    async fn whatever_ends_is_off_the_list() {
        let all = Connections::new(2);
        let one = all.admit().await;
        assert_eq!(one.activity(), Activity::New);
        drop(one);
        assert_eq!(all.len(), 0);
    }
}
