//! Replicas of a set that are kept apart.

use std::collections::BTreeSet;

use grove_apiserver::Action;
use serde_json::{Value, json};

use crate::{
    workload::GROUPS,
    world::{World, example},
};

const SETS: &str = "podcliquesets.grove.io";

/// A cluster with a topology of zones, and a set of two replicas.
async fn started(seed: u64, spread: Value) -> World {
    let mut world = World::new(seed);
    world.topology_aware = true;
    let binding = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "dc" },
        "spec": { "levels": [{ "domain": "zone", "key": "example.com/zone" }] },
    });
    world.write("clustertopologybindings.grove.io", "", "", None, Action::Create(binding)).unwrap();
    world.start();
    let mut set = example(2);
    set["spec"]["replicaSpread"] = spread;
    world.create(SETS, set);
    world.settle().await;
    world
}

fn zone(mode: &str) -> Value {
    json!({ "topologyName": "dc", "topologyDomain": "zone", "mode": mode })
}

/// From whom pods with this prefix stay away, without repetition: `Required 0` is "not beside any replica but 0".
fn apart(world: &World, prefix: &str) -> BTreeSet<String> {
    let pods = world.list("pods").into_iter().filter(|it| it.name().starts_with(prefix));
    let told = pods.map(|pod| {
        let terms = |kind: &str| {
            let path = format!("/spec/affinity/podAntiAffinity/{kind}DuringSchedulingIgnoredDuringExecution");
            pod.field(&path).and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let own = |term: &Value| {
            assert_eq!(term["topologyKey"], "example.com/zone");
            term["labelSelector"]["matchExpressions"][0]["values"][0].as_str().unwrap().to_owned()
        };
        match (terms("required").as_slice(), terms("preferred").as_slice()) {
            ([], []) => "-".to_owned(),
            ([term], []) => format!("Required {}", own(term)),
            ([], [term]) => format!("Preferred {}", own(&term["podAffinityTerm"])),
            other => panic!("{other:?}"),
        }
    });
    told.collect()
}

fn only(words: &str) -> BTreeSet<String> {
    BTreeSet::from([words.to_owned()])
}

fn uids(world: &World) -> BTreeSet<String> {
    world.list("pods").iter().map(|it| it.uid().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_change_reaches_new_replicas_alone() {
    let world = started(1, zone("Required")).await;
    assert_eq!(apart(&world, "inf-0"), only("Required 0"), "scaled gangs too");
    assert_eq!(apart(&world, "inf-1"), only("Required 1"));
    let before = uids(&world);
    world.patch(SETS, "inf", json!({ "spec": { "replicaSpread": zone("Preferred"), "replicas": 3 } }));
    world.patch(GROUPS, "inf-0-pd", json!({ "spec": { "replicas": 5 } }));
    world.settle().await;
    assert_eq!(apart(&world, "inf-2"), only("Preferred 2"));
    assert_eq!(apart(&world, "inf-0-pd-4"), only("Required 0"), "what its replica has");
    assert!(before.is_subset(&uids(&world)), "nobody is replaced");
    let victim = world.list("pods").into_iter().find(|it| it.name().starts_with("inf-0-fe")).unwrap();
    world.delete("pods", victim.name());
    world.settle().await;
    assert_eq!(apart(&world, "inf-0-fe"), only("Required 0"), "also who comes back");
    world.patch(SETS, "inf", json!({ "spec": { "replicaSpread": null, "replicas": 4 } }));
    world.settle().await;
    assert_eq!(apart(&world, "inf-3"), only("-"));
    assert_eq!(apart(&world, "inf-2"), only("Preferred 2"));
}

#[tokio::test(start_paused = true)]
async fn a_level_that_is_not_there_is_told_and_holds_nobody_back() {
    let spread = json!({ "topologyName": "dc", "topologyDomain": "row", "mode": "Required" });
    let world = started(2, spread).await;
    assert_eq!(apart(&world, "inf"), only("-"));
    let set = world.get(SETS, "inf");
    let conditions = set.field("/status/conditions").and_then(Value::as_array).unwrap();
    let condition = conditions.iter().find(|it| it["type"] == "TopologyLevelsUnavailable").unwrap();
    assert_eq!(
        (&condition["status"], &condition["message"]),
        (&json!("True"), &json!("\"dc\" has no level row"))
    );
    assert_eq!(set.field("/status/availableReplicas"), Some(&json!(2)));
}
