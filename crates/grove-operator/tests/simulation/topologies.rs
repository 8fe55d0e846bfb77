//! Kueue's Topologies, which sets are placed by: held while they are used, and mirrored to schedulers.

use grove_apiserver::{Action, PatchBody};
use serde_json::{Value, json};

use crate::{
    cluster_wide::{create, delete},
    herds::{PASTURES, TOY, Toy},
    workload::an_hour_without_writes,
    world::{World, example},
};

const TOPOLOGIES: &str = "topologies.kueue.x-k8s.io";
const BINDINGS: &str = "clustertopologybindings.grove.io";
const SETS: &str = "podcliquesets.grove.io";
const EVENTS: &str = "events.events.k8s.io";
const PROTECTION: &str = "grove.ai/topology-protection";
const RACK: &str = "example.com/rack";

/// Kueue's definition of Topologies, in a version that is not the newest.
pub(crate) fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": TOPOLOGIES },
        "spec": {
            "group": "kueue.x-k8s.io", "scope": "Cluster",
            "names": {
                "kind": "Topology", "plural": "topologies", "singular": "topology", "listKind": "TopologyList",
            },
            "versions": [{ "name": "v1beta1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            } } }],
        },
    })
}

fn topology(finalizers: &[&str]) -> Value {
    json!({
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology",
        "metadata": { "name": "racks", "finalizers": finalizers },
        "spec": { "levels": [{ "nodeLabel": RACK }] },
    })
}

fn set(name: &str) -> Value {
    let mut set = example(1);
    set["metadata"]["name"] = json!(name);
    set["spec"]["template"]["schedulingPolicyConfig"] = json!({ "topologyName": "racks" });
    for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
        clique["spec"]["podSpec"]["schedulerName"] = json!(TOY);
    }
    set
}

/// A cluster with the toy scheduler, a Topology and an operator.
async fn started(seed: u64, finalizers: &[&str]) -> World {
    let mut world = World::with_toy(seed, &Toy::default());
    (world.tells, world.topology_aware) = (true, true);
    create(&world, TOPOLOGIES, topology(finalizers));
    world.start();
    world.settle().await;
    world
}

