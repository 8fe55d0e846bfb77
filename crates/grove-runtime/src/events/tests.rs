//! What is posted, what is not, and that publishing never waits.

use serde_json::json;
use tokio::sync::mpsc;

use super::*;
use crate::mock::{self, Call};

fn about(uid: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".into()),
        kind: Some("Pod".into()),
        namespace: Some("ns".into()),
        name: Some("x".into()),
        uid: Some(uid.into()),
        ..ObjectReference::default()
    }
}

fn start() -> (Events, mpsc::UnboundedReceiver<Call>, EventMetrics, CancellationToken) {
    let (client, calls) = mock::server();
    let (metrics, stop) = (EventMetrics::default(), CancellationToken::new());
    let writer = Writer::new(client, "grove");
    let events =
        Events::start_with_metrics(&writer, "grove".into(), "grove-0".into(), stop.clone(), metrics.clone());
    (events, calls, metrics, stop)
}

fn tell(events: &Events, uid: &str, note: &str) {
    events.publish(about(uid), EventKind::Warning, "Failed", "Create", note.into());
}

#[tokio::test]
async fn an_event_says_everything_the_api_asks_for() {
    let (events, mut calls, ..) = start();
    tell(&events, "u", "no luck");
    let call = calls.recv().await.unwrap();
    assert_eq!(call.line(), "POST /apis/events.k8s.io/v1/namespaces/ns/events?&fieldManager=grove");
    assert_eq!(call.lane, Some(Lane::Event));
    let name = call.body["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("x.") && name.len() < 40, "{name}");
    assert!(call.body["eventTime"].is_string());
    for (field, want) in [
        ("type", "Warning"),
        ("reason", "Failed"),
        ("action", "Create"),
        ("note", "no luck"),
        ("reportingController", "grove"),
        ("reportingInstance", "grove-0"),
        ("kind", "Event"),
        ("apiVersion", "events.k8s.io/v1"),
    ] {
        assert_eq!(call.body[field], want, "{field}");
    }
    assert_eq!(call.body["regarding"]["uid"], "u");
}

#[tokio::test]
async fn cluster_scoped_objects_have_their_events_in_default() {
    let (events, mut calls, ..) = start();
    let regarding = ObjectReference { namespace: None, ..about("u") };
    events.publish(regarding, EventKind::Normal, "Made", "Make", String::new());
    let call = calls.recv().await.unwrap();
    assert!(call.target.contains("/namespaces/default/events"), "{}", call.target);
    assert_eq!(call.body["type"], "Normal");
}

#[tokio::test(start_paused = true)]
async fn the_same_is_told_once_and_a_failure_does_not_count() {
    let (events, mut calls, metrics, _stop) = start();
    tell(&events, "u", "a");
    calls.recv().await.unwrap().refuse(403, "Forbidden", "no");
    tell(&events, "u", "a");
    calls.recv().await.unwrap().answer(&json!({"metadata": {}}));
    tell(&events, "u", "a");
    tell(&events, "v", "a");
    let call = calls.recv().await.unwrap();
    assert_eq!(call.body["regarding"]["uid"], "v", "the third one was a repeat");
    call.answer(&json!({"metadata": {}}));
    tokio::time::advance(std::time::Duration::from_mins(10)).await;
    tell(&events, "u", "a");
    calls.recv().await.unwrap().answer(&json!({"metadata": {}}));
    tell(&events, "w", "a");
    calls.recv().await.unwrap();
    assert_eq!((metrics.posted.get(), metrics.failed.get(), metrics.dropped.get()), (3, 1, 0));
}

#[tokio::test]
async fn too_many_are_dropped_and_nobody_waits() {
    let (events, mut calls, metrics, _stop) = start();
    tell(&events, "first", "a");
    let stuck = calls.recv().await.unwrap();
    for n in 0..WAITING + 5 {
        tell(&events, &n.to_string(), "a");
    }
    assert_eq!(metrics.dropped.get(), 5);
    stuck.answer(&json!({"metadata": {}}));
    assert_eq!(calls.recv().await.unwrap().body["regarding"]["uid"], "0", "in order");
}

#[tokio::test]
async fn a_namespace_with_thousands_of_events_silences_no_other() {
    let (events, mut calls, metrics, _stop) = start();
    tell(&events, "first", "a");
    let stuck = calls.recv().await.unwrap();
    for n in 0..2 * WAITING {
        tell(&events, &n.to_string(), "a");
    }
    let regarding = ObjectReference { namespace: Some("other".into()), ..about("victim") };
    events.publish(regarding, EventKind::Warning, "Failed", "Create", "a".into());
    assert_eq!(metrics.dropped.get(), 1 + WAITING as u64);
    stuck.answer(&json!({"metadata": {}}));
    for want in ["0", "victim"] {
        let call = calls.recv().await.unwrap();
        assert_eq!(call.body["regarding"]["uid"], want);
        call.answer(&json!({"metadata": {}}));
    }
}

#[tokio::test]
async fn stopping_ends_the_task() {
    let (events, mut calls, metrics, stop) = start();
    stop.cancel();
    // The task holds the only client; when it is gone, there can be no more calls.
    assert!(calls.recv().await.is_none());
    tell(&events, "u", "a");
    assert_eq!(metrics.dropped.get(), 1);
    Events::none().publish(about("u"), EventKind::Normal, "a", "b", "c".into());
}

#[test]
fn notes_are_cut_between_characters() {
    assert_eq!(cut("abc".into(), 1_024), "abc");
    assert_eq!(cut("x".repeat(1_030), 1_024).len(), 1_024);
    assert_eq!(cut(format!("{}ä", "x".repeat(1_023)), 1_024).len(), 1_023);
}

#[tokio::test]
async fn long_names_leave_room() {
    let (events, mut calls, ..) = start();
    let regarding = ObjectReference { name: Some("x".repeat(253)), ..about("u") };
    events.publish(regarding, EventKind::Normal, "Made", "Make", String::new());
    let call = calls.recv().await.unwrap();
    assert!(call.body["metadata"]["name"].as_str().unwrap().len() <= 253);
}
