//! Nodes that are lost, cordoned and drained; pods that are made to fail.

use serde_json::{Value, json};

use crate::world::{World, condition, is_ready};

const UNREACHABLE: [&str; 2] =
    ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"];

#[tokio::test(start_paused = true)]
async fn a_lost_node_is_marked_after_its_grace_period_and_comes_back() {
    let world = World::of("hosts=2").await;
    world.pod("stays", "node-0", json!({}));
    world.pod("deleted", "node-0", json!({}));
    world.pod("elsewhere", "node-1", json!({}));
    world.pass(1.0).await;
    world.sandbox.faults().lose_node("node-0").await.unwrap();
    world.pass(49.0).await;
    assert!(is_ready(&world.node("node-0")) && is_ready(&world.get_pod("stays")), "nobody has noticed yet");
    world.pass(2.0).await;
    let node = world.node("node-0");
    assert_eq!(condition(&node, "Ready"), "Unknown");
    assert_eq!(condition(&node, "MemoryPressure"), "Unknown");
    assert_eq!(world.taints("node-0"), UNREACHABLE);
    assert!(!is_ready(&world.get_pod("stays")));
    assert_eq!(world.get_pod("stays")["status"]["phase"], "Running");
    assert!(is_ready(&world.get_pod("elsewhere")) && world.taints("node-1").is_empty());
    // What is deleted now stays until the kubelet is back.
    world.delete("pods", "deleted");
    world.pass(120.0).await;
    assert!(world.get_pod("deleted")["metadata"]["deletionTimestamp"].is_string());

    world.sandbox.faults().return_node("node-0").await.unwrap();
    world.pass(1.0).await;
    assert!(is_ready(&world.node("node-0")) && world.taints("node-0").is_empty());
    assert!(is_ready(&world.get_pod("stays")) && !world.has_pod("deleted"));
    let before = world.writes();
    world.pass(3_600.0).await;
    assert_eq!(world.writes(), before, "its pods are not evicted any more, and all is quiet");
}

