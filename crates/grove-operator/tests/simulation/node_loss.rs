//! Nodes that are lost: their pods count as gone after a minute, and what has to be in one rack moves as a whole.

use std::{collections::BTreeMap, sync::atomic::Ordering, time::Duration};

use grove_apiserver::{Fault, WriteRequest};
use grove_plan::node_loss::Patience;
use k8s_openapi::jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    herds::{TOY, Toy},
    hosts::{node_of, rack},
    termination_kills::die_after,
    workload::{CLIQUES, SETS, an_hour_without_writes, created},
    world::{DEFAULT, World, profiles},
};

pub(crate) const PATIENCE: Patience =
    Patience { after: SignedDuration::from_secs(60), replace_unit_after: SignedDuration::from_secs(40) };
/// Grace of a pod, and what it may take longer.
const STUCK: Duration = Duration::from_mins(1);
const A: &str = "w-0-a";

/// Two pods of `a`, all of which are needed, and one of `b`.
pub(crate) fn set() -> Value {
    let clique = |name: &str, replicas: u32| {
        let pod = json!({ "containers": [{ "name": "main", "image": "engine:1" }] });
        json!({ "name": name, "spec": { "roleName": name, "replicas": replicas, "podSpec": pod } })
    };
    json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
        "metadata": { "name": "w", "namespace": "ml" },
        "spec": { "replicas": 1, "template": { "cliques": [clique("a", 2), clique("b", 1)] } },
    })
}

/// A set that runs on racks of three nodes each.
pub(crate) async fn running(seed: u64, racks: usize, set: Value) -> World {
    let mut world = World::new(seed);
    world.node_loss = Some(PATIENCE);
    world.topology_aware = true;
    world.build(racks, 3);
    world.start();
    world.create(SETS, set);
    world.settle().await;
    assert_eq!(nodes(&world).len(), 3, "all pods have a place");
    world
}

/// Likewise, all in one rack, which they have to be.
async fn packed(seed: u64, racks: usize) -> World {
    // The stock scheduler as it is here would refuse the constraint.
    let mut world = World::with_toy(seed, &Toy::default());
    world.scheduler = profiles(&[DEFAULT, TOY], TOY);
    let level = json!({ "domain": "rack", "key": "example.com/rack" });
    let binding = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding",
        "metadata": { "name": "hall" }, "spec": { "levels": [level] },
    });
    let create = grove_apiserver::Action::Create(binding);
    world.write("clustertopologybindings.grove.io", "", "", None, create).unwrap();
    world.node_loss = Some(PATIENCE);
    world.topology_aware = true;
    world.hosts.packed = true;
    world.build(racks, 3);
    world.start();
    let mut set = set();
    set["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "hall", "pack": { "required": "rack" } });
    world.create(SETS, set);
    world.settle().await;
    assert_eq!(places(&world), "r0 r0 r0");
    world
}

/// UIDs of pods by the node that they are on.
pub(crate) fn nodes(world: &World) -> BTreeMap<String, String> {
    let pods = world.list("pods");
    pods.iter().filter_map(|it| Some((node_of(it)?.to_owned(), it.uid().to_owned()))).collect()
}

/// The racks of the pods that are here to stay.
fn places(world: &World) -> String {
    let pods = world.list("pods");
    let stay = pods.iter().filter(|it| it.field("/metadata/deletionTimestamp").is_none());
    let mut racks: Vec<&str> = stay.map(|it| node_of(it).map_or("-", rack)).collect();
    racks.sort_unstable();
    racks.join(" ")
}

/// The node of a pod of `a`.
pub(crate) fn host(world: &World) -> String {
    let pods = world.list("pods");
    let of_a = pods.iter().find(|it| it.name().starts_with(A)).unwrap();
    node_of(of_a).unwrap().to_owned()
}

fn noted(world: &World) -> Value {
    world.get(CLIQUES, A).field("/status/lostNodes").cloned().unwrap_or_default()
}

fn is_told(world: &World) -> bool {
    let clique = world.get(CLIQUES, A);
    let conditions = clique.field("/status/conditions").unwrap().as_array().unwrap();
    conditions.iter().any(|it| it["type"] == "NodeLost" && it["status"] == "True")
}

pub(crate) async fn wait(world: &World, seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    world.simulate();
}

