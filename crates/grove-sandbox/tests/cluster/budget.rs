//! How much work many pods are, counted.

use serde_json::json;

use crate::world::{World, is_ready};

const NODES: usize = 500;
const PODS: usize = 5_000;

#[tokio::test(start_paused = true)]
async fn work_for_many_pods_is_that_for_one_times_their_number() {
    let world = World::of("racks=50,hosts=10,gpus=8").await;
    world.pass(60.0).await;
    // Two thirds of all writes, which other tests count.
    world.sandbox.parts().stop("events").await;
    let name = |number: usize| format!("p-{number}");
    for number in 0..PODS {
        let node = format!("rack-{}-node-{}", number % NODES / 10, number % 10);
        world.pod(&name(number), &node, json!({}));
    }
    world.pass(60.0).await;
    assert!((0..PODS).all(|it| is_ready(&world.get_pod(&name(it)))));
    let count = world.sandbox.work_count();
    assert!(count.pod_reconciles <= 3 * PODS as u64, "{count:?}");
    assert_eq!(world.writes_to("pods").len(), PODS, "one write for each");
    assert_eq!(world.writes_to("nodes").len(), 2 * NODES, "create, and conditions");

    // One node is lost and returns: its pods are looked at, and no others.
    let before = world.sandbox.work_count();
    world.sandbox.faults().lose_node("rack-7-node-3").await.unwrap();
    world.pass(60.0).await;
    world.sandbox.faults().return_node("rack-7-node-3").await.unwrap();
    world.pass(60.0).await;
    let after = world.sandbox.work_count();
    let on_node = (PODS / NODES) as u64;
    assert_eq!(after.pods_found_by_node - before.pods_found_by_node, on_node);
    assert!(after.pod_reconciles - before.pod_reconciles <= 6 * on_node, "{before:?} {after:?}");
    // Not ready, and ready again.
    assert_eq!(world.writes_to("pods").len() - PODS, 2 * (PODS / NODES));
    let quiet = world.writes();
    world.pass(3_600.0).await;
    assert_eq!(world.writes(), quiet);
}
