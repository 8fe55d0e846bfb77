//! ClusterTopologyBindings, and the topology objects that schedulers have of their own.

use grove_apiserver::Object;
use serde_json::{Value, json};

use crate::{
    cluster_wide::{create, delete, patch},
    herds::{HERDS, PASTURES, TOY, Toy},
    workload::an_hour_without_writes,
    world::{World, example},
};

const BINDINGS: &str = "clustertopologybindings.grove.io";
const SETS: &str = "podcliquesets.grove.io";
const EVENTS: &str = "events.events.k8s.io";
const ZONE: &str = "example.com/zone";
const RACK: &str = "example.com/rack";

fn levels(keys: &[&str]) -> Value {
    let level = |key: &&str| json!({ "domain": key.rsplit_once('/').unwrap().1, "key": key });
    keys.iter().map(level).collect()
}

fn binding(keys: &[&str], reference: Option<&str>) -> Value {
    let bound = reference.map(|it| json!({ "schedulerName": TOY, "topologyReference": it }));
    json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding",
        "metadata": { "name": "racks" },
        "spec": { "levels": levels(keys), "schedulerTopologyBindings": Vec::from_iter(bound) },
    })
}

fn pasture(name: &str, labels: &[&str]) -> Value {
    json!({
        "apiVersion": "toy.example.com/v1", "kind": "Pasture",
        "metadata": { "name": name }, "spec": { "labels": labels },
    })
}

/// A cluster with the toy scheduler and a running operator.
async fn started(seed: u64) -> World {
    let mut world = World::with_toy(seed, &Toy::default());
    (world.tells, world.topology_aware) = (true, true);
    world.start();
    world.settle().await;
    world
}

fn labels(world: &World, name: &str) -> Option<Value> {
    let object = world.server.store().get(PASTURES, "", name)?;
    object.field("/spec/labels").cloned()
}

fn status(world: &World) -> std::sync::Arc<Object> {
    world.server.store().get(BINDINGS, "", "racks").unwrap()
}

