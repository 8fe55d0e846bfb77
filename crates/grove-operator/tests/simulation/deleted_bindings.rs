//! A ClusterTopologyBinding is deleted, or loses a level, while sets use it: what is required is kept, and what is new waits for it.

use serde_json::{Value, json};

use crate::{
    cluster_wide::{create, delete, patch},
    places::{close, hall, of, set},
    workload::{GROUPS, SETS, an_hour_without_writes},
    world::World,
};

const BINDINGS: &str = "clustertopologybindings.grove.io";
const GANGS: &str = "podgangs.scheduler.grove.io";
const RACK: &str = "example.com/rack";

fn binding() -> Value {
    json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "hall" },
        "spec": { "levels": [{ "domain": "rack", "key": RACK }] },
    })
}

fn requires_rack() -> Value {
    set(json!({ "topologyName": "hall", "pack": { "required": "rack" } }))
}

fn required(world: &World, gang: &str) -> Option<Value> {
    world.get(GANGS, gang).field("/spec/topologyConstraint/packConstraint/required").cloned()
}

/// Reason and message of a condition.
fn said(world: &World, resource: &str, name: &str, type_: &str) -> (String, String) {
    let object = world.get(resource, name);
    let conditions = object.field("/status/conditions").unwrap().as_array().unwrap().clone();
    let condition = conditions.iter().find(|it| it["type"] == type_).unwrap();
    let text = |key: &str| condition[key].as_str().unwrap().to_owned();
    (text("reason"), text("message"))
}

/// How many pods there are whose names begin so, how many of them are gated, and how many bound.
fn counts(world: &World, prefix: &str) -> (usize, usize, usize) {
    let pods = world.list("pods");
    let pods = pods.iter().filter(|it| it.name().starts_with(prefix));
    pods.fold((0, 0, 0), |(all, gated, bound), pod| {
        let gates = pod.field("/spec/schedulingGates").and_then(Value::as_array);
        let is_gated = gates.is_some_and(|it| !it.is_empty());
        let is_bound = pod.field("/spec/nodeName").is_some();
        (all + 1, gated + usize::from(is_gated), bound + usize::from(is_bound))
    })
}

/// A gang that waits keeps its level, and what follows it is put where it is, by the label that it has noted.
#[tokio::test(start_paused = true)]
async fn gangs_that_wait_keep_what_they_require() {
    let mut world = hall(1);
    world.nodes = false;
    let mut set = requires_rack();
    set["spec"]["template"]["podCliqueScalingGroups"][0]["replicas"] = json!(2);
    world.create(SETS, set);
    world.settle().await;
    let gangs = ["w-0", "w-0-x-0"];
    assert_eq!(gangs.map(|it| required(&world, it)), [Some(json!(RACK)), Some(json!(RACK))]);
    delete(&world, BINDINGS, "hall");
    world.settle().await;
    // Also by an operator that has never seen the binding.
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(gangs.map(|it| required(&world, it)), [Some(json!(RACK)), Some(json!(RACK))]);
    for gang in gangs {
        let note = world.get(GANGS, gang).field("/metadata/annotations/grove.io~1topology-name").cloned();
        assert_eq!(note, Some(json!("hall")), "{gang}");
    }
    let (reason, message) = said(&world, SETS, "w", "TopologyLevelsUnavailable");
    assert_eq!(reason, "ClusterTopologyNotFound");
    assert!(message.contains("new ones stay gated until it is created"), "{message}");

    world.nodes = true;
    world.settle().await;
    assert_eq!(of(&world, "w-0-x-1-b"), [("r1".to_owned(), json!({ RACK: "r1" }))]);
    an_hour_without_writes(&world).await;
}

#[tokio::test(start_paused = true)]
async fn new_gangs_stay_gated_until_the_binding_is_back() {
    let world = hall(2);
    world.create(SETS, requires_rack());
    world.settle().await;
    let running = counts(&world, "w-0-");
    assert_eq!((running.1, running.2), (0, running.0), "all are bound");
    // There is room for all in the other rack.
    close(&world, false);
    delete(&world, BINDINGS, "hall");
    world.settle().await;
    world.patch(SETS, "w", json!({ "spec": { "replicas": 2 } }));
    world.patch(GROUPS, "w-0-x", json!({ "spec": { "replicas": 2 } }));
    world.settle().await;
    assert_eq!(counts(&world, "w-1-"), (running.0, running.0, 0), "a new replica");
    assert_eq!(counts(&world, "w-0-x-1-"), (4, 4, 0), "a new copy of the group");
    for gang in ["w-1", "w-0-x-0"] {
        let (reason, message) = said(&world, GANGS, gang, "Scheduled");
        assert_eq!(reason, "ClusterTopologyNotFound", "{gang}");
        assert!(message.contains("a level of topology \"hall\" is required"), "{gang}: {message}");
    }
    an_hour_without_writes(&world).await;

    create(&world, BINDINGS, binding());
    world.settle().await;
    for (gang, prefix) in [("w-1", "w-1-"), ("w-0-x-0", "w-0-x-1-")] {
        assert_eq!(required(&world, gang), Some(json!(RACK)));
        let (all, gated, bound) = counts(&world, prefix);
        assert_eq!((gated, bound), (0, all), "{prefix}");
    }
    assert_eq!(said(&world, SETS, "w", "TopologyLevelsUnavailable").0, "AllClusterTopologyLevelsAvailable");
}

