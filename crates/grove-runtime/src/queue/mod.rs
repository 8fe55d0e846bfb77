//! Work queue: which key runs next, and when.
//!
//! A key waits at most once and never runs twice at the same time; what is added while it runs makes it run again
//! afterwards. Fresh events go before background work (start-up, resync), but for every 16th key. Within each of the two,
//! namespaces take turns, so that a tenant with thousands of keys does not delay another one; and a namespace gets all workers but
//! one, so that neither do a few keys that take long. Failures come back with growing
//! delays. The order is the decision of `state`; this module adds the clock, the waiting and the metrics.
//!
//! A closed queue keeps nothing. That is how a follower saves work and memory: its queues are closed, and when it begins to
//! lead it opens them and adds everything once, from its caches.

#[cfg(test)]
mod fairness_tests;
mod state;
#[cfg(test)]
mod tests;

use std::fmt::{self, Debug};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::jitter::spread;
use crate::metrics::{OneQueueMetrics, QueueMetrics};
use state::{Lane, State};

/// Backoff of the first retry, as in client-go.
const FIRST_RETRY: Duration = Duration::from_millis(5);

/// Backoff after many failures. client-go's 1000 s would leave an object alone for too long after an outage.
const LAST_RETRY: Duration = Duration::from_mins(1);

/// What a queue holds.
pub trait QueueKey: Ord + Clone + Debug + Send + 'static {
    /// Whose turn it takes: keys of one namespace wait behind each other, those of different ones do not. `""` is
    /// cluster scope, and one more namespace.
    fn namespace(&self) -> &str;
}

/// Names of cluster-scoped objects. They share one turn, so that the first one added is the first one served.
impl QueueKey for String {
    fn namespace(&self) -> &'static str {
        ""
    }
}

/// A queue of whatever keys that can be closed and opened.
pub trait Switch {
    /// Begins to take keys after a `close`. To be called when the workers of the time before it have ended.
    fn open(&self);

    /// Ends all waiting and forgets what waits; from now on nothing is queued or handed out. What runs goes on.
    fn close(&self);

    /// Closes the queue, and has [`work`](crate::work) drop what runs.
    fn abort(&self);
}

/// Queue of keys for a set of workers. Clones share the queue.
pub struct Queue<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    name: &'static str,
    state: Mutex<State<T>>,
    wake: Notify,
    /// Ends the runs of the time between `open` and `abort`.
    aborted: Mutex<CancellationToken>,
    metrics: OneQueueMetrics,
}

impl<T: QueueKey> Queue<T> {
    /// An empty queue. `name` is also the name of the controller it serves, in metrics and logs.
    pub fn new(name: &'static str, metrics: &QueueMetrics) -> Self {
        let metrics = metrics.of_queue(name);
        let (state, aborted) = (Mutex::new(State::default()), Mutex::default());
        Self { shared: Arc::new(Shared { name, state, wake: Notify::new(), aborted, metrics }) }
    }

    /// So many workers take keys from now on. Where there are several, no namespace gets all of them.
    pub(crate) fn set_workers(&self, workers: usize) {
        self.shared.state.lock().set_workers(workers);
        self.shared.metrics.workers(workers);
    }

    /// Queues `key` because of a fresh event.
    pub fn add(&self, key: T) {
        self.enqueue(key, Lane::Fresh);
    }

    /// Queues `key` without hurry (start-up, resync). A later [`add`](Self::add) promotes it.
    pub fn add_background(&self, key: T) {
        self.enqueue(key, Lane::Background);
    }

    /// Queues `key` after `delay`. Of several delays of one key, the one that ends first counts.
    pub fn add_after(&self, key: T, delay: Duration) {
        if delay.is_zero() {
            return self.add(key);
        }
        let earlier = self.shared.state.lock().delay(key, Instant::now() + delay);
        if earlier {
            // Every waiting worker sleeps until the first delay ends, so every one must learn the new end.
            self.shared.wake.notify_waiters();
        }
    }