/// Status and reason of the condition, and whether the toy scheduler's object is in sync.
fn said(world: &World) -> (String, String, bool) {
    let object = status(world);
    let text = |pointer: &str| object.field(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    assert_eq!(text("/status/conditions/0/type"), "SchedulerTopologyDrift");
    let entry = "/status/schedulerTopologyStatuses/0";
    assert_eq!(text(&format!("{entry}/schedulerName")), TOY);
    let in_sync = object.field(&format!("{entry}/inSync")) == Some(&json!(true));
    (text("/status/conditions/0/status"), text("/status/conditions/0/reason"), in_sync)
}

fn message(world: &World) -> String {
    let object = status(world);
    object.field("/status/conditions/0/message").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn verdict(status: &str, reason: &str, in_sync: bool) -> (String, String, bool) {
    (status.to_owned(), reason.to_owned(), in_sync)
}

/// Reasons of the Events of bindings so far, in order.
fn told(world: &World) -> Vec<String> {
    let mut all: Vec<_> = world.server.store().list(EVENTS, None);
    all.retain(|it| it.field("/regarding/kind") == Some(&json!("ClusterTopologyBinding")));
    all.sort_by_key(|it| it.field("/eventTime").map(Value::to_string));
    all.iter().map(|it| it.field("/reason").and_then(Value::as_str).unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_is_given_the_levels() {
    let world = started(1).await;
    let before = world.server.store().writes().len();
    create(&world, BINDINGS, binding(&[ZONE, RACK], None));
    world.settle().await;
    let object = world.server.store().get(PASTURES, "", "racks").unwrap();
    assert_eq!(object.field("/spec/labels"), Some(&json!([ZONE, RACK])));
    let owner = object.field("/metadata/ownerReferences/0").unwrap();
    assert_eq!((&owner["kind"], &owner["name"]), (&json!("ClusterTopologyBinding"), &json!("racks")));
    assert_eq!(owner["controller"], json!(true));
    assert_eq!(said(&world), verdict("False", "InSync", true));
    assert_eq!(status(&world).field("/status/observedGeneration"), Some(&json!(1)));
    assert_eq!(told(&world), ["TopologyInSync"]);
    // The user's create, the object, the status, the Event.
    assert_eq!(world.server.store().writes().len() - before, 4);
    an_hour_without_writes(&world).await;
}

#[tokio::test(start_paused = true)]
async fn other_levels_make_the_object_anew_without_a_word_of_drift() {
    let world = started(2).await;
    create(&world, BINDINGS, binding(&[ZONE], None));
    world.settle().await;
    let uid = |world: &World| world.server.store().get(PASTURES, "", "racks").unwrap().uid().to_owned();
    let first = uid(&world);
    patch(&world, BINDINGS, "racks", json!({ "spec": { "levels": levels(&[ZONE, RACK]) } }));
    world.settle().await;
    assert_eq!(labels(&world, "racks"), Some(json!([ZONE, RACK])));
    assert_ne!(uid(&world), first);
    assert_eq!(said(&world), verdict("False", "InSync", true));
    assert_eq!(status(&world).field("/status/observedGeneration"), Some(&json!(2)));
    assert_eq!(told(&world), ["TopologyInSync"]);
}

#[tokio::test(start_paused = true)]
async fn what_somebody_does_to_the_object_is_mended() {
    let world = started(3).await;
    create(&world, BINDINGS, binding(&[RACK], None));
    world.settle().await;
    patch(&world, PASTURES, "racks", json!({ "spec": { "labels": [ZONE] } }));
    world.settle().await;
    assert_eq!(labels(&world, "racks"), Some(json!([RACK])));
    delete(&world, PASTURES, "racks");
    world.settle().await;
    assert_eq!(labels(&world, "racks"), Some(json!([RACK])));
    assert_eq!(said(&world), verdict("False", "InSync", true));
}

#[tokio::test(start_paused = true)]
async fn an_object_of_somebody_else_is_compared_and_left_alone() {
    let world = started(4).await;
    create(&world, BINDINGS, binding(&[RACK], Some("theirs")));
    world.settle().await;
    assert_eq!(said(&world), verdict("True", "Drift", false));
    assert_eq!(
        message(&world),
        r#"toy-scheduler "theirs": no such object: create it, or remove it from spec.schedulerTopologyBindings"#
    );

    create(&world, PASTURES, pasture("theirs", &[ZONE]));
    world.settle().await;
    assert_eq!(said(&world), verdict("True", "Drift", false));
    assert_eq!(message(&world), r#"toy-scheduler "theirs": its labels are ["example.com/zone"]"#);

    patch(&world, PASTURES, "theirs", json!({ "spec": { "labels": [RACK] } }));
    world.settle().await;
    assert_eq!(said(&world), verdict("False", "InSync", true));
    assert_eq!(told(&world), ["TopologyDriftDetected", "TopologyInSync"]);
    assert_eq!(world.server.store().list(PASTURES, None).len(), 1);
    let writes = world.server.store().writes();
    assert!(writes.iter().filter(|it| it.resource == PASTURES).all(|it| it.manager != "grove-operator"));
}

#[tokio::test(start_paused = true)]
async fn an_own_object_goes_when_another_one_is_named() {
    let world = started(5).await;
    create(&world, PASTURES, pasture("theirs", &[RACK]));
    create(&world, BINDINGS, binding(&[RACK], None));
    world.settle().await;
    let bound = json!([{ "schedulerName": TOY, "topologyReference": "theirs" }]);
    patch(&world, BINDINGS, "racks", json!({ "spec": { "schedulerTopologyBindings": bound } }));
    world.settle().await;
    assert_eq!(labels(&world, "racks"), None);
    assert_eq!(said(&world), verdict("False", "InSync", true));
}

#[tokio::test(start_paused = true)]
async fn an_object_of_somebody_else_in_the_way_is_told_and_waited_for() {
    let world = started(6).await;
    create(&world, PASTURES, pasture("racks", &[ZONE]));
    create(&world, BINDINGS, binding(&[RACK], None));
    world.settle().await;
    assert_eq!(said(&world), verdict("True", "Drift", false));
    let words = r#"toy-scheduler "racks": exists and has another owner: name it in"#;
    assert!(message(&world).starts_with(words), "{}", message(&world));
    assert_eq!(labels(&world, "racks"), Some(json!([ZONE])));
    delete(&world, PASTURES, "racks");
    world.settle().await;
    assert_eq!(labels(&world, "racks"), Some(json!([RACK])));
    assert_eq!(said(&world), verdict("False", "InSync", true));
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_that_nobody_can_look_at_is_unknown() {
    let toy = Toy::default();
    toy.order(|it| it.missing = Some("no herds here"));
    let mut world = World::with_toy(7, &toy);
    world.start();
    create(&world, BINDINGS, binding(&[RACK], None));
    world.settle().await;
    assert_eq!(said(&world), verdict("Unknown", "TopologyNotFound", false));
    assert!(message(&world).ends_with("is not ready: no herds here"), "{}", message(&world));

    toy.order(|it| it.missing = None);
    tokio::time::sleep(std::time::Duration::from_mins(1)).await;
    world.settle().await;
    assert_eq!(said(&world), verdict("False", "InSync", true));
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_without_topology_objects_cannot_be_bound() {
    let world = started(8).await;
    let mut object = binding(&[RACK], None);
    object["spec"]["schedulerTopologyBindings"] = json!([
        { "schedulerName": "default-scheduler", "topologyReference": "a" },
        { "schedulerName": "kai-scheduler", "topologyReference": "b" },
    ]);
    create(&world, BINDINGS, object);
    world.settle().await;
    let object = status(&world);
    let entries = object.field("/status/schedulerTopologyStatuses").unwrap().as_array().unwrap();
    let told: Vec<_> =
        entries.iter().map(|it| (it["schedulerName"].as_str().unwrap(), &it["message"])).collect();
    assert_eq!(told[0], ("default-scheduler", &json!("this scheduler has no topology objects")));
    assert_eq!(told[1].0, "kai-scheduler");
    assert!(told[1].1.as_str().unwrap().contains("add one to scheduler.profiles"), "{told:?}");
    assert_eq!(told[2], (TOY, &Value::Null));
    assert_eq!(object.field("/status/conditions/0/reason"), Some(&json!("TopologyNotFound")));
}

#[tokio::test(start_paused = true)]
async fn objects_go_with_their_binding() {
    let world = started(9).await;
    create(&world, BINDINGS, binding(&[RACK], None));
    world.settle().await;
    delete(&world, BINDINGS, "racks");
    world.settle().await;
    assert_eq!(labels(&world, "racks"), None);
}

/// A set of the toy scheduler that prefers to be in one rack.
fn packed_set(name: &str) -> Value {
    let mut set = example(1);
    set["metadata"]["name"] = json!(name);
    set["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "racks", "pack": { "preferred": "rack" } });
    for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
        clique["spec"]["podSpec"]["schedulerName"] = json!(TOY);
    }
    set
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_is_told_the_topology_by_the_name_that_it_knows() {
    let world = started(10).await;
    create(&world, BINDINGS, binding(&[RACK], None));
    world.create(SETS, packed_set("packed"));
    world.settle().await;
    let topology = |world: &World| {
        let herds = world.list(HERDS);
        herds.iter().map(|it| it.field("/spec/topology").unwrap().clone()).collect::<Vec<_>>()
    };
    assert!(!topology(&world).is_empty());
    assert!(topology(&world).iter().all(|it| it == "racks"), "{:?}", topology(&world));
    let bound = json!([{ "schedulerName": TOY, "topologyReference": "theirs" }]);
    patch(&world, BINDINGS, "racks", json!({ "spec": { "schedulerTopologyBindings": bound } }));
    world.settle().await;
    assert!(topology(&world).iter().all(|it| it == "theirs"), "{:?}", topology(&world));
}

/// Sets that use a binding say what its change means to them, once each.
#[tokio::test(start_paused = true)]
async fn a_binding_that_changes_costs_each_set_one_status() {
    const COUNT: usize = 20;
    let world = started(11).await;
    create(&world, BINDINGS, binding(&[ZONE, RACK], None));
    for number in 0..COUNT {
        world.create(SETS, packed_set(&format!("packed-{number}")));
    }
    world.settle().await;
    let before = world.server.store().writes().len();
    patch(&world, BINDINGS, "racks", json!({ "spec": { "levels": levels(&[ZONE]) } }));
    world.settle().await;
    let writes = world.server.store().writes().split_off(before);
    let of_sets =
        |it: &&grove_apiserver::WriteRecord| it.resource == SETS && it.subresource == Some("status");
    assert_eq!(writes.iter().filter(of_sets).count(), COUNT);
    for number in 0..COUNT {
        let set = world.get(SETS, &format!("packed-{number}"));
        let conditions = set.field("/status/conditions").unwrap().as_array().unwrap().clone();
        let condition = conditions.iter().find(|it| it["type"] == "TopologyLevelsUnavailable").unwrap();
        assert_eq!(condition["reason"], "ClusterTopologyLevelsUnavailable");
    }
}
