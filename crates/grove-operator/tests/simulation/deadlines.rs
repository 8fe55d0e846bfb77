//! A reconcile that ends at its deadline while its writes are under way.

use std::{collections::BTreeMap, time::Duration};

use grove_apiserver::{Fault, WriteRequest};
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

/// The operator never hears of a change of a pod: it has to ask.
fn is_pod_watch(method: &Method, path: &str) -> bool {
    method == Method::GET && path.starts_with("/api/v1/pods?") && path.contains("watch=true")
}

const NEVER: Duration = Duration::from_hours(9_999);

/// Has `fault` decide about the pods that are created, by their number.
fn fail_creations(world: &World, fault: fn(usize) -> Fault) {
    let mut number = 0;
    world.server.before_write(move |write: &WriteRequest| {
        if write.verb() != "create" || write.resource.id() != "pods" {
            return Fault::None;
        }
        number += 1;
        fault(number)
    });
}

/// Nothing waits for the answer any more when it is lost.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_after_the_deadline_is_no_second_pod() {
    let mut world = World::new(3);
    world.delay = |method, path| match (is_pod_watch(method, path), is_pod_creation(method, path)) {
        (true, _) => NEVER,
        (_, true) => Duration::from_secs(150),
        _ => Duration::ZERO,
    };
    world.start();
    fail_creations(&world, |number| if number == 1 { Fault::Lose } else { Fault::None });
    world.create(SETS, one_clique(1));
    tokio::time::sleep(Duration::from_mins(15)).await;
    assert_eq!((created(&world), indices(&world).len()), (1, 1), "{:?}", indices(&world));
}

/// The first error of a batch is a refusal, and says nothing of the others.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_beside_a_refusal_is_no_second_pod() {
    let mut world = World::new(4);
    world.delay = |method, path| if is_pod_watch(method, path) { NEVER } else { Duration::ZERO };
    world.start();
    fail_creations(&world, |number| match number {
        2 => Fault::refuse(403, "Forbidden", "a policy of the cluster refuses it"),
        3 => Fault::Lose,
        _ => Fault::None,
    });
    world.create(SETS, one_clique(3));
    tokio::time::sleep(Duration::from_mins(15)).await;
    assert_eq!((created(&world), indices(&world).len()), (3, 3), "{:?}", indices(&world));
}