    /// Queues `key` after a delay that doubles with every retry until [`forget`](Self::forget).
    pub fn retry(&self, key: T) {
        let failures = self.shared.state.lock().failed(&key);
        let delay = FIRST_RETRY.saturating_mul(2_u32.saturating_pow(failures)).min(LAST_RETRY);
        self.shared.metrics.retries.inc();
        self.add_after(key, spread(delay, 0.2));
    }

    /// Makes the next [`retry`](Self::retry) of `key` the first one again.
    pub fn forget(&self, key: &T) {
        self.shared.state.lock().forget(key);
    }

    /// Waits for the next key, which is then running until [`done`](Self::done). `None` when the queue is closed.
    pub async fn next(&self) -> Option<T> {
        loop {
            let mut woken = pin!(self.shared.wake.notified());
            // Registered before looking, so that nothing can be added unnoticed in between.
            woken.as_mut().enable();
            let until = match self.take() {
                Next::Key(key) => return Some(key),
                Next::Closed => return None,
                Next::Wait(until) => until,
            };
            match until {
                None => woken.await,
                Some(until) => {
                    // In a fixed order, so that a simulation can be repeated; either way the queue is looked at again.
                    tokio::select! {
                        biased;
                        () = woken => {}
                        () = sleep_until(until) => {}
                    }
                }
            }
        }
    }

    /// Ends the run of `key`; it is queued again if it was added meanwhile.
    pub fn done(&self, key: &T) {
        let mut state = self.shared.state.lock();
        let Some(run) = state.done(key) else { return };
        self.shared.metrics.worked.observe(run.started.elapsed().as_secs_f64());
        self.report_depth(&state);
        drop(state);
        if run.wakes {
            self.shared.wake.notify_one();
        }
    }

    /// Cancelled by the next [`abort`](Switch::abort).
    pub(crate) fn aborted(&self) -> CancellationToken {
        self.shared.aborted.lock().clone()
    }

    /// How many keys wait for a worker, without delayed and running ones.
    pub fn len(&self) -> usize {
        self.shared.state.lock().waiting()
    }

    /// Whether no key waits for a worker.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether nothing is queued, delayed (retries included) or running.
    pub fn is_idle(&self) -> bool {
        self.shared.state.lock().is_idle()
    }

    /// Name of the queue.
    pub fn name(&self) -> &'static str {
        self.shared.name
    }

    pub(crate) fn metrics(&self) -> &OneQueueMetrics {
        &self.shared.metrics
    }

    fn enqueue(&self, key: T, lane: Lane) {
        let mut state = self.shared.state.lock();
        let added = state.add(key, lane, Instant::now());
        if !added.counts {
            return;
        }
        self.shared.metrics.adds.inc();
        self.report_depth(&state);
        drop(state);
        if added.waits {
            self.shared.wake.notify_one();
        }
    }

    fn take(&self) -> Next<T> {
        let mut state = self.shared.state.lock();
        if state.is_closed() {
            return Next::Closed;
        }
        let now = Instant::now();
        let matured = state.mature(now);
        self.shared.metrics.adds.inc_by(matured);
        let taken = state.take(now);
        self.report_depth(&state);
        match taken {
            Some((key, since)) => {
                self.shared.metrics.queued.observe(now.saturating_duration_since(since).as_secs_f64());
                Next::Key(key)
            }
            None => Next::Wait(state.next_delay()),
        }
    }

    fn report_depth(&self, state: &State<T>) {
        self.shared.metrics.depth.set(i64::try_from(state.waiting()).unwrap_or(i64::MAX));
    }
}

impl<T: QueueKey> Switch for Queue<T> {
    fn open(&self) {
        *self.shared.aborted.lock() = CancellationToken::new();
        self.shared.state.lock().open();
    }

    fn close(&self) {
        let mut state = self.shared.state.lock();
        state.close();
        self.report_depth(&state);
        drop(state);
        self.shared.wake.notify_waiters();
    }

    fn abort(&self) {
        self.close();
        self.shared.aborted.lock().cancel();
    }
}

enum Next<T> {
    Key(T),
    Wait(Option<Instant>),
    Closed,
}

// Not derived: that would ask `T: Clone` for a handle.
impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("name", &self.shared.name).finish_non_exhaustive()
    }
}
