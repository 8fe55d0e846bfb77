//! When the server was heard last.

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::time::advance;

use super::*;

const STEP: Duration = Duration::from_secs(7);

#[tokio::test(start_paused = true)]
async fn lists_events_and_bookmarks_are_contact_and_failures_are_none() {
    let mut world = World::start(false);
    let call = world.calls.recv().await.unwrap();
    assert_eq!(world.cache.last_contact(), None);
    call.answer(&list(5, &[object("x", "a", 3)]));
    let events = world.watches(5).await;
    let listed = world.cache.last_contact().unwrap();
    assert_eq!(listed, Instant::now());

    advance(STEP).await;
    events.send(event("MODIFIED", &object("x", "a", 6))).unwrap();
    world.hears(">a@3").await;
    world.hears("a@3>a@6").await;
    assert_eq!(world.cache.last_contact(), Some(listed + STEP));

    advance(STEP).await;
    events.send(bookmark(7)).unwrap();
    drop(events);
    // It was taken in before the watch goes on from it.
    let call = world.calls.recv().await.unwrap();
    assert!(call.target.contains("resourceVersion=7"), "{}", call.target);
    assert_eq!(world.cache.last_contact(), Some(listed + STEP * 2));

    advance(STEP).await;
    call.refuse(500, "InternalError", "no");
    let call = world.calls.recv().await.unwrap();
    assert_eq!(world.cache.last_contact(), Some(listed + STEP * 2), "a failure tells nothing");
    drop(call);

    world.stop.cancel();
    world.task.await.unwrap();
    assert_eq!(world.cache.last_contact(), None, "nobody listens any more");
}

#[tokio::test(start_paused = true)]
async fn the_age_of_each_cache_is_a_metric() {
    let mut registry = Registry::default();
    let metrics = InformerMetrics::register(&mut registry);
    let ages = || {
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let ages = text.lines().filter(|it| it.starts_with("informer_cache_age_seconds"));
        ages.map(str::to_owned).collect::<Vec<_>>()
    };
    let cache: Cache<ConfigMap> = Cache::with_metrics(&metrics);
    let other: Cache<ConfigMap> = Cache::with_metrics(&metrics);
    assert_eq!(ages(), Vec::<String>::new(), "nothing was heard yet");
    cache.contacted();
    advance(STEP).await;
    other.contacted();
    assert_eq!(ages(), ["informer_cache_age_seconds{kind=\"ConfigMap\"} 7.0"], "the oldest of the kind");
    cache.contacted();
    assert_eq!(ages(), ["informer_cache_age_seconds{kind=\"ConfigMap\"} 0.0"]);
    drop((cache, other));
    assert_eq!(ages(), Vec::<String>::new());
}
