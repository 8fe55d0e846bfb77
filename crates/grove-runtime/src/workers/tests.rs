//! What becomes of keys whose handlers fail, panic, hang or ask for more, in paused time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::sync::{Notify, Semaphore};

use super::*;
use crate::metrics::QueueMetrics;
use crate::queue::Switch as _;

struct Fault(bool);

impl Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("out of luck")
    }
}

impl Failure for Fault {
    fn reason(&self) -> &'static str {
        "Luck"
    }

    fn is_expected(&self) -> bool {
        self.0
    }
}

const DEADLINE: Duration = Duration::from_secs(30);

/// Runs `handler` with one worker; it is told how often it ran before. Returns when each of `runs` runs started.
async fn times<Fut>(runs: usize, handler: fn(usize) -> Fut) -> (Vec<Duration>, QueueMetrics)
where
    Fut: Future<Output = Result<Outcome, Fault>> + Send + 'static,
{
    let metrics = QueueMetrics::default();
    let queue = Queue::new("test", &metrics);
    let (started, mut starts) = mpsc::unbounded_channel();
    let (begin, count) = (Instant::now(), AtomicUsize::new(0));
    queue.add("a");
    let working = tokio::spawn(work(queue.clone(), 1, DEADLINE, move |_| {
        let run = count.fetch_add(1, Ordering::Relaxed);
        started.send(begin.elapsed()).unwrap();
        handler(run)
    }));
    let mut times = Vec::new();
    while times.len() < runs {
        times.push(starts.recv().await.unwrap());
    }
    queue.close();
    working.await.unwrap();
    (times, metrics)
}

fn gaps(times: &[Duration]) -> Vec<u128> {
    times.windows(2).map(|pair| pair[1].checked_sub(pair[0]).unwrap().as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn errors_and_again_back_off() {
    let (unexpected, metrics) = times(4, |_| async { Err(Fault(false)) }).await;
    let (expected, _) = times(4, |_| async { Err(Fault(true)) }).await;
    for times in [unexpected, expected] {
        for (gap, base) in gaps(&times).into_iter().zip([5, 10, 20]) {
            assert!((base..=base * 6 / 5 + 1).contains(&gap), "{gap} ms instead of {base} ms");
        }
    }
    let counts = metrics.of_queue("test");
    assert!(counts.errors.get() >= 3 && counts.retries.get() >= 3);
    let (times, metrics) = times(4, |_| async { Ok(Outcome::Again) }).await;
    assert!(gaps(&times)[2] >= 20);
    assert_eq!(metrics.of_queue("test").errors.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn success_resets_the_backoff() {
    let (times, _) = times(8, |run| async move {
        if run == 4 { Ok(Outcome::After(Duration::from_secs(1))) } else { Err(Fault(false)) }
    })
    .await;
    let gaps = gaps(&times);
    assert!((1_000..=1_001).contains(&gaps[4]), "{gaps:?}");
    assert!(gaps[3] >= 40 && gaps[5] <= 7, "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_error_like_any_other() {
    // Before the future exists, in it, and with each kind of message.
    fn unborn(run: usize) -> std::future::Ready<Result<Outcome, Fault>> {
        assert!(run > 1, "run {run}");
        std::future::ready(Ok(Outcome::Again))
    }
    let (_, metrics) = times(3, unborn).await;
    assert_eq!(metrics.of_queue("test").panics.get(), 2);
    let (_, metrics) = times(3, |run| async move {
        tokio::task::yield_now().await;
        assert!(run > 1);
        Ok(Outcome::Again)
    })
    .await;
    let counts = metrics.of_queue("test");
    assert_eq!((counts.panics.get(), counts.errors.get(), counts.retries.get() >= 2), (2, 2, true));
}

#[test]
fn panics_say_what_they_said() {
    let said = |f: fn()| words(std::panic::catch_unwind(f).unwrap_err().as_ref());
    assert_eq!(said(|| panic!("plain")), "plain");
    assert_eq!(said(|| panic!("number {}", 1)), "number 1");
    assert_eq!(said(|| std::panic::panic_any(1)), "no message");
}

#[tokio::test(start_paused = true)]
async fn a_late_run_is_dropped_and_retried() {
    let (times, metrics) = times(2, |_| std::future::pending()).await;
    let gap = gaps(&times)[0];
    assert!((30_005..=30_010).contains(&gap), "{gap}");
    assert!(metrics.of_queue("test").errors.get() >= 1);
}

#[tokio::test(start_paused = true)]
async fn done_is_done() {
    let queue = Queue::new("test", &QueueMetrics::default());
    let runs = Arc::new(Mutex::new(BTreeMap::new()));
    let (counted, seen) = (runs.clone(), Arc::new(Notify::new()));
    let notify = seen.clone();
    let working = tokio::spawn(work(queue.clone(), 2, DEADLINE, move |key: &str| {
        *counted.lock().entry(key).or_insert(0) += 1;
        notify.notify_one();
        async { Ok::<_, Fault>(Outcome::Done) }
    }));
    for key in ["a", "b", "a"] {
        queue.add(key);
        seen.notified().await;
    }
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(queue.is_idle());
    assert_eq!(*runs.lock(), BTreeMap::from([("a", 2), ("b", 1)]));
    queue.close();
    working.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn as_many_run_at_once_as_there_are_workers() {
    let queue = Queue::new("test", &QueueMetrics::default());
    let (entered, mut entries) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let held = gate.clone();
    let working = tokio::spawn(work(queue.clone(), 3, DEADLINE, move |key: usize| {
        entered.send(key).unwrap();
        let held = held.clone();
        async move {
            held.acquire().await.unwrap().forget();
            Ok::<_, Fault>(Outcome::Done)
        }
    }));
    (0..5).for_each(|key| queue.add(key));
    for key in 0..3 {
        assert_eq!(entries.recv().await, Some(key));
    }
    assert_eq!(queue.len(), 2);
    assert!(entries.try_recv().is_err());
    gate.add_permits(1);
    assert_eq!(entries.recv().await, Some(3));

    // Closing waits for those that run, and starts no other.
    queue.close();
    tokio::task::yield_now().await;
    assert!(!working.is_finished());
    gate.add_permits(3);
    working.await.unwrap();
    assert_eq!(entries.recv().await, None, "the fifth never ran");
}