#[tokio::test(start_paused = true)]
async fn a_short_silence_is_not_noticed() {
    let world = World::of("hosts=1").await;
    world.sandbox.faults().lose_node("node-0").await.unwrap();
    world.pass(40.0).await;
    world.sandbox.faults().return_node("node-0").await.unwrap();
    world.pass(30.0).await;
    world.sandbox.faults().lose_node("node-0").await.unwrap();
    world.pass(40.0).await;
    assert!(is_ready(&world.node("node-0")), "two short silences are not a long one");
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_lost_node_are_evicted_when_their_tolerations_end() {
    let world = World::of("hosts=1").await;
    let tolerate = |seconds: Value| {
        let mut toleration =
            json!({ "key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute" });
        toleration["tolerationSeconds"] = seconds;
        json!({ "tolerations": [toleration] })
    };
    world.pod("default", "node-0", json!({}));
    world.pod_with("short", "node-0", json!({}), tolerate(json!(5)));
    world.pod_with("always", "node-0", json!({}), tolerate(Value::Null));
    world.pass(1.0).await;
    world.sandbox.faults().lose_node("node-0").await.unwrap();
    let is_deleted = |name: &str| world.get_pod(name)["metadata"]["deletionTimestamp"].is_string();
    world.pass(52.0).await;
    assert!(!is_deleted("short"));
    world.pass(5.0).await;
    assert!(is_deleted("short") && !is_deleted("default"));
    world.pass(290.0).await;
    assert!(!is_deleted("default"));
    world.pass(10.0).await;
    assert!(is_deleted("default") && !is_deleted("always"));
    assert_eq!(condition(&world.get_pod("default"), "DisruptionTarget"), "True");
    // The kubelet ends them when it is back; the third one is ready again.
    world.sandbox.faults().return_node("node-0").await.unwrap();
    world.pass(1.0).await;
    assert!(!world.has_pod("default") && !world.has_pod("short") && is_ready(&world.get_pod("always")));
}

#[tokio::test(start_paused = true)]
async fn pods_that_do_not_tolerate_a_taint_go_at_once() {
    let world = World::of("hosts=1").await;
    world.pod("goes", "node-0", json!({}));
    let toleration = json!({ "tolerations": [{ "key": "maintenance", "operator": "Exists" }] });
    world.pod_with("stays", "node-0", json!({}), toleration);
    world.pass(1.0).await;
    world.patch(
        "nodes",
        "node-0",
        json!({ "spec": { "taints": [{ "key": "maintenance", "effect": "NoExecute" }] } }),
    );
    world.pass(1.0).await;
    assert!(!world.has_pod("goes") && world.has_pod("stays"));
    // Also one that comes later.
    world.pod("late", "node-0", json!({}));
    world.pass(1.0).await;
    assert!(!world.has_pod("late"));
}

#[tokio::test(start_paused = true)]
async fn lost_by_the_label_of_scenarios() {
    let world = World::of("hosts=1").await;
    world.patch("nodes", "node-0", json!({ "metadata": { "labels": { "e2e.grove.io/lost": "true" } } }));
    world.pass(51.0).await;
    assert_eq!(world.taints("node-0"), UNREACHABLE);
    world.patch("nodes", "node-0", json!({ "metadata": { "labels": { "e2e.grove.io/lost": null } } }));
    world.pass(1.0).await;
    assert!(is_ready(&world.node("node-0")) && world.taints("node-0").is_empty());
}

#[tokio::test(start_paused = true)]
async fn nothing_starts_on_a_lost_node() {
    let world = World::of("hosts=1").await;
    world.sandbox.faults().lose_node("node-0").await.unwrap();
    world.pass(1.0).await;
    world.pod("p", "node-0", json!({}));
    world.pass(10.0).await;
    assert_eq!(world.get_pod("p")["status"]["phase"], "Pending");
    world.sandbox.faults().return_node("node-0").await.unwrap();
    world.pass(1.0).await;
    assert!(is_ready(&world.get_pod("p")));
}

#[tokio::test(start_paused = true)]
async fn a_cordoned_node_is_tainted_and_a_drained_one_is_empty() {
    let world = World::of("hosts=2").await;
    let daemon = json!({ "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d" });
    world.pod("a", "node-0", json!({}));
    world.pod("b", "node-1", json!({}));
    world.pod_with("daemon", "node-0", json!({ "ownerReferences": [daemon] }), json!({}));
    world.pass(1.0).await;
    let faults = world.sandbox.faults();
    faults.cordon("node-0").await.unwrap();
    world.pass(1.0).await;
    assert_eq!(world.node("node-0")["spec"]["unschedulable"], true);
    assert_eq!(world.taints("node-0"), ["node.kubernetes.io/unschedulable:NoSchedule"]);
    assert!(world.has_pod("a"), "a cordon evicts nothing");
    faults.uncordon("node-0").await.unwrap();
    world.pass(1.0).await;
    assert!(world.taints("node-0").is_empty());
    let drained = faults.drain("node-0").await.unwrap();
    assert_eq!(drained.evicted, [("default".to_owned(), "a".to_owned())]);
    assert!(drained.refused.is_empty());
    world.pass(1.0).await;
    assert!(!world.has_pod("a") && world.has_pod("b") && world.has_pod("daemon"));
    assert_eq!(world.taints("node-0").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn pods_fail_crash_and_become_unready() {
    let world = World::of("hosts=1").await;
    for name in ["fails", "crashes", "unready"] {
        world.pod(name, "node-0", json!({}));
    }
    world.pass(30.0).await;
    let faults = world.sandbox.faults();
    faults.fail_pod("default", "fails", 137).await.unwrap();
    faults.crash_pod("default", "crashes").await.unwrap();
    faults.set_pod_ready("default", "unready", false).await.unwrap();
    world.pass(1.0).await;
    let fails = world.get_pod("fails");
    assert_eq!(fails["status"]["phase"], "Failed");
    assert_eq!(fails["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 137);
    let crashes = world.get_pod("crashes");
    assert_eq!(crashes["status"]["containerStatuses"][0]["state"]["waiting"]["reason"], "CrashLoopBackOff");
    assert!(crashes["metadata"]["annotations"].get("sandbox.grove.io/crash").is_none(), "it is done");
    assert!(!is_ready(&world.get_pod("unready")));
    faults.set_pod_ready("default", "unready", true).await.unwrap();
    world.pass(10.0).await;
    assert!(is_ready(&world.get_pod("unready")));
    let crashes = world.get_pod("crashes");
    assert!(is_ready(&crashes));
    assert_eq!(crashes["status"]["containerStatuses"][0]["restartCount"], 1);
}