/// All is as it was before, but for the pod that was on that node.
fn only_moved(before: &BTreeMap<String, String>, world: &World, from: &str) {
    let after = nodes(world);
    for (node, uid) in before.iter().filter(|(node, _)| *node != from) {
        assert_eq!(after.get(node), Some(uid), "{node}");
    }
    assert!(!after.contains_key(from), "{after:?}");
    assert_eq!(after.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_pod_on_a_silent_node_is_replaced_after_a_while_and_removed_in_the_end() {
    let mut world = running(1, 2, set()).await;
    let (before, made, node) = (nodes(&world), created(&world), host(&world));
    world.silence(&node);
    world.settle().await;
    assert_eq!((noted(&world)[0]["name"].as_str(), is_told(&world)), (Some(node.as_str()), false));
    wait(&world, 40).await;
    assert_eq!(nodes(&world), before, "not yet");
    wait(&world, 5).await;
    world.settle().await;
    assert_eq!(created(&world), made + 1, "the replacement does not wait for the pod that hangs");
    assert_eq!(nodes(&world).len(), 4);
    assert!(is_told(&world));
    assert_eq!(noted(&world)[0]["reason"], "Unreachable");
    tokio::time::sleep(STUCK).await;
    world.settle().await;
    only_moved(&before, &world, &node);
    assert_eq!((created(&world), noted(&world), is_told(&world)), (made + 1, Value::Null, false));
    for line in ["grove_pods_deleted_total{reason=\"NodeLost\"} 1", "grove_pods_force_deleted_total 1"] {
        assert!(world.metrics().lines().any(|it| it == line), "{line}");
    }
    an_hour_without_writes(&world).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_gone_is_gone_since_it_was_noticed_also_for_the_next_operator() {
    let mut world = running(2, 2, set()).await;
    let (before, node) = (nodes(&world), host(&world));
    world.unplug(&node);
    world.settle().await;
    let said = noted(&world);
    assert_eq!(said[0]["reason"], "Gone");
    world.kill();
    wait(&world, 40).await;
    world.start();
    world.simulate();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!((noted(&world), nodes(&world)), (said, before.clone()), "it counts on, and not from anew");
    wait(&world, 5).await;
    world.settle().await;
    tokio::time::sleep(STUCK).await;
    world.settle().await;
    only_moved(&before, &world, &node);
    an_hour_without_writes(&world).await;
}

/// Kubernetes tells the pods of a node that is not ready to go, and there they stay for as long as it is silent.
#[tokio::test(start_paused = true)]
async fn a_pod_that_somebody_deletes_on_a_silent_node_is_replaced_at_once() {
    let mut world = running(9, 2, set()).await;
    let (before, made, node) = (nodes(&world), created(&world), host(&world));
    world.silence(&node);
    world.settle().await;
    let pods = world.list("pods");
    let hanging = pods.iter().find(|it| node_of(it) == Some(node.as_str())).unwrap();
    world.delete("pods", hanging.name());
    world.settle().await;
    assert_eq!((created(&world), nodes(&world).get(&node)), (made + 1, before.get(&node)));
    world.heal(&node);
    world.settle().await;
    assert_eq!((created(&world), nodes(&world).len()), (made + 1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_comes_back_in_time_keeps_its_pods() {
    let mut world = running(3, 2, set()).await;
    let (before, node) = (nodes(&world), host(&world));
    world.silence(&node);
    wait(&world, 50).await;
    world.heal(&node);
    world.settle().await;
    assert_eq!((nodes(&world), noted(&world)), (before.clone(), Value::Null));
    // And it has the whole time again.
    world.silence(&node);
    wait(&world, 50).await;
    assert_eq!(nodes(&world), before);
    world.heal(&node);
    world.settle().await;
    an_hour_without_writes(&world).await;
    assert_eq!(nodes(&world), before);
}

#[tokio::test(start_paused = true)]
async fn a_taint_counts_unless_it_is_tolerated() {
    let mut tolerant = set();
    let tolerations = json!([
        { "key": "maintenance", "operator": "Exists", "effect": "NoExecute" },
        { "key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 },
    ]);
    tolerant["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["tolerations"] = tolerations;
    let mut world = running(4, 2, tolerant).await;
    let (before, node) = (nodes(&world), host(&world));
    world.taint(&node, "maintenance");
    an_hour_without_writes(&world).await;
    assert_eq!(nodes(&world), before);
    world.taint(&node, "other");
    wait(&world, 61).await;
    world.settle().await;
    only_moved(&before, &world, &node);
    // What Kubernetes adds to every pod says nothing.
    let (before, node) = (nodes(&world), host(&world));
    world.silence(&node);
    wait(&world, 61).await;
    world.settle().await;
    tokio::time::sleep(STUCK).await;
    world.settle().await;
    only_moved(&before, &world, &node);
}

/// Without a time on the taint it counts since it was noticed; a scheduling taint is nobody's business.
#[tokio::test(start_paused = true)]
async fn a_taint_may_have_no_time_and_another_effect() {
    let world = running(5, 2, set()).await;
    let (before, node) = (nodes(&world), host(&world));
    world.put_taints(&node, json!([{ "key": "other", "effect": "NoSchedule" }]));
    an_hour_without_writes(&world).await;
    world.put_taints(&node, json!([{ "key": "other", "effect": "NoExecute" }]));
    wait(&world, 50).await;
    assert_eq!(nodes(&world), before);
    wait(&world, 15).await;
    world.settle().await;
    only_moved(&before, &world, &node);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_answers_ends_its_pods_itself() {
    let mut world = running(6, 2, set()).await;
    let node = host(&world);
    world.silence(&node);
    world.taint(&node, "node.kubernetes.io/not-ready");
    wait(&world, 61).await;
    world.settle().await;
    assert_eq!(nodes(&world).len(), 4, "it is replaced");
    tokio::time::sleep(Duration::from_hours(1)).await;
    world.settle().await;
    assert_eq!(nodes(&world).len(), 4, "and not removed by force");
    assert!(is_told(&world));
    world.heal(&node);
    world.simulate();
    world.settle().await;
    assert_eq!((nodes(&world).len(), is_told(&world)), (3, false));
}

/// Killed between the note and what follows from it, and after that.
#[tokio::test(start_paused = true)]
async fn an_operator_that_dies_in_between_loses_and_repeats_nothing() {
    let is_delete: fn(&WriteRequest) -> bool = |it| it.verb() == "delete" && it.resource.id() == "pods";
    for k in 0..2 {
        let mut world = running(7, 3, set()).await;
        let (before, made, node) = (nodes(&world), created(&world), host(&world));
        world.silence(&node);
        let dead = die_after(&world, k, is_delete);
        for _ in 0..40 {
            tokio::time::sleep(Duration::from_secs(5)).await;
            if dead.load(Ordering::SeqCst) {
                break;
            }
            world.simulate();
        }
        assert!(dead.load(Ordering::SeqCst), "delete {k} never comes");
        assert!(noted(&world)[0]["lostAt"].is_string(), "it was noted first");
        world.kill();
        world.server.before_write(|_| Fault::None);
        world.start();
        world.settle().await;
        tokio::time::sleep(STUCK).await;
        world.settle().await;
        only_moved(&before, &world, &node);
        assert_eq!(created(&world), made + 1);
        an_hour_without_writes(&world).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_to_be_in_one_rack_moves_as_a_whole_once_for_each_loss() {
    let mut world = packed(8, 3).await;
    for (lost, from, to) in [(1, "r0", "r1 r1 r1"), (2, "r1", "r2 r2 r2")] {
        let made = created(&world);
        let node = host(&world);
        world.silence(&node);
        wait(&world, 61).await;
        world.settle().await;
        assert_eq!(places(&world), format!("- {from} {from}"), "one waits for a place in its rack");
        wait(&world, 40).await;
        world.settle().await;
        assert_eq!(places(&world), to);
        let restart = world.get(CLIQUES, "w-0-b").field("/status/restart").unwrap().clone();
        assert_eq!((&restart["reason"], &restart["scope"]), (&json!("NodeLost"), &json!("SetReplica")));
        tokio::time::sleep(STUCK).await;
        world.settle().await;
        assert_eq!(created(&world), made + 1 + 3, "loss {lost}: each pod once more");
        assert!(!is_told(&world));
        an_hour_without_writes(&world).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_finds_no_other_rack_waits_and_is_not_made_again() {
    let mut world = packed(9, 1).await;
    let made = created(&world);
    let node = host(&world);
    world.silence(&node);
    for _ in 0..5 {
        wait(&world, 61).await;
        world.settle().await;
    }
    assert_eq!((places(&world).as_str(), created(&world)), ("- - -", made + 1 + 3));
    assert!(is_told(&world));
    an_hour_without_writes(&world).await;
    world.heal(&node);
    world.simulate();
    world.settle().await;
    assert_eq!((places(&world).as_str(), created(&world)), ("r0 r0 r0", made + 1 + 3));
    assert!(!is_told(&world));
    an_hour_without_writes(&world).await;
}

/// Nobody else moves: its pods wait.
#[tokio::test(start_paused = true)]
async fn what_may_be_anywhere_is_not_moved() {
    let mut world = running(10, 1, set()).await;
    let made = created(&world);
    let (before, node) = (nodes(&world), host(&world));
    world.silence(&node);
    for _ in 0..5 {
        wait(&world, 61).await;
        world.settle().await;
    }
    an_hour_without_writes(&world).await;
    assert_eq!((places(&world).as_str(), created(&world)), ("- r0 r0", made + 1));
    assert!(nodes(&world).iter().all(|(node, uid)| before.get(node) == Some(uid)));
    assert!(is_told(&world));
}
