//! Order, coalescing, delays and waiting, in paused time.

use std::collections::BTreeSet;

use tokio::task::JoinSet;
use tokio::time::{advance, timeout};

use super::*;

impl QueueKey for &'static str {
    fn namespace(&self) -> &'static str {
        ""
    }
}

impl QueueKey for usize {
    fn namespace(&self) -> &'static str {
        ""
    }
}

fn queue() -> Queue<&'static str> {
    Queue::new("test", &QueueMetrics::default())
}

/// The next key, if there is one without waiting.
async fn now(queue: &Queue<&'static str>) -> Option<&'static str> {
    timeout(Duration::ZERO, queue.next()).await.ok().flatten()
}

/// Takes the next key and ends its run.
async fn pass(queue: &Queue<&'static str>) -> Option<&'static str> {
    let key = now(queue).await;
    key.inspect(|key| queue.done(key))
}

#[tokio::test(start_paused = true)]
async fn first_in_first_out_and_duplicates_coalesce() {
    let queue = queue();
    for key in ["b", "a", "b", "c", "a"] {
        queue.add(key);
    }
    assert_eq!(queue.len(), 3);
    for want in [Some("b"), Some("a"), Some("c"), None] {
        assert_eq!(pass(&queue).await, want);
    }
    assert!(queue.is_idle());
}

#[tokio::test(start_paused = true)]
async fn background_waits_for_fresh_and_can_be_promoted() {
    let queue = queue();
    for key in ["a", "b", "c"] {
        queue.add_background(key);
    }
    queue.add("d");
    queue.add("c");
    queue.add_background("d");
    for want in [Some("d"), Some("c"), Some("a"), Some("b"), None] {
        assert_eq!(pass(&queue).await, want);
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_key_runs_again_after_it_is_done_and_not_before() {
    let queue = queue();
    queue.add("a");
    assert_eq!(now(&queue).await, Some("a"));
    queue.add_background("a");
    queue.add_background("b");
    queue.add("a");
    assert_eq!(queue.len(), 1, "a runs, b waits");
    queue.done(&"a");
    assert_eq!(pass(&queue).await, Some("a"), "promoted while it ran");
    assert_eq!(pass(&queue).await, Some("b"));
    assert!(queue.is_idle());
    queue.done(&"a");
    assert!(queue.is_idle(), "a second end is none");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_runs_again_wakes_whoever_waits() {
    let queue = queue();
    queue.add("a");
    assert_eq!(now(&queue).await, Some("a"));
    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { timeout(Duration::from_secs(1), queue.next()).await }
    });
    tokio::task::yield_now().await;
    queue.add("a");
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished(), "it runs");
    queue.done(&"a");
    assert_eq!(waiting.await.unwrap(), Ok(Some("a")));
}

#[tokio::test(start_paused = true)]
async fn the_earliest_of_several_delays_counts() {
    let queue = queue();
    queue.add_after("a", Duration::from_secs(5));
    queue.add_after("a", Duration::from_secs(2));
    queue.add_after("a", Duration::from_secs(9));
    assert!(!queue.is_idle() && queue.is_empty());
    let started = Instant::now();
    assert_eq!(queue.next().await, Some("a"));
    assert_eq!(started.elapsed().as_secs(), 2);
    queue.done(&"a");
    assert!(queue.is_idle(), "the other delays are not left over");
}

#[tokio::test(start_paused = true)]
async fn no_delay_is_no_delay() {
    let queue = queue();
    queue.add_after("a", Duration::ZERO);
    assert_eq!(now(&queue).await, Some("a"));
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_ends_during_the_run_makes_it_run_again() {
    let queue = queue();
    queue.add("a");
    assert_eq!(queue.next().await, Some("a"));
    queue.add_after("a", Duration::from_secs(1));
    advance(Duration::from_secs(2)).await;
    assert_eq!(now(&queue).await, None);
    queue.done(&"a");
    assert_eq!(now(&queue).await, Some("a"));
}

#[tokio::test(start_paused = true)]
async fn retries_back_off_until_forgotten() {
    let queue = queue();
    let mut delays = Vec::new();
    for _ in 0..20 {
        queue.retry("a");
        let started = Instant::now();
        assert_eq!(queue.next().await, Some("a"));
        delays.push(started.elapsed());
        queue.done(&"a");
    }
    for (n, delay) in delays.iter().enumerate() {
        let base = Duration::from_millis(5 << n.min(16)).min(Duration::from_mins(1));
        // Tokio's timers have a resolution of a millisecond.
        let bounds = base..=base.mul_f64(1.2) + Duration::from_millis(1);
        assert!(bounds.contains(delay), "retry {n} after {delay:?}, not within {bounds:?}");
    }
    queue.forget(&"a");
    queue.retry("a");
    let started = Instant::now();
    queue.next().await;
    assert!(started.elapsed() <= Duration::from_millis(7));
}

#[tokio::test(start_paused = true)]
async fn failures_are_counted_per_key() {
    let queue = queue();
    for _ in 0..10 {
        queue.retry("a");
    }
    queue.retry("b");
    let started = Instant::now();
    let first = [queue.next().await, queue.next().await];
    assert!(first.contains(&Some("a")) && first.contains(&Some("b")));
    assert!(started.elapsed() <= Duration::from_millis(7), "of the delays of a, the first one counts");
    for key in ["a", "b"] {
        queue.done(&key);
        queue.retry(key);
    }
    let started = Instant::now();
    assert_eq!(queue.next().await, Some("b"));
    assert!(started.elapsed() <= Duration::from_millis(13));
    assert_eq!(queue.next().await, Some("a"));
    assert!(started.elapsed() >= Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn closing_ends_all_waiting_and_hands_out_nothing_more() {
    let queue = queue();
    let mut waiting = JoinSet::new();
    for _ in 0..3 {
        let queue = queue.clone();
        waiting.spawn(async move { queue.next().await });
    }
    tokio::task::yield_now().await;
    queue.close();
    while let Some(ended) = waiting.join_next().await {
        assert_eq!(ended.unwrap(), None);
    }
    queue.add("a");
    queue.add_after("a", Duration::from_secs(1));
    queue.retry("a");
    assert!(queue.is_idle());
    assert_eq!(queue.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn what_is_dirty_when_the_queue_closes_is_dropped() {
    let queue = queue();
    queue.add("a");
    queue.next().await;
    queue.add("a");
    queue.close();
    queue.done(&"a");
    assert!(queue.is_idle());
}

/// A waiting worker whose timer was set before an earlier delay came, and a worker that gives up.
#[tokio::test(start_paused = true)]
async fn a_worker_that_stops_waiting_takes_no_wake_up_with_it() {
    let queue = queue();
    queue.add_after("late", Duration::from_mins(1));
    let patient = tokio::spawn({
        let queue = queue.clone();
        let started = Instant::now();
        async move {
            let soon = (queue.next().await, started.elapsed().as_secs());
            (soon, queue.next().await, started.elapsed().as_secs())
        }
    });
    let impatient = tokio::spawn({
        let queue = queue.clone();
        async move { timeout(Duration::from_secs(1), queue.next()).await.is_err() }
    });
    tokio::task::yield_now().await;
    queue.add_after("soon", Duration::from_secs(2));
    assert!(impatient.await.unwrap());
    assert_eq!(patient.await.unwrap(), ((Some("soon"), 2), Some("late"), 60));
}

#[tokio::test(start_paused = true)]
async fn every_waiting_worker_gets_one_of_the_keys() {
    let queue = queue();
    let mut workers = JoinSet::new();
    for _ in 0..3 {
        let queue = queue.clone();
        workers.spawn(async move { queue.next().await });
    }
    tokio::task::yield_now().await;
    for key in ["a", "b", "c"] {
        queue.add(key);
    }
    let mut got = BTreeSet::new();
    while let Some(key) = workers.join_next().await {
        got.extend(key.unwrap());
    }
    assert_eq!(got, BTreeSet::from(["a", "b", "c"]), "nobody finished a key, so each needed its own worker");
}

/// Many producers, keys and workers on real threads: everything is served, and no key twice at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_between_threads() {
    const KEYS: usize = 50;
    let queue: Queue<usize> = Queue::new("threads", &QueueMetrics::default());
    let added = Arc::new(Mutex::new(vec![0_u32; KEYS]));
    let seen = Arc::new(Mutex::new(vec![0_u32; KEYS]));
    let running = Arc::new(Mutex::new(BTreeSet::new()));
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let (queue, added, seen, running) = (queue.clone(), added.clone(), seen.clone(), running.clone());
        workers.spawn(async move {
            while let Some(key) = queue.next().await {
                assert!(running.lock().insert(key), "{key} runs twice");
                let latest = added.lock()[key];
                tokio::task::yield_now().await;
                seen.lock()[key] = latest;
                running.lock().remove(&key);
                queue.done(&key);
            }
        });
    }
    let mut producers = JoinSet::new();
    for producer in 0..4_usize {
        let (queue, added) = (queue.clone(), added.clone());
        producers.spawn(async move {
            for n in 0..2_000 {
                let key = (n * 7 + producer) % KEYS;
                added.lock()[key] += 1;
                match n % 3 {
                    0 => queue.add(key),
                    1 => queue.add_background(key),
                    _ => queue.add_after(key, Duration::from_millis(1)),
                }
                if n % 16 == 0 {
                    tokio::task::yield_now().await;
                }
            }
        });
    }
    while let Some(ended) = producers.join_next().await {
        ended.unwrap();
    }
    let idle = async {
        while !queue.is_idle() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), idle).await.expect("a wake-up was lost");
    queue.close();
    while let Some(ended) = workers.join_next().await {
        ended.unwrap();
    }
    assert_eq!(*seen.lock(), *added.lock(), "the last run of each key came after the last time it was added");
}

#[tokio::test(start_paused = true)]
async fn metrics_count_as_those_of_client_go() {
    let metrics = QueueMetrics::default();
    let queue = Queue::new("test", &metrics);
    queue.add("a");
    queue.add("a");
    queue.add_background("b");
    let counts = metrics.of_queue("test");
    assert_eq!((counts.adds.get(), counts.depth.get()), (2, 2));
    advance(Duration::from_secs(3)).await;
    queue.next().await;
    assert_eq!((counts.queued.count(), counts.depth.get()), (1, 1));
    assert!((counts.queued.sum() - 3.0).abs() < 0.01);
    queue.add("a");
    advance(Duration::from_secs(2)).await;
    queue.done(&"a");
    assert_eq!((counts.adds.get(), counts.depth.get()), (3, 2));
    assert!((counts.worked.sum() - 2.0).abs() < 0.01);
    queue.retry("c");
    assert_eq!((counts.retries.get(), counts.adds.get()), (1, 3), "counted when its delay ends");
    advance(Duration::from_secs(1)).await;
    queue.next().await;
    assert_eq!((counts.adds.get(), counts.depth.get()), (4, 2));
}
