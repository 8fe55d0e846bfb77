//! Gangs are bound as a whole, where they ask to be.

use serde_json::json;

use crate::world::{BLOCK, RACK, World};

fn one(key: &str) -> serde_json::Value {
    json!({ "schedulingConstraints": { "topology": [{ "key": key }] } })
}

#[tokio::test(start_paused = true)]
async fn single_pods_go_where_they_may() {
    let world = World::new("racks=2,hosts=2,gpus=8");
    world.pod("plain", 1);
    world.pod_with("elsewhere", 1, json!({ "nodeSelector": { RACK: "rack-1" } }));
    world.pod_with("foreign", 1, json!({ "schedulerName": "other" }));
    world.pod_with("given", 8, json!({ "nodeName": "rack-0-node-0" }));
    world.pod_with("gated", 1, json!({ "schedulingGates": [{ "name": "g" }] }));
    world.settle().await;
    assert!(world.node_of("plain").is_some());
    assert!(world.node_of("elsewhere").unwrap().starts_with("rack-1"));
    assert_eq!(world.node_of("foreign"), None);
    let (_, reason, _) = world.pod_condition("gated", "PodScheduled").unwrap();
    assert_eq!(reason, "SchedulingGated", "the API server's words stay");
    assert_eq!(world.events("Pod", "plain").len(), 1);
    assert!(world.events("Pod", "plain")[0].1.starts_with("Successfully assigned ns/plain to rack-"));
    world.patch("pods", "gated", json!({ "spec": { "schedulingGates": null } }));
    world.settle().await;
    assert!(world.node_of("gated").is_some());
}

#[tokio::test(start_paused = true)]
async fn nodes_are_respected() {
    let world = World::new("hosts=4,gpus=4");
    world.patch("nodes", "node-0", json!({ "spec": { "unschedulable": true } }));
    let taint = json!([{ "key": "gpu", "value": "x", "effect": "NoSchedule" }]);
    world.patch("nodes", "node-1", json!({ "spec": { "taints": taint } }));
    let ports = json!([{ "name": "c", "image": "i", "ports": [{ "containerPort": 80, "hostPort": 80 }] }]);
    for name in ["a", "b", "c"] {
        world.pod_with(name, 0, json!({ "containers": ports }));
    }
    world.settle().await;
    let mut nodes: Vec<_> = ["a", "b", "c"].map(|it| world.node_of(it)).into();
    nodes.sort();
    assert_eq!(
        nodes,
        [None, Some("node-2".to_owned()), Some("node-3".to_owned())],
        "one pod per node and port"
    );
    world.pod_with("tolerant", 4, json!({ "tolerations": [{ "key": "gpu", "operator": "Exists" }], "nodeSelector": { "kubernetes.io/hostname": "node-1" } }));
    world.settle().await;
    assert_eq!(world.node_of("tolerant").as_deref(), Some("node-1"));
    world.patch("nodes", "node-0", json!({ "spec": { "unschedulable": null } }));
    world.settle().await;
    assert!(["a", "b", "c"].iter().all(|it| world.node_of(it).is_some()), "the node is open again");
}

#[tokio::test(start_paused = true)]
async fn pods_keep_apart_and_together() {
    let world = World::new("racks=2,hosts=2,gpus=8");
    let term = |app: &str, key: &str| {
        json!({ "requiredDuringSchedulingIgnoredDuringExecution": [
        { "topologyKey": key, "labelSelector": { "matchLabels": { "name": app } } } ] })
    };
    world.pod("a", 1);
    world.settle().await;
    world.pod_with("far", 1, json!({ "affinity": { "podAntiAffinity": term("a", RACK) } }));
    world.pod_with("near", 1, json!({ "affinity": { "podAffinity": term("a", RACK) } }));
    world.pod_with("late", 1, json!({ "affinity": { "podAffinity": term("later", RACK) } }));
    world.settle().await;
    let rack = |pod: &str| world.node_of(pod).map(|it| it[..6].to_owned());
    assert_ne!(rack("far"), rack("a"));
    assert_eq!(rack("near"), rack("a"));
    assert_eq!(rack("late"), None, "nobody is there whom it could be near");
    world.pod("later", 1);
    world.settle().await;
    assert_eq!(rack("late"), rack("later"));
}

