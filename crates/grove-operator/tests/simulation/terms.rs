//! Terms of leadership: what a follower keeps, and what becomes of a leader that loses its lease.

use grove_runtime::Term;
use serde_json::json;

use crate::world::{World, example};

const SETS: &str = "podcliquesets.grove.io";
const QUEUES: [&str; 11] = [
    "podcliqueset",
    "podcliquescalinggroup",
    "podclique",
    "podgang",
    "status",
    "podcliqueset-status",
    "recovery",
    "schedulerbackend",
    "clustertopologybinding",
    "topology",
    "resourcequota",
];

/// How many keys each queue ever took.
fn added(world: &World) -> Vec<String> {
    let text = world.metrics();
    let adds = |queue: &str| {
        let begin = format!("workqueue_adds_total{{name=\"{queue}\"}} ");
        let count = text.lines().find_map(|line| line.strip_prefix(&begin)).expect("a metric");
        format!("{queue} {count}")
    };
    QUEUES.map(adds).to_vec()
}

#[tokio::test(start_paused = true)]
async fn a_follower_queues_nothing_and_begins_with_everything() {
    let mut world = World::new(1);
    world.follow();
    world.create(SETS, example(1));
    world.settle().await;
    world.patch(SETS, "inf", json!({ "spec": { "replicas": 2 } }));
    world.settle().await;
    assert_eq!(added(&world), QUEUES.map(|queue| format!("{queue} 0")));
    assert_eq!(world.names("podgangs.scheduler.grove.io"), [""; 0]);
    world.lead(Term::default());
    world.settle().await;
    let status = |world: &World| world.get(SETS, "inf").field("/status/availableReplicas").cloned();
    assert_eq!(status(&world), Some(json!(2)));
}

/// An outage of the API server, say: the process goes on as a follower, and leads again.
#[tokio::test(start_paused = true)]
async fn who_loses_a_term_stops_at_once_and_can_lead_again() {
    let mut world = World::new(2);
    world.follow();
    let first = Term::default();
    world.lead(first.clone());
    world.create(SETS, example(1));
    world.settle().await;
    let pods = world.list("pods").len();

    // In the middle of an update of the count.
    world.patch(SETS, "inf", json!({ "spec": { "replicas": 2 } }));
    first.lost().cancel();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let revision = world.server.store().revision();
    tokio::time::sleep(std::time::Duration::from_mins(10)).await;
    assert_eq!(world.server.store().revision(), revision, "nothing is written");
    let before = added(&world);
    world.patch(SETS, "inf", json!({ "metadata": { "labels": { "seen": "by-followers" } } }));
    world.settle().await;
    assert_eq!(added(&world), before, "nothing is queued");
    assert_eq!(world.list("pods").len(), pods);

    world.lead(Term::default());
    world.settle().await;
    assert_eq!(world.list("pods").len(), 2 * pods);
    assert_eq!(world.get(SETS, "inf").field("/status/availableReplicas"), Some(&json!(2)));
}
