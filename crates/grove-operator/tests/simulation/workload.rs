//! The workload of upstream's tests, on a cluster that has place for it and for nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_apiserver::Object;
use serde_json::{Value, json};

use crate::world::World;

pub(crate) const SETS: &str = "podcliquesets.grove.io";
pub(crate) const CLIQUES: &str = "podcliques.grove.io";
pub(crate) const GROUPS: &str = "podcliquescalinggroups.grove.io";

/// Minima of `a` (two pods), of the group `x` (two replicas), and of its `c` (three pods). `b` has one pod.
#[derive(Clone, Copy)]
pub(crate) struct Minima {
    pub(crate) a: u32,
    pub(crate) x: u32,
    pub(crate) c: u32,
}

/// Everything is needed.
pub(crate) const ALL: Minima = Minima { a: 2, x: 2, c: 3 };
/// One of everything is enough.
pub(crate) const ONE: Minima = Minima { a: 1, x: 1, c: 1 };

pub(crate) fn set(minima: Minima, replicas: u32) -> Value {
    let clique = |name: &str, replicas: u32, minimum: u32| {
        json!({
            "name": name,
            "spec": {
                "roleName": name, "replicas": replicas, "minAvailable": minimum,
                "podSpec": { "containers": [{ "name": "main", "image": "engine:1" }] },
            },
        })
    };
    let group = json!({ "name": "x", "cliqueNames": ["b", "c"], "replicas": 2, "minAvailable": minima.x });
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": "w", "namespace": "ml" },
        "spec": {
            "replicas": replicas,
            "template": {
                "terminationDelay": "10s",
                "cliques": [clique("a", 2, minima.a), clique("b", 1, 1), clique("c", 3, minima.c)],
                "podCliqueScalingGroups": [group],
            },
        },
    })
}

/// All cliques of the first replica.
pub(crate) const WHOLE: &str = "w-0-a w-0-x-0-b w-0-x-0-c w-0-x-1-b w-0-x-1-c";

/// A set that runs. No node takes further pods.
pub(crate) async fn full(seed: u64, set: Value) -> World {
    let mut world = World::started(seed);
    world.create(SETS, set);
    world.settle().await;
    let all = world.list("pods");
    assert!(all.iter().all(|it| it.field("/spec/nodeName").is_some()), "all pods have a place");
    world.nodes = false;
    world
}

/// UIDs of pods by clique.
pub(crate) fn pods(world: &World) -> BTreeMap<String, BTreeSet<String>> {
    let mut pods: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for pod in world.list("pods") {
        let clique = pod.field("/metadata/labels/grove.io~1podclique").unwrap().as_str().unwrap().to_owned();
        pods.entry(clique).or_default().insert(pod.uid().to_owned());
    }
    pods
}

/// Cliques none of whose pods are still the same.
pub(crate) fn restarted(before: &BTreeMap<String, BTreeSet<String>>, world: &World) -> String {
    let after = pods(world);
    let is_new = |(name, old): &(&String, &BTreeSet<String>)| after[*name].is_disjoint(old);
    before.iter().filter(is_new).map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
}

/// Deletes so many pods of a clique.
pub(crate) fn lose(world: &World, clique: &str, count: usize) {
    let of_clique =
        |it: &&Arc<Object>| it.field("/metadata/labels/grove.io~1podclique") == Some(&json!(clique));
    let is_bound = |it: &&Arc<Object>| it.field("/spec/nodeName").is_some();
    let names: Vec<String> = world
        .list("pods")
        .iter()
        .filter(of_clique)
        .filter(is_bound)
        .take(count)
        .map(|it| it.name().to_owned())
        .collect();
    assert_eq!(names.len(), count, "{clique} has no so many pods to lose");
    for name in &names {
        world.delete("pods", name);
    }
}

/// Pods ever created.
pub(crate) fn created(world: &World) -> usize {
    let is_creation = |it: &&grove_apiserver::WriteRecord| {
        it.verb == "create" && it.resource == "pods" && it.subresource.is_none() && it.code < 300
    };
    world.server.store().writes().iter().filter(is_creation).count()
}

/// An hour in which only the world may write.
pub(crate) async fn an_hour_without_writes(world: &World) {
    let before = world.server.store().write_count();
    tokio::time::sleep(Duration::from_hours(1)).await;
    world.settle().await;
    assert_eq!(world.server.store().write_count(), before);
}

/// There is place again: all comes up, and stays.
pub(crate) async fn comes_back(mut world: World) {
    world.nodes = true;
    // The world looks only where something happened.
    world.simulate();
    world.settle().await;
    let set = world.get(SETS, "w");
    assert_eq!(set.field("/status/availableReplicas"), set.field("/spec/replicas"));
    assert!(world.list("pods").iter().all(|it| it.field("/spec/nodeName").is_some()));
    for group in world.list(GROUPS) {
        assert!(!flagged(&group), "{}", group.value());
    }
    an_hour_without_writes(&world).await;
}

pub(crate) fn flagged(group: &Object) -> bool {
    let conditions = group.field("/status/conditions").unwrap().as_array().unwrap();
    conditions.iter().any(|it| it["type"] == "GangTerminationInProgress" && it["status"] == "True")
}
