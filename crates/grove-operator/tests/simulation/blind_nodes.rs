//! Nodes that the operator cannot see are not taken for lost, and many that fail at once are lost one by one.

use std::time::Duration;

use grove_apiserver::Action;
use grove_plan::node_loss::Patience;
use http::Method;
use k8s_openapi::jiff::SignedDuration;
use serde_json::json;

use crate::{
    node_loss::{PATIENCE, host, nodes, running, set, wait},
    workload::{SETS, created},
    world::World,
};

const EVIL: &str = "evil";
const HOUR: Duration = Duration::from_hours(1);
const FOR_EVER: Duration = Duration::from_hours(9_999);

fn watches_nodes(method: &Method, path: &str) -> bool {
    method == Method::GET && path.starts_with("/api/v1/nodes?") && path.contains("watch=true")
}

/// The cache has the nodes of the first list, and never hears of another.
#[tokio::test(start_paused = true)]
async fn pods_on_nodes_that_a_stalled_watch_does_not_show_stay() {
    for hold in [Duration::ZERO, HOUR] {
        let mut world = World::new(1);
        world.node_loss = Some(PATIENCE);
        world.delay = |method, path| if watches_nodes(method, path) { FOR_EVER } else { Duration::ZERO };
        world.build(1, 2);
        world.start();
        world.settle().await;
        // At once while the cache still looks current, and when it has been silent for long.
        tokio::time::sleep(hold).await;
        world.build_racks(1..2, 3);
        world.create(SETS, set());
        world.settle().await;
        let (before, made) = (nodes(&world), created(&world));
        assert_eq!(before.len(), 3);
        assert!(
            before.keys().any(|it| it.starts_with("r1")),
            "one is on a node that the cache does not know"
        );
        tokio::time::sleep(HOUR).await;
        world.settle().await;
        assert_eq!((nodes(&world), created(&world)), (before, made), "after {hold:?}");
    }
}

/// Not even where it happens to be right.
#[tokio::test(start_paused = true)]
async fn a_cache_that_heard_nothing_for_long_decides_nothing() {
    let mut world = running(6, 2, set()).await;
    let (before, node) = (nodes(&world), host(&world));
    world.kill();
    world.node_loss = Some(Patience { after: SignedDuration::from_mins(10), ..PATIENCE });
    world.taint(&node, "node.kubernetes.io/unreachable");
    world.delay = |method, path| if watches_nodes(method, path) { FOR_EVER } else { Duration::ZERO };
    world.start();
    world.settle().await;
    tokio::time::sleep(HOUR).await;
    world.settle().await;
    assert_eq!(nodes(&world), before);
}

/// Of a node in trouble too: what the cache says of it is old.
#[tokio::test(start_paused = true)]
async fn a_taint_in_a_cache_that_hears_nothing_ends_no_pod() {
    let mut world = World::new(2);
    world.node_loss = Some(PATIENCE);
    world.build(1, 4);
    world.start();
    world.create(SETS, set());
    world.settle().await;
    let (before, node) = (nodes(&world), host(&world));
    world.kill();
    world.taint(&node, "node.kubernetes.io/unreachable");
    world.delay = |method, path| if watches_nodes(method, path) { FOR_EVER } else { Duration::ZERO };
    world.start();
    world.settle().await;
    // It is well again, and only the API server knows.
    world.heal(&node);
    tokio::time::sleep(HOUR).await;
    world.settle().await;
    assert_eq!(nodes(&world), before);
}

/// Only 404 says that a node is gone.
#[tokio::test(start_paused = true)]
async fn a_node_that_cannot_be_read_is_not_lost() {
    let mut world = running(3, 2, set()).await;
    let (before, node) = (nodes(&world), host(&world));
    world.kill();
    let path: &'static str = format!("/api/v1/nodes/{node}").leak();
    world.forbidden = Some(path);
    world.start();
    world.settle().await;
    world.unplug(&node);
    tokio::time::sleep(HOUR).await;
    world.settle().await;
    assert_eq!(nodes(&world), before, "it may not be read");
    world.kill();
    world.forbidden = None;
    world.start();
    world.settle().await;
    wait(&world, 200).await;
    world.settle().await;
    assert!(!nodes(&world).contains_key(&node), "404");
}

/// Two of three nodes fail at the same time: nothing for five minutes, and then one after the other.
#[tokio::test(start_paused = true)]
async fn many_nodes_at_once_are_lost_one_by_one() {
    let mut world = World::new(4);
    (world.node_loss, world.tells) = (Some(PATIENCE), true);
    world.build(1, 9);
    world.start();
    world.create(SETS, set());
    world.settle().await;
    let (before, made) = (nodes(&world), created(&world));
    let spare = (0..9).map(|it| format!("r0-h{it}")).filter(|it| !before.contains_key(it)).take(3);
    let down: Vec<String> = before.keys().cloned().chain(spare).collect();
    for node in &down {
        world.silence(node);
    }
    wait(&world, 300).await;
    assert_eq!((nodes(&world), created(&world)), (before, made), "held");
    let events = world.list("events.events.k8s.io");
    let is_held = |it: &str| it == "NodeLossHeld";
    assert!(events.iter().any(|it| it.field("/reason").and_then(|it| it.as_str()).is_some_and(is_held)));
    let mut times = Vec::new();
    for second in 0..600 {
        let known = created(&world);
        wait(&world, 1).await;
        times.extend((known..created(&world)).map(|_| second));
    }
    assert_eq!(times.len(), 3, "all are lost in the end: {times:?}");
    assert!(times.windows(2).all(|it| it[1] - it[0] >= 25), "one after the other: {times:?}");
}

/// `spec.nodeName` is free text: a tenant has pods on nodes that never were, and they do not end. A real node of another tenant is
/// lost as if they were not there, also when its pods come to a node that was deleted.
#[tokio::test(start_paused = true)]
async fn invented_nodes_delay_nobody() {
    for is_deleted in [false, true] {
        let mut world = running(5, 3, set()).await;
        let (before, node) = (nodes(&world), host(&world));
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": EVIL } });
        world.write("namespaces", "", "", None, Action::Create(namespace)).unwrap();
        let mut own = set();
        own["metadata"]["namespace"] = EVIL.into();
        world.write(SETS, EVIL, "", None, Action::Create(own)).unwrap();
        world.settle().await;
        let pods = world.server.store().list("pods", Some(EVIL));
        let pod = pods.iter().find(|it| it.name().starts_with("w-0-a")).unwrap().value().clone();
        for number in 0..40 {
            let mut pod = pod.clone();
            pod["metadata"] = json!({
                "name": format!("invented-{number}"), "namespace": EVIL, "labels": pod["metadata"]["labels"],
                "ownerReferences": pod["metadata"]["ownerReferences"], "finalizers": ["evil.io/stays"],
            });
            pod["spec"]["nodeName"] = format!("fake-{number}").into();
            world.write("pods", EVIL, "", None, Action::Create(pod)).unwrap();
        }
        // The names are read, noted, and due.
        wait(&world, 120).await;
        assert_eq!(nodes(&world), before);
        if is_deleted {
            world.unplug(&node);
        } else {
            world.silence(&node);
        }
        wait(&world, 70).await;
        let replaced = nodes(&world).values().filter(|uid| before.values().all(|it| it != *uid)).count();
        assert_eq!(replaced, 1, "deleted: {is_deleted}");
    }
}