/// The finalizers of the Topology.
fn finalizers(world: &World) -> Vec<String> {
    let object = world.server.store().get(TOPOLOGIES, "", "racks").unwrap();
    let all = object.field("/metadata/finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
    all.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

fn held(by: &[&str]) -> Vec<String> {
    by.iter().map(|it| (*it).to_owned()).collect()
}

/// Reasons and notes of the Events of Topologies.
fn told(world: &World) -> Vec<(String, String)> {
    let events = world.server.store().list(EVENTS, None);
    let of_topology = events.iter().filter(|it| it.field("/regarding/kind") == Some(&json!("Topology")));
    let text =
        |it: &grove_apiserver::Object, pointer: &str| it.field(pointer).unwrap().as_str().unwrap().to_owned();
    of_topology.map(|it| (text(it, "/reason"), text(it, "/note"))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_topology_is_held_while_a_set_uses_it() {
    let world = started(1, &["example.com/theirs"]).await;
    assert_eq!(finalizers(&world), held(&["example.com/theirs"]));
    world.create(SETS, set("a"));
    world.create(SETS, set("b"));
    world.settle().await;
    assert_eq!(finalizers(&world), held(&["example.com/theirs", PROTECTION]));
    an_hour_without_writes(&world).await;

    world.delete(SETS, "a");
    world.settle().await;
    assert_eq!(finalizers(&world), held(&["example.com/theirs", PROTECTION]));
    world.delete(SETS, "b");
    world.settle().await;
    assert_eq!(finalizers(&world), held(&["example.com/theirs"]));
    let writes = world.server.store().writes();
    let ours = writes.iter().filter(|it| it.resource == TOPOLOGIES && it.manager == "grove-operator").count();
    assert_eq!(ours, 2, "one write to hold it, and one to let it go");
}

/// Without a word of the user, gangs are packed at the narrowest level; and without the topology they are not.
#[tokio::test(start_paused = true)]
async fn gangs_are_packed_by_it() {
    let world = started(7, &[]).await;
    world.create(SETS, set("a"));
    world.settle().await;
    let preferred = |world: &World| {
        let gang = world.get("podgangs.scheduler.grove.io", "a-0");
        gang.field("/spec/topologyConstraint/packConstraint/preferred").cloned()
    };
    let reason = |world: &World| {
        let set = world.get(SETS, "a");
        let conditions = set.field("/status/conditions").unwrap().as_array().unwrap().clone();
        conditions.iter().find(|it| it["type"] == "TopologyLevelsUnavailable").unwrap()["reason"].clone()
    };
    assert_eq!(preferred(&world), Some(json!(RACK)));
    assert_eq!(reason(&world), json!("AllClusterTopologyLevelsAvailable"));
    let let_go = json!({ "metadata": { "finalizers": [] } });
    delete(&world, TOPOLOGIES, "racks");
    world.write(TOPOLOGIES, "", "racks", None, Action::Patch(PatchBody::Merge(let_go))).unwrap();
    world.settle().await;
    assert_eq!(preferred(&world), None);
    assert_eq!(reason(&world), json!("ClusterTopologyNotFound"));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_waits_for_the_sets_and_names_them() {
    let world = started(2, &[]).await;
    world.create(SETS, set("a"));
    world.settle().await;
    delete(&world, TOPOLOGIES, "racks");
    world.settle().await;
    assert_eq!(finalizers(&world), held(&[PROTECTION]));
    let told = told(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, "TopologyInUse");
    assert!(told[0].1.ends_with("; used by: ml/a"), "{told:?}");
    world.delete(SETS, "a");
    world.settle().await;
    assert!(world.server.store().get(TOPOLOGIES, "", "racks").is_none());
}

#[tokio::test(start_paused = true)]
async fn what_is_not_used_any_more_is_let_go_by_the_next_operator() {
    let mut world = World::with_toy(3, &Toy::default());
    create(&world, TOPOLOGIES, topology(&[PROTECTION]));
    world.create(SETS, set("a"));
    // Placement by topology is off.
    world.start();
    world.settle().await;
    assert_eq!(finalizers(&world), held(&[]));
}

#[tokio::test(start_paused = true)]
async fn a_binding_of_the_same_name_goes_first() {
    let world = started(4, &[]).await;
    world.create(SETS, set("a"));
    world.settle().await;
    assert_eq!(finalizers(&world), held(&[PROTECTION]));
    let binding = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "racks" },
        "spec": { "levels": [{ "domain": "rack", "key": RACK }] },
    });
    create(&world, BINDINGS, binding);
    world.settle().await;
    assert_eq!(finalizers(&world), held(&[]));
    let owner = |world: &World| {
        let pasture = world.server.store().get(PASTURES, "", "racks").unwrap();
        pasture.field("/metadata/ownerReferences/0/kind").unwrap().clone()
    };
    assert_eq!(owner(&world), json!("ClusterTopologyBinding"));
    delete(&world, BINDINGS, "racks");
    world.settle().await;
    assert_eq!(finalizers(&world), held(&[PROTECTION]));
    assert_eq!(owner(&world), json!("Topology"));
}

#[tokio::test(start_paused = true)]
async fn a_topology_in_use_is_mirrored() {
    let world = started(5, &[]).await;
    let labels = |world: &World| {
        let pasture = world.server.store().get(PASTURES, "", "racks")?;
        pasture.field("/spec/labels").cloned()
    };
    assert_eq!(labels(&world), None);
    world.create(SETS, set("a"));
    world.settle().await;
    assert_eq!(labels(&world), Some(json!([RACK])));
    let levels =
        json!({ "spec": { "levels": [{ "nodeLabel": "example.com/zone" }, { "nodeLabel": RACK }] } });
    world.write(TOPOLOGIES, "", "racks", None, Action::Patch(PatchBody::Merge(levels))).unwrap();
    world.settle().await;
    assert_eq!(labels(&world), Some(json!(["example.com/zone", RACK])));
    world.delete(SETS, "a");
    world.settle().await;
    assert_eq!(labels(&world), None);
}

#[tokio::test(start_paused = true)]
async fn an_object_of_somebody_else_is_left_alone_and_told_where_it_differs() {
    let world = started(6, &[]).await;
    let pasture = json!({
        "apiVersion": "toy.example.com/v1", "kind": "Pasture", "metadata": { "name": "racks" },
        "spec": { "labels": ["example.com/other"] },
    });
    create(&world, PASTURES, pasture);
    world.create(SETS, set("a"));
    world.settle().await;
    let words = r#"Pasture "racks" has another owner, and its labels are ["example.com/other"]"#;
    assert_eq!(told(&world), [("TopologyDriftDetected".to_owned(), words.to_owned())]);
    let pasture = world.server.store().get(PASTURES, "", "racks").unwrap();
    assert_eq!(pasture.field("/spec/labels"), Some(&json!(["example.com/other"])));
}
