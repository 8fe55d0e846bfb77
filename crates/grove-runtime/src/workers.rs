//! Workers: run a handler for each key of a queue and decide what its result means.
//!
//! Nothing a handler does may end a worker: errors, panics and missed deadlines come back with a growing delay.

use std::fmt::{Debug, Display};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tracing::{Instrument as _, debug, error, info_span, warn};

use crate::queue::{Queue, QueueKey};

/// What a handler that succeeded wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing, until something changes.
    Done,
    /// To run again soon, with a delay that grows as long as it asks for this.
    Again,
    /// To run again after this time.
    After(Duration),
}

/// An error of a handler.
pub trait Failure: Display + Send {
    /// Short stable word for logs and metrics.
    fn reason(&self) -> &'static str;

    /// Whether this happens in normal operation (a conflict, an object already gone), so that nobody need look.
    fn is_expected(&self) -> bool {
        false
    }
}

/// Runs `handler` for the keys of `queue`, `workers` at a time, until the queue is closed and all runs have ended. Where the
/// queue is aborted, runs under way are dropped.
///
/// A run that takes longer than `deadline` is dropped and retried.
pub async fn work<T, F, Fut, E>(queue: Queue<T>, workers: usize, deadline: Duration, handler: F)
where
    T: QueueKey,
    F: Fn(T) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Outcome, E>> + Send + 'static,
    E: Failure,
{
    queue.set_workers(workers.max(1));
    let handler = Arc::new(handler);
    let mut running = JoinSet::new();
    for _ in 0..workers.max(1) {
        let (queue, handler, aborted) = (queue.clone(), handler.clone(), queue.aborted());
        running.spawn(async move {
            while let Some(key) = queue.next().await {
                let _active = queue.metrics().begin();
                let started = Instant::now();
                let running = run(queue.name(), &*handler, key.clone(), deadline);
                let Some(end) = aborted.run_until_cancelled(running).await else {
                    queue.done(&key);
                    return;
                };
                queue.metrics().times.observe(started.elapsed().as_secs_f64());
                settle(&queue, &key, end);
                queue.done(&key);
            }
        });
    }
    while running.join_next().await.is_some() {}
}

/// How a run ended.
enum End<E> {
    Returned(Result<Outcome, E>),
    Panicked(String),
    Late(Duration),
}

async fn run<T, F, Fut, E>(controller: &str, handler: &F, key: T, deadline: Duration) -> End<E>
where
    T: Debug,
    F: Fn(T) -> Fut,
    Fut: Future<Output = Result<Outcome, E>>,
{
    let span = info_span!("reconcile", controller, object = ?key);
    // The call is inside, because a handler may panic before its first await, too. What a panic leaves behind is
    // dropped with the future; what is shared outlives it behind locks that do not poison.
    let guarded = AssertUnwindSafe(async { timeout(deadline, handler(key)).await }).catch_unwind();
    match guarded.instrument(span).await {
        Ok(Ok(result)) => End::Returned(result),
        Ok(Err(_)) => End::Late(deadline),
        Err(panic) => End::Panicked(words(panic.as_ref())),
    }
}

/// Logs, counts and queues again.
fn settle<T, E>(queue: &Queue<T>, key: &T, end: End<E>)
where
    T: QueueKey,
    E: Failure,
{
    let (controller, metrics) = (queue.name(), queue.metrics());
    let result = match end {
        End::Returned(Ok(Outcome::Done)) => {
            queue.forget(key);
            "success"
        }
        End::Returned(Ok(Outcome::After(delay))) => {
            queue.forget(key);
            queue.add_after(key.clone(), delay);
            "requeue_after"
        }
        End::Returned(Ok(Outcome::Again)) => {
            queue.retry(key.clone());
            "requeue"
        }
        End::Returned(Err(failure)) => {
            let reason = failure.reason();
            if failure.is_expected() {
                debug!(controller, object = ?key, reason, error = %failure, "reconcile failed, will be retried");
            } else {
                warn!(controller, object = ?key, reason, error = %failure, "reconcile failed, will be retried");
            }
            "error"
        }
        End::Late(deadline) => {
            warn!(controller, object = ?key, reason = "Deadline", ?deadline, "reconcile took too long, will be retried");
            "error"
        }
        End::Panicked(words) => {
            metrics.panics.inc();
            error!(controller, object = ?key, reason = "Panic", error = words, "reconcile panicked, will be retried");
            "error"
        }
    };
    metrics.reconciled(result);
    if result == "error" {
        metrics.errors.inc();
        queue.retry(key.clone());
    }
}

/// What was said in a panic.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(ToString::to_string);
    literal.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests;
