//! A semaphore whose permits go to one key after the other, so that a client that asks for thousands does not keep others
//! waiting.

use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::round_robin::RoundRobin;

/// Permits that peers take turns for. Within a peer it is first come, first served.
///
/// A peer that begins to wait gets a permit after at most one of every other peer that waits.
pub struct FairSemaphore {
    state: Mutex<State>,
    /// Notified when somebody begins to wait.
    queued: Notify,
}

#[derive(Default)]
struct State {
    free: usize,
    waiting: RoundRobin<oneshot::Sender<Permit>>,
    last_number: u64,
}

/// Goes back to its semaphore when it is dropped.
pub struct Permit(Option<Arc<FairSemaphore>>);

impl FairSemaphore {
    /// With so many permits.
    pub fn new(permits: usize) -> Arc<Self> {
        let state = Mutex::new(State { free: permits, ..State::default() });
        Arc::new(Self { state, queued: Notify::new() })
    }

    /// Waits for a permit. Who stops waiting has no place in the queue any more.
    pub async fn acquire(self: &Arc<Self>, peer: IpAddr) -> Permit {
        let (number, granted) = {
            let mut state = self.state.lock();
            if state.free > 0 {
                state.free -= 1;
                return Permit(Some(Arc::clone(self)));
            }
            state.last_number += 1;
            let (grant, granted) = oneshot::channel();
            let number = state.last_number;
            state.waiting.push(&peer.to_string(), number, grant);
            (number, granted)
        };
        self.queued.notify_waiters();
        let waiting = Waiting { semaphore: self, number };
        let permit = granted.await;
        drop(waiting);
        // The sender is dropped by the one who waits, and by nobody else.
        permit.unwrap_or(Permit(None))
    }

    fn has_waiters(&self) -> bool {
        !self.state.lock().waiting.is_empty()
    }

    fn release(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.state.lock();
                let Some(next) = state.waiting.pop() else {
                    state.free += 1;
                    return;
                };
                next
            };
            match next.send(Permit(Some(Arc::clone(self)))) {
                Ok(()) => return,
                // Nobody waits for it any longer. It must not come back here by being dropped.
                Err(mut permit) => permit.0 = None,
            }
        }
    }
}

impl Permit {
    /// Resolves when somebody waits for a permit.
    pub async fn until_wanted(&self) {
        let Some(semaphore) = &self.0 else { return };
        loop {
            // Registered before looking, so that nobody is missed.
            let mut queued = std::pin::pin!(semaphore.queued.notified());
            queued.as_mut().enable();
            if semaphore.has_waiters() {
                return;
            }
            queued.await;
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(semaphore) = self.0.take() {
            semaphore.release();
        }
    }
}

/// Takes itself off the queue, however the waiting ends.
struct Waiting<'a> {
    semaphore: &'a FairSemaphore,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.semaphore.state.lock().waiting.remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;
    use tokio::time::timeout;

    use super::*;

    fn peer(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, number])
    }

    #[tokio::test]
    async fn a_peer_with_a_thousand_requests_delays_another_by_one() {
        let semaphore = FairSemaphore::new(1);
        let first = semaphore.acquire(peer(1)).await;
        let mut busy: Vec<_> = (0..1_000).map(|_| Box::pin(semaphore.acquire(peer(1)))).collect();
        for it in &mut busy {
            assert!(it.now_or_never().is_none());
        }
        let mut honest = Box::pin(semaphore.acquire(peer(2)));
        assert!((&mut honest).now_or_never().is_none());
        drop(first);
        let second = (&mut busy[0]).now_or_never().expect("first come, first served");
        assert!((&mut honest).now_or_never().is_none(), "there is one permit");
        drop(second);
        assert!(honest.now_or_never().is_some());
    }

    #[tokio::test]
    async fn who_stops_waiting_loses_no_permit() {
        let semaphore = FairSemaphore::new(1);
        let held = semaphore.acquire(peer(1)).await;
        let mut gone = Box::pin(semaphore.acquire(peer(1)));
        let mut granted = Box::pin(semaphore.acquire(peer(2)));
        assert!((&mut gone).now_or_never().is_none() && (&mut granted).now_or_never().is_none());
        drop(gone);
        assert_eq!(semaphore.state.lock().waiting.len(), 1, "who is gone takes no memory");
        drop(held);
        // The permit was given, and is on its way to somebody who does not look.
        drop(granted);
        assert!(semaphore.acquire(peer(3)).now_or_never().is_some());
        assert_eq!(semaphore.state.lock().free, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_permit_until_wanted_when_somebody_waits() {
        let semaphore = FairSemaphore::new(1);
        let held = semaphore.acquire(peer(1)).await;
        let soon = Duration::from_secs(1);
        assert!(timeout(soon, held.until_wanted()).await.is_err());
        let mut waiting = Box::pin(semaphore.acquire(peer(2)));
        let (wanted, other) = tokio::join!(timeout(soon, held.until_wanted()), timeout(soon, &mut waiting));
        assert!(wanted.is_ok() && other.is_err());
        drop(waiting);
        assert!(timeout(soon, held.until_wanted()).await.is_err(), "nobody waits any longer");
    }
}
