//! Scaling to zero and back: 0 is stored, there are no pods, nothing waits, and nothing is terminated.

use std::{sync::Arc, time::Duration};

use grove_apiserver::Object;
use serde_json::{Value, json};

use crate::world::{World, example, is_told};

const SETS: &str = "podcliquesets.grove.io";
const CLIQUES: &str = "podcliques.grove.io";
const GROUPS: &str = "podcliquescalinggroups.grove.io";
const GANGS: &str = "podgangs.scheduler.grove.io";

fn scale(world: &World, kind: &str, name: &str, replicas: u32) {
    world.patch(kind, name, json!({ "spec": { "replicas": replicas } }));
}

/// Status and reason of a condition.
fn condition(object: &Object, type_: &str) -> String {
    let conditions = object.field("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let mut found = conditions.filter(|it| it["type"] == type_);
    found.next().map_or_else(String::new, |it| {
        format!("{}/{}", it["status"].as_str().unwrap(), it["reason"].as_str().unwrap())
    })
}

fn pod_groups(world: &World, gang: &str) -> Vec<String> {
    let gang = world.get(GANGS, gang);
    let groups = gang.field("/spec/podgroups").and_then(Value::as_array).into_iter().flatten();
    groups.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// UIDs of the pods of a clique.
fn pods_of(world: &World, clique: &str) -> Vec<String> {
    let label = |it: &Object| it.field("/metadata/labels/grove.io~1podclique").cloned();
    let pods: Vec<Arc<Object>> = world.list("pods");
    pods.iter().filter(|it| label(it) == Some(json!(clique))).map(|it| it.uid().to_owned()).collect()
}

fn all_have_a_place(world: &World) {
    for pod in world.list("pods") {
        assert!(pod.field("/spec/nodeName").is_some(), "{} has no place", pod.name());
    }
}

fn is_available(world: &World) {
    let set = world.get(SETS, "inf");
    assert!(condition(&set, "Available").starts_with("True"), "{:?}", set.field("/status"));
    assert!(condition(&set, "Progressing").starts_with("False"), "{:?}", set.field("/status"));
}

#[tokio::test(start_paused = true)]
async fn a_clique_goes_to_zero_and_comes_back() {
    let world = World::started(1);
    world.create(SETS, example(1));
    world.settle().await;
    let others = pods_of(&world, "inf-0-pd-0-dec");
    scale(&world, CLIQUES, "inf-0-fe", 0);
    world.settle().await;
    assert_eq!(pods_of(&world, "inf-0-fe"), Vec::<String>::new());
    let clique = world.get(CLIQUES, "inf-0-fe");
    assert_eq!(clique.field("/spec/replicas"), Some(&json!(0)));
    assert_eq!(condition(&clique, "MinAvailableBreached"), "False/ScaledToZero");
    assert_eq!(clique.field("/status/observedGeneration"), clique.field("/metadata/generation"));
    assert_eq!(pod_groups(&world, "inf-0"), ["inf-0-pd-0-pre", "inf-0-pd-0-dec"]);
    is_available(&world);
    // Long after the delay of gang termination.
    tokio::time::sleep(Duration::from_hours(9)).await;
    world.settle().await;
    assert_eq!(pods_of(&world, "inf-0-pd-0-dec"), others, "nobody else was touched");

    scale(&world, CLIQUES, "inf-0-fe", 2);
    world.settle().await;
    assert_eq!(pods_of(&world, "inf-0-fe").len(), 2);
    assert_eq!(pod_groups(&world, "inf-0"), ["inf-0-fe", "inf-0-pd-0-pre", "inf-0-pd-0-dec"]);
    all_have_a_place(&world);
    assert_eq!(pods_of(&world, "inf-0-pd-0-dec"), others);
    is_available(&world);
}

#[tokio::test(start_paused = true)]
async fn a_group_goes_to_zero_and_comes_back() {
    let world = World::started(2);
    world.create(SETS, example(1));
    world.settle().await;
    let others = pods_of(&world, "inf-0-fe");
    scale(&world, GROUPS, "inf-0-pd", 0);
    world.settle().await;
    assert_eq!(world.names(CLIQUES), ["inf-0-fe"]);
    assert_eq!(world.names(GANGS), ["inf-0"]);
    assert_eq!(pod_groups(&world, "inf-0"), ["inf-0-fe"]);
    let group = world.get(GROUPS, "inf-0-pd");
    assert_eq!(condition(&group, "MinAvailableBreached"), "False/ScaledToZero");
    is_available(&world);

    scale(&world, GROUPS, "inf-0-pd", 2);
    world.settle().await;
    assert_eq!(world.names(GANGS), ["inf-0", "inf-0-pd-0"]);
    assert_eq!(world.list("pods").len(), 2 + 2 * 3);
    all_have_a_place(&world);
    assert_eq!(pods_of(&world, "inf-0-fe"), others);
    is_available(&world);
}

#[tokio::test(start_paused = true)]
async fn all_of_a_set_goes_to_zero_and_comes_back() {
    let world = World::started(3);
    world.create(SETS, example(1));
    world.settle().await;
    scale(&world, CLIQUES, "inf-0-fe", 0);
    scale(&world, GROUPS, "inf-0-pd", 0);
    world.settle().await;
    assert_eq!(world.list("pods").len(), 0);
    assert_eq!(world.names(GANGS), Vec::<String>::new(), "nothing is to be scheduled");
    is_available(&world);
    let quiet = world.server.store().write_count();
    tokio::time::sleep(Duration::from_hours(9)).await;
    world.settle().await;
    assert_eq!(world.server.store().write_count(), quiet, "and nothing is done about it");
    scale(&world, GROUPS, "inf-0-pd", 1);
    world.settle().await;
    assert_eq!(pod_groups(&world, "inf-0"), ["inf-0-pd-0-pre", "inf-0-pd-0-dec"]);
    scale(&world, CLIQUES, "inf-0-fe", 2);
    world.settle().await;
    assert_eq!(world.list("pods").len(), 5);
    all_have_a_place(&world);
    is_available(&world);
}

#[tokio::test(start_paused = true)]
async fn a_set_that_begins_with_zero_has_no_pods() {
    let world = World::started(4);
    let mut set = example(1);
    set["spec"]["template"]["cliques"][0]["spec"]["replicas"] = 0.into();
    set["spec"]["template"]["podCliqueScalingGroups"][0]["replicas"] = 0.into();
    world.create(SETS, set);
    world.settle().await;
    assert_eq!(world.names(CLIQUES), ["inf-0-fe"]);
    assert_eq!(world.get(CLIQUES, "inf-0-fe").field("/spec/replicas"), Some(&json!(0)));
    assert_eq!(world.get(GROUPS, "inf-0-pd").field("/spec/replicas"), Some(&json!(0)));
    assert_eq!(world.list("pods").len(), 0);
    is_available(&world);
}

/// Nobody waits for pods that there will not be.
#[tokio::test(start_paused = true)]
async fn those_that_start_after_what_is_at_zero_do_not_wait() {
    let world = World::started(5);
    let mut set = example(1);
    let template = &mut set["spec"]["template"];
    template["cliqueStartupType"] = "CliqueStartupTypeExplicit".into();
    template["cliques"][0]["spec"]["startsAfter"] = json!(["dec"]);
    template["podCliqueScalingGroups"][0]["replicas"] = 0.into();
    world.create(SETS, set);
    world.settle().await;
    let pods = world.list("pods");
    assert_eq!(pods.len(), 2);
    assert!(pods.iter().all(|it| is_told(it)), "they wait for nobody");
    is_available(&world);
}

/// Scaled up without room, it waits, and takes nothing down with it.
#[tokio::test(start_paused = true)]
async fn what_finds_no_place_takes_nothing_down() {
    let mut world = World::started(6);
    let mut set = example(1);
    set["spec"]["template"]["terminationDelay"] = "10s".into();
    world.create(SETS, set);
    world.settle().await;
    scale(&world, CLIQUES, "inf-0-fe", 0);
    world.settle().await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    let others = pods_of(&world, "inf-0-pd-0-dec");
    world.nodes = false;
    scale(&world, CLIQUES, "inf-0-fe", 2);
    world.settle().await;
    tokio::time::sleep(Duration::from_mins(10)).await;
    world.settle().await;
    assert_eq!(pods_of(&world, "inf-0-pd-0-dec"), others);
    assert_eq!(pods_of(&world, "inf-0-fe").len(), 2, "they wait");
}
