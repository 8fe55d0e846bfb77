//! Tenants with large objects, on a server that is slow for them alone: another tenant does not wait until they are through.

use std::time::Duration;

use grove_apiserver::{Action, DeleteOptions};
use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    deadlines::one_clique,
    workload::{CLIQUES, SETS},
    world::World,
};

/// Two, because one alone never gets all workers.
const HOSTILE: [&str; 2] = ["evil-a", "evil-b"];

/// A cluster with an operator, in which these requests take so long.
fn world(seed: u64, delay: fn(&Method, &str) -> Duration) -> World {
    let mut world = World::new(seed);
    world.delay = delay;
    world.nodes = false;
    for name in HOSTILE {
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        world.write("namespaces", "", "", None, Action::Create(namespace)).unwrap();
    }
    world.start();
    world
}

fn is_hostile(path: &str) -> bool {
    path.contains("/namespaces/evil-")
}

/// Creates a set in a hostile namespace.
fn create(world: &World, namespace: &str, name: &str, mut set: Value) {
    set["metadata"] = json!({ "name": name, "namespace": namespace });
    world.write(SETS, namespace, "", None, Action::Create(set)).unwrap();
}

/// How long it takes until the other tenant's new set has both pods, without gates.
async fn latency(world: &World) -> Duration {
    let begun = Instant::now();
    world.create(SETS, one_clique(2));
    loop {
        let pods = world.list("pods");
        let is_gated =
            |gates: Option<&Value>| gates.and_then(Value::as_array).is_some_and(|it| !it.is_empty());
        if pods.len() == 2 && pods.iter().all(|it| !is_gated(it.field("/spec/schedulingGates"))) {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "never");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Each change of a pod takes long, and there are more gangs than workers.
#[tokio::test(start_paused = true)]
async fn ten_gangs_of_one_namespace_leave_a_worker_to_another() {
    let world = world(1, |method, path| {
        let is_slow = method == Method::PATCH && is_hostile(path) && path.contains("/pods/");
        Duration::from_secs(if is_slow { 60 } else { 0 })
    });
    for number in 0..10 {
        create(&world, HOSTILE[0], &format!("w{number}"), one_clique(2));
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let latency = latency(&world).await;
    assert!(latency < Duration::from_secs(2), "{latency:?}");
}

/// More pods in a gang than are changed at a time.
#[tokio::test(start_paused = true)]
async fn gates_of_large_gangs_are_removed_a_few_seconds_at_a_time() {
    let world = world(2, |method, path| {
        let is_slow = method == Method::PATCH && is_hostile(path) && path.contains("/pods/");
        Duration::from_secs(if is_slow { 6 } else { 0 })
    });
    for namespace in HOSTILE {
        for number in 0..3 {
            create(&world, namespace, &format!("w{number}"), one_clique(300));
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let latency = latency(&world).await;
    assert!(latency < Duration::from_secs(8), "{latency:?}");
}

/// A thousand PodCliques in each set.
#[tokio::test(start_paused = true)]
async fn children_of_large_sets_are_created_a_few_seconds_at_a_time() {
    let world = world(3, |method, path| {
        let is_slow = method == Method::POST && is_hostile(path) && path.contains("/podcliques?");
        Duration::from_secs(u64::from(is_slow))
    });
    for namespace in HOSTILE {
        let mut set = one_clique(0);
        set["spec"]["replicas"] = 1_000.into();
        create(&world, namespace, "w", set);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let latency = latency(&world).await;
    assert!(latency < Duration::from_secs(8), "{latency:?}");
}

/// Pods of others among them keep a PodClique from deleting its pods in one request.
#[tokio::test(start_paused = true)]
async fn pods_are_deleted_one_by_one_a_few_seconds_at_a_time() {
    let world = world(4, |method, path| {
        let is_slow = method == Method::DELETE && is_hostile(path) && path.contains("/pods/");
        Duration::from_secs(u64::from(is_slow))
    });
    for namespace in HOSTILE {
        for number in 0..4 {
            create(&world, namespace, &format!("w{number}"), one_clique(20));
        }
    }
    world.settle().await;
    for namespace in HOSTILE {
        for clique in world.server.store().list(CLIQUES, Some(namespace)) {
            let pods = world.server.store().list("pods", Some(namespace));
            let is_of = |it: &&std::sync::Arc<grove_apiserver::Object>| {
                it.field("/metadata/labels/grove.io~1podclique") == Some(&json!(clique.name()))
            };
            let mut foreign = pods.iter().find(is_of).unwrap().value().clone();
            foreign["metadata"] = json!({
                "name": format!("foreign-{}", clique.name()), "namespace": namespace,
                "labels": foreign["metadata"]["labels"],
            });
            world.write("pods", namespace, "", None, Action::Create(foreign)).unwrap();
        }
    }
    world.settle().await;
    for namespace in HOSTILE {
        for clique in world.server.store().list(CLIQUES, Some(namespace)) {
            let action = Action::Delete(DeleteOptions::default());
            world.write(CLIQUES, namespace, clique.name(), None, action).unwrap();
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let latency = latency(&world).await;
    assert!(latency < Duration::from_secs(8), "{latency:?}");
}
