//! The server is set back to an earlier state: etcd is restored from a backup, and revisions start again from there.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// The list that must come next asks how far the server is, and nothing else.
async fn is_asked_how_far(world: &mut World, revision: u32) {
    let call = world.calls.recv().await.unwrap();
    assert!(call.target.contains("limit=1&") || call.target.ends_with("limit=1"), "{}", call.target);
    assert!(!call.target.contains("watch="), "{}", call.target);
    call.answer(&list(revision, &[]));
}

/// A watch at revision 1000, with `x` and `y`.
async fn before() -> (World, mpsc::UnboundedSender<Value>) {
    let mut world = World::start(false);
    world.lists(1000, &[object("x", "a", 900), object("y", "b", 950)]).await;
    world.hears(">a@900").await;
    world.hears(">b@950").await;
    let events = world.watches(1000).await;
    (world, events)
}

/// A list of the state that was restored: `x` as it was, `y` not there yet, `z` not deleted yet.
async fn is_restored(world: &mut World) {
    world.lists(500, &[object("x", "a", 400), object("z", "c", 300)]).await;
    for step in ["a@900>a@400", ">c@300", "b@950>"] {
        world.hears(step).await;
    }
    let events = world.watches(500).await;
    events.send(event("MODIFIED", &object("x", "a", 501))).unwrap();
    world.hears("a@400>a@501").await;
}

fn expired() -> Value {
    event("ERROR", &json!({"code": 410, "reason": "Expired", "message": "too old"}))
}

