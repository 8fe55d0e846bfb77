//! What `kubectl describe pod` shows.

use serde_json::json;

use crate::world::{World, is_ready};

fn reasons(world: &World, pod: &str) -> Vec<(String, i64)> {
    let mut all: Vec<(String, i64)> = world.events(pod).into_iter().map(|it| (it.0, it.2)).collect();
    all.sort();
    all
}

#[tokio::test(start_paused = true)]
async fn a_pod_has_few_events() {
    let world = World::of("hosts=1").await;
    let containers = json!({ "containers": [{ "name": "a", "image": "i" }, { "name": "b", "image": "i" }] });
    world.pod_with("p", "node-0", json!({}), containers);
    world.pass(1.0).await;
    world.delete("pods", "p");
    world.pass(1.0).await;
    let one = |it: &str| (it.to_owned(), 1);
    assert_eq!(reasons(&world, "p"), [one("Killing"), one("Pulled"), one("Started")]);
    let started = world.events("p").into_iter().find(|it| it.0 == "Started").unwrap();
    assert_eq!(started.1, "Started containers a, b");
}

#[tokio::test(start_paused = true)]
async fn repeated_events_are_counted_up() {
    let world = World::of("hosts=1").await;
    world.pod("p", "node-0", json!({ "e2e.grove.io/crash-after": "1s" }));
    world.pass(10.5).await;
    let back_off = ("BackOff".to_owned(), 5);
    assert!(reasons(&world, "p").contains(&back_off), "{:?}", world.events("p"));
    assert_eq!(world.events("p").len(), 3, "BackOff, Pulled and Started");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_annotation_is_a_warning_and_the_default_applies() {
    let world = World::of("hosts=1").await;
    let annotations =
        json!({ "sandbox.grove.io/ready-after": "3 seconds", "sandbox.grove.io/crash-atfer": "1s" });
    world.pod("p", "node-0", annotations);
    world.pass(1.0).await;
    assert!(is_ready(&world.get_pod("p")));
    let warnings = |world: &World| {
        let events = world.events("p").into_iter().filter(|it| it.0 == "InvalidAnnotation");
        let mut messages: Vec<(String, i64)> = events.map(|it| (it.1, it.2)).collect();
        messages.sort();
        messages
    };
    let unknown = "annotation sandbox.grove.io/crash-atfer is ignored: it is unknown, did you mean sandbox.grove.io/crash-after?";
    let wrong = "annotation sandbox.grove.io/ready-after: \"3 seconds\" is ignored: use a duration of at most a year, such as 3s, 1m30s or 250ms";
    let want = vec![(unknown.to_owned(), 1), (wrong.to_owned(), 1)];
    assert_eq!(warnings(&world), want);
    // It is said once, however often the pod changes.
    world.annotate("p", "example.com/touched", "1".into());
    world.pass(1.0).await;
    assert_eq!(warnings(&world), want);
    // Another wrong value is another warning.
    world.annotate("p", "sandbox.grove.io/ready-after", "soon".into());
    world.pass(1.0).await;
    assert_eq!(warnings(&world).len(), 3);
}
