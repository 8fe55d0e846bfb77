//! What is said of pods and groups that have no place.

use serde_json::json;

use crate::world::{RACK, World};

#[tokio::test(start_paused = true)]
async fn a_gang_says_what_it_lacks_in_the_best_rack() {
    let world = World::new("racks=3,hosts=2,gpus=4");
    for (pod, node, gpus) in [("x", "rack-0-node-0", 4), ("y", "rack-1-node-0", 2), ("z", "rack-1-node-1", 1)]
    {
        world.pod_with(pod, gpus, json!({ "nodeName": node }));
    }
    world.pod_with("w", 3, json!({ "nodeName": "rack-2-node-1" }));
    world.gang("g", 4, 2, json!({ "schedulingConstraints": { "topology": [{ "key": RACK }] } }));
    world.settle().await;
    let lacks = "needs 8 nvidia.com/gpu in one rack; the best rack, rack-1, has 5 free";
    let better = "needs 8 nvidia.com/gpu in one rack; the best rack, rack-2, has 5 free";
    let (status, reason, message) = world.said_of("g").unwrap();
    assert_eq!((status.as_str(), reason.as_str()), ("False", "Unschedulable"));
    let lacks = if message.contains("rack-1") { lacks } else { better };
    assert_eq!(message, format!("pod group is unschedulable, {lacks}"));
    assert_eq!(
        world.why("g-0"),
        format!(
            "0/6 nodes are available: 2 Insufficient nvidia.com/gpu, 4 node(s) didn't have room for the whole pod group. g: \
             {lacks}."
        )
    );
    let events = world.events("PodGroup", "g");
    assert_eq!(events, [("FailedScheduling".to_owned(), world.why("g-0"))], "one for the whole gang");
    // Each pod once, and the group once.
    assert_eq!((world.writes("pods"), world.writes("podgroups.scheduling.k8s.io")), (4, 1));
    // The sentence follows what changes, and what did not change is not written.
    world.delete("pods", "z");
    world.settle().await;
    assert_eq!(
        world.said_of("g").unwrap().2,
        "pod group is unschedulable, needs 8 nvidia.com/gpu in one rack; the best rack, rack-1, has 6 free"
    );
    assert_eq!(world.writes("podgroups.scheduling.k8s.io"), 2);
    world.delete("pods", "y");
    world.settle().await;
    assert_eq!(world.bound("g").len(), 4);
    assert_eq!(world.said_of("g").unwrap().0, "True");
    assert_eq!(world.pod_condition("g-0", "PodScheduled").unwrap().0, "True");
}

#[tokio::test(start_paused = true)]
async fn the_group_that_does_not_fit_is_named() {
    let world = World::new("racks=2,hosts=2,gpus=4");
    world.composite("root", 2, json!({}));
    let below = || json!({ "parentCompositePodGroupName": "root" });
    world.group("a", 1, below());
    world.group("b", 1, below());
    world.member("a", "a-0", 1);
    world.member("b", "b-0", 8);
    world.settle().await;
    let message = "needs 1 pod: no node fits; 4 nodes have too few nvidia.com/gpu";
    assert_eq!(world.said_of("b").unwrap().2, format!("pod group is unschedulable, {message}"));
    assert_eq!(world.said_of("a").unwrap().2, format!("pod group is unschedulable, b: {message}"));
    assert_eq!(
        world.why("a-0"),
        format!("0/4 nodes are available: 4 node(s) didn't have room for the whole pod group. b: {message}.")
    );
    assert_eq!(
        world.why("b-0"),
        format!("0/4 nodes are available: 4 Insufficient nvidia.com/gpu. b: {message}.")
    );
}

#[tokio::test(start_paused = true)]
async fn pods_that_differ_are_an_error() {
    let world = World::new("racks=1,hosts=2,gpus=4");
    world.group("g", 2, json!({}));
    world.member("g", "a", 1);
    world.member_with("g", "b", 1, json!({ "priority": 5 }));
    world.settle().await;
    let message = "all pods in a single pod group should have the same priority as the pod group's priority, got 5 and 0";
    let told = ("False".to_owned(), "SchedulerError".to_owned(), message.to_owned());
    assert_eq!(world.said_of("g"), Some(told.clone()));
    assert_eq!(world.pod_condition("a", "PodScheduled"), Some(told));
    assert_eq!(world.bound("g").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn no_nodes_at_all() {
    let world = World::new("hosts=1,gpus=4");
    world.lose_node("node-0");
    world.pod("p", 1);
    world.settle().await;
    assert_eq!(world.why("p"), "0/0 nodes are available: no nodes.");
}
