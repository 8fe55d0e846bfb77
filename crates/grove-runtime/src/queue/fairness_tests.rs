//! Turns of namespaces, and queues that are closed and opened, counted.

use super::*;

/// Namespace and number.
type Key = (&'static str, u32);

impl QueueKey for Key {
    fn namespace(&self) -> &'static str {
        self.0
    }
}

fn queue() -> Queue<Key> {
    Queue::new("test", &QueueMetrics::default())
}

/// Takes so many keys that wait, and ends their runs.
async fn pass(queue: &Queue<Key>, count: usize) -> Vec<Key> {
    let mut taken = Vec::new();
    for _ in 0..count {
        let key = queue.next().await.unwrap();
        queue.done(&key);
        taken.push(key);
    }
    taken
}

#[tokio::test(start_paused = true)]
async fn five_thousand_keys_of_one_namespace_delay_another_by_one() {
    let queue = queue();
    (0..5_000).for_each(|number| queue.add(("a", number)));
    assert_eq!(pass(&queue, 2).await, [("a", 0), ("a", 1)]);
    queue.add(("b", 0));
    queue.add(("", 0));
    assert_eq!(pass(&queue, 4).await, [("a", 2), ("b", 0), ("", 0), ("a", 3)]);
    assert_eq!(queue.len(), 4_996);
}

#[tokio::test(start_paused = true)]
async fn turns_hold_in_every_lane_and_after_delays() {
    let queue = queue();
    (0..100).for_each(|number| queue.add_background(("a", number)));
    queue.add_background(("b", 0));
    assert_eq!(pass(&queue, 2).await, [("a", 0), ("b", 0)]);
    (100..200).for_each(|number| queue.add_after(("a", number), Duration::from_secs(1)));
    queue.add_after(("b", 1), Duration::from_secs(1));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(pass(&queue, 2).await, [("a", 100), ("b", 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_promoted_key_keeps_one_place() {
    let queue = queue();
    for key in [("a", 0), ("a", 1), ("b", 0)] {
        queue.add_background(key);
    }
    queue.add(("a", 1));
    assert_eq!(pass(&queue, 3).await, [("a", 1), ("a", 0), ("b", 0)]);
    assert!(queue.is_idle());
}

/// Keys that take long occupy all workers but one.
#[tokio::test(start_paused = true)]
async fn a_namespace_does_not_get_the_last_worker() {
    let queue = queue();
    queue.set_workers(3);
    (0..4).for_each(|number| queue.add(("a", number)));
    let next = || tokio::time::timeout(Duration::from_secs(1), queue.next());
    assert_eq!((next().await, next().await), (Ok(Some(("a", 0))), Ok(Some(("a", 1)))));
    assert!(next().await.is_err(), "the last worker waits for another namespace");
    queue.add(("b", 0));
    assert_eq!(next().await, Ok(Some(("b", 0))));
    queue.done(&("b", 0));
    assert!(next().await.is_err());
    queue.done(&("a", 0));
    assert_eq!(next().await, Ok(Some(("a", 2))));
    // Cluster scope is nobody's: its keys may take all.
    (0..3).for_each(|number| queue.add(("", number)));
    for number in 0..3 {
        assert_eq!(next().await, Ok(Some(("", number))));
    }
    // With a single worker nothing is kept back, and a closed queue forgets who ran.
    queue.close();
    queue.open();
    queue.set_workers(1);
    queue.add(("a", 7));
    assert_eq!(next().await, Ok(Some(("a", 7))));
}

/// A worker that waits learns that a namespace may have one more.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_wakes_a_worker_that_waits() {
    let queue = queue();
    queue.set_workers(3);
    (0..3).for_each(|number| queue.add(("a", number)));
    assert_eq!((queue.next().await, queue.next().await), (Some(("a", 0)), Some(("a", 1))));
    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { tokio::time::timeout(Duration::from_secs(1), queue.next()).await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    queue.done(&("a", 1));
    assert_eq!(waiting.await.unwrap(), Ok(Some(("a", 2))));
}

/// Events that never end leave one of sixteen keys to background work.
#[tokio::test(start_paused = true)]
async fn background_work_is_not_starved() {
    let queue = queue();
    queue.add_background(("b", 0));
    for number in 0..1_000 {
        queue.add(("a", number));
        queue.add(("a", number + 1_000));
        if pass(&queue, 1).await == [("b", 0)] {
            assert_eq!(number, 15);
            return;
        }
    }
    panic!("never served");
}

#[tokio::test(start_paused = true)]
async fn a_closed_queue_keeps_nothing_and_can_be_opened() {
    let metrics = QueueMetrics::default();
    let queue: Queue<Key> = Queue::new("test", &metrics);
    queue.add(("a", 0));
    queue.add_after(("a", 1), Duration::from_secs(1));
    queue.retry(("a", 2));
    queue.close();
    for number in 0..5_000 {
        queue.add(("a", number));
        queue.add_background(("b", number));
        queue.add_after(("a", number), Duration::from_secs(1));
        queue.retry(("a", number));
    }
    assert!(queue.is_idle() && queue.is_empty());
    assert_eq!(metrics.of_queue("test").depth.get(), 0);
    queue.open();
    assert!(queue.is_idle(), "what came before is forgotten");
    queue.add(("b", 0));
    assert_eq!(pass(&queue, 1).await, [("b", 0)]);
}

/// What an aborted run leaves behind does not keep its key from running later.
#[tokio::test(start_paused = true)]
async fn an_aborted_queue_drops_what_runs() {
    use crate::workers::{Failure, Outcome, work};
    #[derive(Debug, thiserror::Error)]
    #[error("never")]
    struct Never;
    impl Failure for Never {
        fn reason(&self) -> &'static str {
            "Never"
        }
    }
    let queue = queue();
    let (begin, mut runs) = tokio::sync::mpsc::unbounded_channel();
    for term in 0..3 {
        queue.open();
        queue.add(("a", 0));
        let begin = begin.clone();
        let working = tokio::spawn(work(queue.clone(), 2, Duration::from_hours(1), move |key: Key| {
            begin.send((term, key)).unwrap();
            std::future::pending::<Result<Outcome, Never>>()
        }));
        assert_eq!(runs.recv().await, Some((term, ("a", 0))));
        queue.abort();
        working.await.unwrap();
        assert!(queue.is_idle());
    }
}
