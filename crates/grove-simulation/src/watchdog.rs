//! Time in a run is virtual: it goes on when every task waits. Where one never does, it stands still, and only real time
//! shows that.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use tokio::sync::Notify;

/// Longer than any run takes, also on a machine that has much else to do.
pub(crate) const LIMIT: Duration = Duration::from_mins(10);

/// Looks after one run. When this is dropped, the run has ended.
pub(crate) struct Watchdog {
    /// Wakes the run when it has taken too long.
    pub(crate) alarm: Arc<Notify>,
    barked: Arc<AtomicBool>,
    _run: Sender<()>,
}

impl Watchdog {
    /// Wakes a run after this time. One that cannot be woken for as long again never lets anybody else run: then `give_up` is
    /// called, with no way to end but the whole program.
    pub(crate) fn start(limit: Duration, give_up: impl FnOnce() + Send + 'static) -> Self {
        let (run, ended) = mpsc::channel::<()>();
        let (alarm, barked) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
        let (ring, bark) = (Arc::clone(&alarm), Arc::clone(&barked));
        thread::spawn(move || {
            let lasts = || ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if lasts() {
                bark.store(true, Ordering::Relaxed);
                ring.notify_one();
                if lasts() {
                    give_up();
                }
            }
        });
        Self { alarm, barked, _run: run }
    }

    /// Whether the run has taken too long.
    pub(crate) fn has_barked(&self) -> bool {
        self.barked.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Virtual time stands still for as long as a task is always ready.
    #[tokio::test(start_paused = true)]
    async fn a_livelock_is_noticed() {
        let livelock = tokio::spawn(async {
            loop {
                tokio::task::yield_now().await;
            }
        });
        let dog = Watchdog::start(Duration::from_millis(20), || {});
        tokio::select! {
            biased;
            () = dog.alarm.notified() => {}
            () = tokio::time::sleep(Duration::from_hours(1)) => panic!("time went on"),
        }
        assert!(dog.has_barked());
        livelock.abort();
    }

    #[test]
    fn who_never_waits_at_all_is_given_up() {
        let (told, given_up) = mpsc::channel();
        let dog = Watchdog::start(Duration::from_millis(5), move || told.send(()).unwrap());
        assert_eq!(given_up.recv(), Ok(()));
        drop(dog);
    }
}
