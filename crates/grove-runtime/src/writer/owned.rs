//! Writes that outlive the reconcile that began them.
//!
//! A reconcile is dropped at its deadline, and with it would go the answers to its writes: the server has created a pod of
//! which the cache knows nothing, and the next reconcile creates it again. So a write belongs to the process: it runs to its
//! end in a task of its own, which also puts the answer into the cache. A reconcile only waits for it.

use std::{collections::BTreeMap, fmt, future::pending, panic::resume_unwind, sync::Arc};

use parking_lot::Mutex;
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

/// Runs writes to their end. They are given up only when this is dropped, with the whole process.
pub struct OwnedWrites {
    tasks: TaskTracker,
    end: CancellationToken,
    busy: Arc<Mutex<BTreeMap<String, usize>>>,
    _ends_with_us: DropGuard,
}

impl OwnedWrites {
    /// No writes are under way.
    #[allow(clippy::new_without_default, reason = "there is one for a process")]
    pub fn new() -> Self {
        let end = CancellationToken::new();
        let guard = end.clone().drop_guard();
        Self { tasks: TaskTracker::new(), end, busy: Arc::default(), _ends_with_us: guard }
    }

    /// Begins `write` at once. It goes on if the future that is returned is dropped.
    pub fn run<T, W>(&self, write: W) -> impl Future<Output = T> + Send + use<T, W>
    where
        T: Send + 'static,
        W: Future<Output = T> + Send + 'static,
    {
        let end = self.end.clone();
        let task = self.tasks.spawn(async move { end.run_until_cancelled(write).await });
        async move {
            match task.await {
                Ok(Some(answer)) => answer,
                // The process ends: nothing waits for it any more.
                Ok(None) => pending().await,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => resume_unwind(panic),
                    Err(_) => pending().await,
                },
            }
        }
    }

    /// Likewise; until its end `owner` is busy.
    pub fn run_for<T, W>(&self, owner: &str, write: W) -> impl Future<Output = T> + Send + use<T, W>
    where
        T: Send + 'static,
        W: Future<Output = T> + Send + 'static,
    {
        let busy = Busy::begin(&self.busy, owner);
        self.run(async move {
            let answer = write.await;
            drop(busy);
            answer
        })
    }

    /// Whether a write for `owner` is under way, so that what is known of it is about to change.
    pub fn is_busy(&self, owner: &str) -> bool {
        self.busy.lock().contains_key(owner)
    }

    /// Whether no write is under way.
    #[cfg(test)]
    fn is_idle(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Waits until no write is under way. To be called when nothing begins another one.
    pub async fn drained(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }
}

impl fmt::Debug for OwnedWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedWrites").field("under_way", &self.tasks.len()).finish_non_exhaustive()
    }
}

/// Counts one write until it is dropped, however the write ends.
struct Busy {
    all: Arc<Mutex<BTreeMap<String, usize>>>,
    owner: String,
}

impl Busy {
    fn begin(all: &Arc<Mutex<BTreeMap<String, usize>>>, owner: &str) -> Self {
        *all.lock().entry(owner.to_owned()).or_default() += 1;
        Self { all: Arc::clone(all), owner: owner.to_owned() }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(count) = all.get_mut(&self.owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                all.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{panic::AssertUnwindSafe, time::Duration};

    use futures::FutureExt as _;
    use tokio::{
        sync::oneshot,
        time::{sleep, timeout},
    };

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_write_goes_on_when_nothing_waits_for_it() {
        let writes = OwnedWrites::new();
        let (done, ended) = oneshot::channel();
        let write = async move {
            sleep(10 * SECOND).await;
            done.send("created").unwrap();
        };
        assert!(timeout(SECOND, writes.run_for("clique", write)).await.is_err(), "a deadline");
        assert!(writes.is_busy("clique") && !writes.is_busy("other"));
        assert_eq!(ended.await, Ok("created"));
        writes.drained().await;
        assert!(!writes.is_busy("clique") && writes.is_idle());
    }

    #[tokio::test]
    async fn answers_and_panics_come_back() {
        let writes = OwnedWrites::new();
        assert_eq!(writes.run(async { 7 }).await, 7);
        let failing = writes.run_for("clique", async { panic!("out of luck") });
        let panic = AssertUnwindSafe(failing).catch_unwind().await.unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"out of luck"));
        assert!(!writes.is_busy("clique"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_owner_is_busy_until_its_last_write_ends() {
        let writes = OwnedWrites::new();
        let (one, two) = (writes.run_for("a", sleep(SECOND)), writes.run_for("a", sleep(2 * SECOND)));
        one.await;
        assert!(writes.is_busy("a"));
        two.await;
        assert!(!writes.is_busy("a"));
    }

    #[tokio::test(start_paused = true)]
    async fn they_end_with_the_process() {
        let writes = OwnedWrites::new();
        let (done, ended) = oneshot::channel::<()>();
        drop(writes.run(async move {
            sleep(SECOND).await;
            let _ = done.send(());
        }));
        drop(writes);
        assert!(ended.await.is_err());
    }
}
