//! Parts of the sandbox: each runs in a task of its own, is restarted when it fails, and can be stopped and started.

use std::{collections::BTreeMap, fmt, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

/// First and longest pause before a part that failed is started again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// A part that ran for so long had started well: the next pause is the first one again.
const STABLE: Duration = Duration::from_mins(1);

type Run = Arc<dyn Fn(CancellationToken) -> BoxFuture<'static, ()> + Send + Sync>;

/// The parts of a sandbox by name. A panic in one of them does not reach the others.
#[derive(Default)]
pub struct Parts {
    parts: Mutex<BTreeMap<&'static str, Part>>,
}

struct Part {
    run: Run,
    running: Option<Running>,
}

struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Parts {
    /// Adds a part and starts it. `run` is called anew each time that the part is started.
    pub fn add<F>(&self, name: &'static str, run: impl Fn(CancellationToken) -> F + Send + Sync + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let run: Run = Arc::new(move |stop| run(stop).boxed());
        self.parts.lock().insert(name, Part { run, running: None });
        self.start(name);
    }

    /// The names of all parts.
    pub fn names(&self) -> Vec<&'static str> {
        self.parts.lock().keys().copied().collect()
    }

    /// Whether a part of this name runs.
    pub fn is_running(&self, name: &str) -> bool {
        self.parts.lock().get(name).is_some_and(|it| it.running.is_some())
    }

    /// Starts a part that was stopped. Whether there is one of this name.
    pub fn start(&self, name: &str) -> bool {
        let mut parts = self.parts.lock();
        let Some((name, part)) = parts.iter_mut().find(|it| *it.0 == name) else { return false };
        if part.running.is_none() {
            let stop = CancellationToken::new();
            let task = tokio::spawn(supervise(name, Arc::clone(&part.run), stop.clone()));
            part.running = Some(Running { stop, task });
        }
        true
    }

    /// Stops a part and waits for its end. Whether it was running.
    pub async fn stop(&self, name: &str) -> bool {
        let running = self.parts.lock().get_mut(name).and_then(|it| it.running.take());
        let Some(running) = running else { return false };
        running.stop.cancel();
        // Its end is what matters, not how it ended.
        drop(running.task.await);
        true
    }

    /// Stops all parts.
    pub async fn stop_all(&self) {
        for name in self.names() {
            self.stop(name).await;
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        for running in self.parts.get_mut().values().filter_map(|it| it.running.as_ref()) {
            running.task.abort();
        }
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parts").field(&self.names()).finish()
    }
}

/// Runs a part until `stop`; starts it again when it ends before that.
async fn supervise(name: &'static str, run: Run, stop: CancellationToken) {
    let mut pause = PAUSE.0;
    while !stop.is_cancelled() {
        let started = Instant::now();
        // The call is inside, because a part may panic before its first await, too.
        let end = AssertUnwindSafe(async { run(stop.clone()).await }).catch_unwind().await;
        if stop.is_cancelled() {
            return;
        }
        if end.is_err() {
            error!(part = name, "part panicked and is restarted");
        } else {
            warn!(part = name, "part ended and is restarted");
        }
        if started.elapsed() >= STABLE {
            pause = PAUSE.0;
        }
        stop.run_until_cancelled(sleep(pause)).await;
        pause = (pause * 2).min(PAUSE.1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_part_that_panics_is_restarted_and_the_others_go_on() {
        let (parts, starts, ticks) =
            (Parts::default(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counted, ticking) = (Arc::clone(&starts), Arc::clone(&ticks));
        parts.add("bad", move |_| {
            assert!(counted.fetch_add(1, Ordering::Relaxed) >= 2, "the first two starts fail");
            std::future::pending()
        });
        parts.add("good", move |stop| {
            let ticks = Arc::clone(&ticking);
            async move {
                while stop.run_until_cancelled(sleep(Duration::from_secs(1))).await.is_some() {
                    ticks.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        sleep(Duration::from_millis(10_500)).await;
        assert_eq!((starts.load(Ordering::Relaxed), ticks.load(Ordering::Relaxed)), (3, 10));
        assert_eq!(parts.names(), ["bad", "good"]);
    }

    #[tokio::test(start_paused = true)]
    async fn parts_are_stopped_and_started() {
        let (parts, starts) = (Parts::default(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&starts);
        parts.add("part", move |stop| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move { stop.cancelled().await }
        });
        tokio::task::yield_now().await;
        assert!(parts.stop("part").await && !parts.is_running("part"));
        assert!(!parts.stop("part").await, "it runs no more");
        assert!(parts.start("part") && parts.is_running("part"));
        assert!(!parts.start("other"));
        tokio::task::yield_now().await;
        assert_eq!(starts.load(Ordering::Relaxed), 2);
        parts.stop_all().await;
        assert!(!parts.is_running("part"));
    }
}
