//! A reconcile that ends at its deadline while its writes are under way.

use std::{collections::BTreeMap, time::Duration};

use http::Method;
use serde_json::{Value, json};

use crate::{
    workload::{SETS, an_hour_without_writes, created},
    world::World,
};

/// A set of one clique with so many pods.
pub(crate) fn one_clique(replicas: u32) -> Value {
    let pod = json!({ "containers": [{ "name": "main", "image": "engine:1" }] });
    let clique = json!({ "name": "a", "spec": { "roleName": "a", "replicas": replicas, "podSpec": pod } });
    json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
        "metadata": { "name": "w", "namespace": "ml" },
        "spec": { "replicas": 1, "template": { "cliques": [clique] } },
    })
}

/// How many pods each index has.
pub(crate) fn indices(world: &World) -> BTreeMap<String, usize> {
    let mut indices = BTreeMap::new();
    for pod in world.list("pods") {
        let host = pod.field("/spec/hostname").and_then(Value::as_str).unwrap().to_owned();
        *indices.entry(host).or_default() += 1;
    }
    indices
}

pub(crate) fn is_pod_creation(method: &Method, path: &str) -> bool {
    method == Method::POST && path.split('?').next().is_some_and(|it| it.ends_with("/pods"))
}

/// The server takes longer for each pod than a reconcile may take, and does not stop because nothing waits for its answer.
#[tokio::test(start_paused = true)]
async fn a_pod_that_is_being_created_at_the_deadline_is_created_once() {
    let mut world = World::new(1);
    world.delay = |method, path| Duration::from_secs(if is_pod_creation(method, path) { 150 } else { 0 });
    world.start();
    world.create(SETS, one_clique(4));
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        world.simulate();
    }
    assert_eq!((created(&world), indices(&world).len()), (4, 4), "{:?}", indices(&world));
    an_hour_without_writes(&world).await;
}

/// One reconcile would take longer than its deadline for these: it ends before that, and others create the rest.
#[tokio::test(start_paused = true)]
async fn many_pods_are_created_by_several_reconciles() {
    let mut world = World::new(2);
    world.delay = |method, path| Duration::from_secs(if is_pod_creation(method, path) { 20 } else { 0 });
    world.start();
    world.create(SETS, one_clique(40));
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        world.simulate();
    }
    assert_eq!((created(&world), indices(&world).len()), (40, 40));
}