/// A level that is taken out of a binding, or that is not in the Topology of Kueue that has the name of a deleted binding, is like one
/// whose topology is gone.
#[tokio::test(start_paused = true)]
async fn levels_that_a_topology_loses_are_kept_and_awaited() {
    let other = json!({ "spec": { "levels": [{ "domain": "zone", "key": "example.com/zone" }] } });
    let edit = |world: &World| patch(world, BINDINGS, "hall", other.clone());
    let recreate = |world: &World| {
        delete(world, BINDINGS, "hall");
        let mut binding = binding();
        binding["spec"] = other["spec"].clone();
        create(world, BINDINGS, binding);
    };
    for (seed, change) in [(4, &edit as &dyn Fn(&World)), (5, &recreate)] {
        let mut world = hall(seed);
        world.nodes = false;
        world.create(SETS, requires_rack());
        world.settle().await;
        change(&world);
        world.settle().await;
        // Also by an operator that has never seen the level.
        world.kill();
        world.start();
        world.patch(SETS, "w", json!({ "spec": { "replicas": 2 } }));
        world.settle().await;
        assert_eq!(required(&world, "w-0"), Some(json!(RACK)));
        let (reason, message) = said(&world, SETS, "w", "TopologyLevelsUnavailable");
        assert_eq!(reason, "ClusterTopologyLevelsUnavailable");
        assert!(message.contains("new ones stay gated until it has them"), "{message}");
        let (all, gated, bound) = counts(&world, "w-1-");
        assert_eq!((gated, bound), (all, 0), "a new replica waits");
        let (reason, message) = said(&world, GANGS, "w-1", "Scheduled");
        assert_eq!(reason, "ClusterTopologyLevelsUnavailable");
        assert!(message.contains("has no level rack"), "{message}");
        an_hour_without_writes(&world).await;

        patch(&world, BINDINGS, "hall", json!({ "spec": binding()["spec"] }));
        world.settle().await;
        assert_eq!(required(&world, "w-1"), Some(json!(RACK)));
        let (all, gated, _) = counts(&world, "w-1-");
        assert_eq!((all > 0, gated), (true, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_topology_of_kueue_without_the_level_takes_no_level_away() {
    let mut world = hall(6);
    world.nodes = false;
    let topology = json!({
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology", "metadata": { "name": "hall" },
        "spec": { "levels": [{ "nodeLabel": "example.com/zone" }] },
    });
    create(&world, "topologies.kueue.x-k8s.io", topology);
    world.create(SETS, requires_rack());
    world.settle().await;
    assert_eq!(required(&world, "w-0"), Some(json!(RACK)));
    delete(&world, BINDINGS, "hall");
    world.settle().await;
    assert_eq!(required(&world, "w-0"), Some(json!(RACK)));
    assert_eq!(said(&world, SETS, "w", "TopologyLevelsUnavailable").0, "ClusterTopologyLevelsUnavailable");
}

/// Nothing that has to hold is lost, and nobody waits for what is only wished for.
#[tokio::test(start_paused = true)]
async fn what_only_prefers_a_level_does_not_wait() {
    let world = hall(3);
    world.create(SETS, set(json!({ "topologyName": "hall", "pack": { "preferred": "rack" } })));
    world.settle().await;
    close(&world, false);
    delete(&world, BINDINGS, "hall");
    world.patch(SETS, "w", json!({ "spec": { "replicas": 2 } }));
    world.settle().await;
    let (all, gated, bound) = counts(&world, "w-1-");
    assert_eq!((gated, bound), (0, all));
    let (_, message) = said(&world, SETS, "w", "TopologyLevelsUnavailable");
    assert!(message.ends_with("pods are placed without it"), "{message}");
}