#[tokio::test(start_paused = true)]
async fn a_flat_gang_is_bound_in_one_decision() {
    let world = World::new("racks=2,hosts=2,gpus=4");
    world.group("g", 3, json!({}));
    world.members("g", 2, 4);
    world.settle().await;
    assert_eq!(world.bound("g").len(), 0, "one pod of the minimum does not exist yet");
    assert_eq!(world.writes("pods"), 0, "nothing is said while pods are awaited");
    assert_eq!(world.said_of("g"), None);
    world.member("g", "g-2", 4);
    world.settle().await;
    assert_eq!(world.bound("g").len(), 3);
    let (status, reason, _) = world.said_of("g").unwrap();
    assert_eq!((status.as_str(), reason.as_str()), ("True", "Scheduled"));
    let events = world.events("PodGroup", "g");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].0, "Scheduled");
    assert!(events[0].1.starts_with("Bound 3 pods to 3 nodes: rack-0-node-0, "), "{}", events[0].1);
    // Per pod one binding, and one condition of the group.
    assert_eq!((world.writes("pods"), world.writes("podgroups.scheduling.k8s.io")), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn nested_gangs_keep_every_level() {
    let world = World::new("blocks=2,racks=2,hosts=2,gpus=4");
    // Block 0 has a rack that is too full for the group b.
    world.pod_with("other", 4, json!({ "nodeName": "rack-0-node-0" }));
    world.composite("root", 2, one(BLOCK));
    for group in ["a", "b"] {
        let mut spec = one(RACK);
        spec["parentCompositePodGroupName"] = json!("root");
        world.group(group, 2, spec);
    }
    world.members("a", 2, 4);
    world.settle().await;
    assert_eq!(world.bound("a").len(), 0, "the other group of the gang is not there yet");
    world.members("b", 2, 4);
    world.settle().await;
    assert_eq!((world.bound("a").len(), world.bound("b").len()), (2, 2));
    assert_eq!(world.domains("a", BLOCK), ["block-1"]);
    assert_eq!(world.domains("b", BLOCK), ["block-1"]);
    assert_eq!(world.domains("a", RACK).len(), 1);
    assert_eq!(world.domains("b", RACK).len(), 1);
    assert_eq!(world.said_of("a").unwrap().0, "True");
    assert_eq!(world.said_of("b").unwrap().0, "True");
    assert_eq!(world.events("CompositePodGroup", "root").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn groups_may_come_in_any_order() {
    let world = World::new("racks=1,hosts=4,gpus=4");
    world.members("a", 2, 4);
    world.settle().await;
    assert_eq!(world.writes("pods"), 0);
    world.group("a", 2, json!({ "parentCompositePodGroupName": "root" }));
    world.settle().await;
    assert_eq!(world.bound("a").len(), 0, "its root does not exist");
    world.composite("root", 1, json!({}));
    world.settle().await;
    assert_eq!(world.bound("a").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_gated_pod_holds_back_its_whole_gang() {
    let world = World::new("racks=1,hosts=4,gpus=4");
    world.group("g", 1, json!({}));
    world.members("g", 2, 4);
    world.member_with("g", "late", 4, json!({ "schedulingGates": [{ "name": "x" }] }));
    world.settle().await;
    assert_eq!((world.bound("g").len(), world.writes("pods")), (0, 0));
    world.patch("pods", "late", json!({ "spec": { "schedulingGates": null } }));
    world.settle().await;
    assert_eq!(world.bound("g").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn pods_above_the_minimum_follow_within_the_domain() {
    let world = World::new("racks=2,hosts=2,gpus=4");
    world.group("g", 2, one(RACK));
    world.members("g", 2, 2);
    world.settle().await;
    let rack = world.domains("g", RACK);
    assert_eq!(rack.len(), 1);
    for number in 2..5 {
        world.member("g", &format!("g-{number}"), 2);
    }
    world.settle().await;
    assert_eq!(world.bound("g").len(), 4, "as many as the rack holds");
    assert_eq!(world.domains("g", RACK), rack);
    let waiting = ["g-2", "g-3", "g-4"].into_iter().find(|it| world.node_of(it).is_none()).unwrap();
    assert_eq!(
        world.why(waiting),
        "0/4 nodes are available: 2 Insufficient nvidia.com/gpu, 2 node(s) didn't match the topology domain of the pod group."
    );
    assert_eq!(world.said_of("g").unwrap().0, "True", "what was scheduled once stays so");
    world.delete("pods", "g-0");
    world.settle().await;
    assert!(world.node_of(waiting).is_some());
    assert_eq!(world.domains("g", RACK), rack);
}

#[tokio::test(start_paused = true)]
async fn a_preferred_block_is_used_where_it_can_be() {
    let near = |value: &str| {
        json!({ "affinity": { "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [
        { "weight": 100, "podAffinityTerm": { "topologyKey": BLOCK, "labelSelector": { "matchExpressions": [
            { "key": "name", "operator": "In", "values": (0..5).map(|it| format!("{value}-{it}")).collect::<Vec<_>>() } ] } } } ] } } })
    };
    let world = World::new("blocks=2,racks=1,hosts=3,gpus=4");
    world.pod_with("other", 4, json!({ "nodeName": "rack-0-node-1" }));
    for (gang, count) in [("fits", 3), ("large", 2)] {
        world.group(gang, count, json!({}));
        (0..count).for_each(|it| world.member_with(gang, &format!("{gang}-{it}"), 4, near(gang)));
        world.settle().await;
    }
    assert_eq!(world.domains("fits", BLOCK), ["block-1"]);
    assert_eq!(world.domains("large", BLOCK), ["block-0"]);
    let wide = World::new("blocks=2,racks=1,hosts=2,gpus=4");
    wide.group("wide", 3, json!({}));
    (0..3).for_each(|it| wide.member_with("wide", &format!("wide-{it}"), 4, near("wide")));
    wide.settle().await;
    assert_eq!(wide.bound("wide").len(), 3, "a preference does not keep it from running");
}