#[tokio::test(start_paused = true)]
async fn a_list_of_a_lower_revision_replaces_what_was_known() {
    let (mut world, events) = before().await;
    events.send(expired()).unwrap();
    is_restored(&mut world).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_of_a_lower_revision_is_not_believed_and_leads_to_a_list() {
    let (mut world, events) = before().await;
    events.send(event("MODIFIED", &object("y", "b", 480))).unwrap();
    is_restored(&mut world).await;
    assert_eq!(world.restarts(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_of_a_lower_revision_leads_to_a_list() {
    let (mut world, events) = before().await;
    events.send(bookmark(480)).unwrap();
    is_restored(&mut world).await;
}

/// A server does not refuse a watch from a revision that it has not reached: it shows nothing until it has.
#[tokio::test(start_paused = true)]
async fn a_watch_that_showed_nothing_is_not_simply_continued() {
    let (mut world, events) = before().await;
    drop(events);
    is_asked_how_far(&mut world, 480).await;
    is_restored(&mut world).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_failed_is_not_simply_continued() {
    let (mut world, events) = before().await;
    events.send(bookmark(1000)).unwrap();
    drop(events);
    // It showed something, so it continues; the server is away, and comes back from a backup.
    world.calls.recv().await.unwrap().refuse(503, "ServiceUnavailable", "no");
    is_asked_how_far(&mut world, 480).await;
    is_restored(&mut world).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_continues_where_the_server_is_as_far() {
    let (mut world, events) = before().await;
    drop(events);
    is_asked_how_far(&mut world, 1200).await;
    let events = world.watches(1000).await;
    events.send(event("MODIFIED", &object("x", "a", 1100))).unwrap();
    world.hears("a@900>a@1100").await;
    drop(events);
    // Nobody asks where a watch ended in order.
    world.watches(1100).await;
}

/// What was deleted after the backup is there again, under its UID.
#[tokio::test(start_paused = true)]
async fn what_was_deleted_comes_back() {
    let (mut world, events) = before().await;
    events.send(event("DELETED", &object("x", "a", 1001))).unwrap();
    world.hears("a@900>").await;
    world.cache.gone("ns", "y", "b");
    world.hears("b@950>").await;
    events.send(expired()).unwrap();
    world.lists(500, &[object("x", "a", 400), object("y", "b", 450)]).await;
    world.hears(">a@400").await;
    world.hears(">b@450").await;
}

/// What we wrote after the backup is gone, or another object has its name.
#[tokio::test(start_paused = true)]
async fn what_was_written_is_asked_about_and_the_answer_counts() {
    for (answer, want) in [
        (vec![], vec!["n@1001>"]),
        (vec![object("n", "n", 480)], vec!["n@1001>n@480"]),
        (vec![object("n", "m", 480)], vec!["n@1001>", ">m@480"]),
    ] {
        let (mut world, events) = before().await;
        world.cache.written(serde_json::from_value(object("n", "n", 1001)).unwrap());
        world.hears(">n@1001").await;
        events.send(expired()).unwrap();
        world.lists(500, &[object("x", "a", 400), object("y", "b", 450)]).await;
        for step in ["a@900>a@400", "b@950>b@450"] {
            world.hears(step).await;
        }
        let call = world.calls.recv().await.unwrap();
        assert!(call.target.contains("metadata.name%3Dn"), "{}", call.target);
        call.answer(&list(500, &answer));
        for step in want {
            world.hears(step).await;
        }
    }
}

/// The server has passed the revision that every watch knew before they were connected again. All that tells is that it refuses our
/// writes, and that it has an older form of the object: then every kind lists again.
#[tokio::test(start_paused = true)]
async fn what_a_write_was_refused_for_is_asked_about_and_an_older_answer_is_a_rewind() {
    let (mut world, _events) = before().await;
    let rewinds = count_rewinds(&world);
    world.cache.doubted("ns", "x");
    let call = world.calls.recv().await.unwrap();
    assert!(call.target.contains("metadata.name%3Dx"), "{}", call.target);
    call.answer(&list(1100, &[object("x", "a", 400)]));
    world.hears("a@900>a@400").await;
    world.lists(1100, &[object("x", "a", 400), object("y", "b", 950)]).await;
    world.hears("a@400>a@400").await;
    world.hears("b@950>b@950").await;
    world.watches(1100).await;
    assert_eq!(rewinds.load(Ordering::Relaxed), 1);
}

/// Mostly the watch was late, or the write was: the object is as it was known.
#[tokio::test(start_paused = true)]
async fn what_is_in_doubt_and_as_it_was_known_is_no_rewind() {
    let (mut world, events) = before().await;
    let rewinds = count_rewinds(&world);
    world.cache.doubted("ns", "x");
    world.cache.doubted("ns", "nobody");
    let call = world.calls.recv().await.unwrap();
    call.answer(&list(1000, &[object("x", "a", 900)]));
    events.send(event("MODIFIED", &object("x", "a", 1001))).unwrap();
    world.hears("a@900>a@1001").await;
    assert!(!events.is_closed());
    assert_eq!(rewinds.load(Ordering::Relaxed), 0);
}

/// How often listeners hear of a rewind.
fn count_rewinds(world: &World) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    world.cache.listen_rewound(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    count
}

/// The server has passed the revision that was known, and nothing of what this watch is shown tells. Versions are given out a
/// second time, so that the same one may be of other content.
#[tokio::test(start_paused = true)]
async fn what_another_kind_noticed_makes_it_list_again() {
    let (mut world, events) = before().await;
    let rewinds = count_rewinds(&world);
    world.cache.history().went_back(0);
    world.lists(1100, &[object("x", "a", 900), object("z", "c", 300)]).await;
    for step in ["a@900>a@900", ">c@300", "b@950>"] {
        world.hears(step).await;
    }
    let next = world.watches(1100).await;
    assert!(events.is_closed(), "the watch from before is over");
    assert_eq!(rewinds.load(Ordering::Relaxed), 1);
    // What made it list is no news for the others.
    assert_eq!(world.cache.history().epoch(), 1);
    next.send(expired()).unwrap();
    world.lists(1200, &[object("x", "a", 900), object("z", "c", 300)]).await;
    world.watches(1200).await;
    assert_eq!(rewinds.load(Ordering::Relaxed), 1, "a list alone is no rewind");
}

#[tokio::test(start_paused = true)]
async fn what_it_notices_it_tells_the_others_once() {
    let (mut world, events) = before().await;
    let rewinds = count_rewinds(&world);
    events.send(bookmark(480)).unwrap();
    is_restored(&mut world).await;
    assert_eq!(world.cache.history().epoch(), 1);
    assert_eq!(rewinds.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_was_asked_for_before_the_rewind_is_not_followed() {
    let (mut world, events) = before().await;
    events.send(expired()).unwrap();
    let call = world.calls.recv().await.unwrap();
    world.cache.history().went_back(0);
    call.answer(&list(1000, &[object("x", "a", 900), object("y", "b", 950)]));
    world.lists(1100, &[object("y", "b", 950)]).await;
    for step in ["b@950>b@950", "a@900>"] {
        world.hears(step).await;
    }
    world.watches(1100).await;
}
