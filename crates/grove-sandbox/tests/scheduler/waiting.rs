//! Gangs that do not fit wait, and stand in nobody's way.

use serde_json::json;

use crate::world::{RACK, World};

#[tokio::test(start_paused = true)]
async fn a_gang_waits_until_capacity_is_freed() {
    let world = World::new("racks=1,hosts=3,gpus=4");
    world.pod_with("other", 4, json!({ "nodeName": "rack-0-node-1" }));
    world.gang("g", 3, 4, json!({}));
    world.settle().await;
    assert_eq!(world.bound("g").len(), 0);
    // A pod that fits is not held up by it.
    world.pod("small", 4);
    world.settle().await;
    assert!(world.node_of("small").is_some());
    world.delete("pods", "small");
    world.settle().await;
    assert_eq!(world.bound("g").len(), 0);
    world.delete("pods", "other");
    world.settle().await;
    assert_eq!(world.bound("g").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_new_node_or_a_lower_minimum_helps() {
    let world = World::new("racks=1,hosts=2,gpus=4");
    world.gang("g", 3, 4, json!({}));
    world.gang("h", 4, 4, json!({}));
    world.settle().await;
    assert_eq!((world.bound("g").len(), world.bound("h").len()), (0, 0));
    world.patch(
        "podgroups.scheduling.k8s.io",
        "h",
        json!({ "spec": { "schedulingPolicy": { "gang": { "minCount": 1 } } } }),
    );
    world.settle().await;
    assert_eq!((world.bound("g").len(), world.bound("h").len()), (0, 2));
    for name in ["n1", "n2", "n3"] {
        world.node(name, &std::collections::BTreeMap::new(), 4);
    }
    world.settle().await;
    // The older one first, then what is left over of the younger one: five nodes in all.
    assert_eq!((world.bound("g").len(), world.bound("h").len()), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn two_gangs_that_compete_are_placed_one_after_the_other() {
    let mut world = World::stopped("racks=1,hosts=4,gpus=4");
    // Their pods are created alternately.
    for gang in ["a", "b"] {
        world.group(gang, 3, json!({}));
    }
    for number in 0..3 {
        for gang in ["a", "b"] {
            world.member(gang, &format!("{gang}-{number}"), 4);
        }
    }
    world.start();
    world.settle().await;
    let mut counts = [world.bound("a").len(), world.bound("b").len()];
    counts.sort_unstable();
    assert_eq!(counts, [0, 3]);
    let (first, second) = if world.bound("a").is_empty() { ("b", "a") } else { ("a", "b") };
    for number in 0..3 {
        world.delete("pods", &format!("{first}-{number}"));
    }
    world.settle().await;
    assert_eq!(world.bound(second).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn higher_priority_goes_first() {
    let mut world = World::stopped("racks=1,hosts=2,gpus=4");
    world.gang("low", 2, 4, json!({}));
    world.gang("high", 2, 4, json!({ "priority": 10, "preemptionPolicy": "PreemptLowerPriority" }));
    world.start();
    world.settle().await;
    assert_eq!((world.bound("high").len(), world.bound("low").len()), (2, 0));
    assert!(world.pod_condition("low-0", "DisruptionTarget").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_quiet_cluster_sees_no_writes_and_no_looks() {
    let world = World::new("racks=2,hosts=2,gpus=4");
    world.gang("g", 5, 4, json!({}));
    world.gang("runs", 2, 4, json!({}));
    world.settle().await;
    let (revision, work) = (world.server.store().revision(), world.work());
    world.settle().await;
    // What changes nothing for anybody: a heartbeat.
    world.patch("nodes", "rack-0-node-0", json!({ "metadata": { "annotations": { "beat": "1" } } }));
    world.settle().await;
    assert_eq!(world.server.store().revision(), revision + 1);
    assert_eq!(world.work(), work);
    // A change that cannot help: a node too small for one pod of the gang.
    world.node("tiny", &std::collections::BTreeMap::new(), 1);
    world.settle().await;
    assert_eq!(world.work().looks, work.looks);
}

#[tokio::test(start_paused = true)]
async fn work_grows_with_what_changes() {
    let world = World::new("racks=20,hosts=10,gpus=8");
    world.pod("first", 8);
    world.settle().await;
    let before = world.work();
    for number in 0..100 {
        world.gang(
            &format!("g{number}"),
            2,
            4,
            json!({ "schedulingConstraints": { "topology": [{ "key": RACK }] } }),
        );
        world.settle().await;
    }
    let after = world.work();
    assert_eq!(after.searches - before.searches, 100, "one search for each gang");
    // Each binding is counted when it is assumed; 200 nodes are not added up 100 times.
    let summed = after.nodes_summed - before.nodes_summed;
    assert!(summed <= 400, "{summed}");
}

#[tokio::test(start_paused = true)]
async fn what_is_true_of_one_pod_is_true_of_all_that_are_alike() {
    let mut world = World::stopped("hosts=2,gpus=4");
    for number in 0..300 {
        world.pod(&format!("p-{number}"), 4);
    }
    world.start();
    world.settle().await;
    let bound = (0..300).filter(|it| world.node_of(&format!("p-{it}")).is_some()).count();
    assert_eq!(bound, 2);
    assert!(world.work().searches <= 4, "{:?}", world.work());
    assert_eq!(world.why("p-299"), "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
}
