//! Where gangs are: what was scaled out follows its base gang, and a gang says how well it sits.

use grove_apiserver::{Action, Object, PatchBody};
use serde_json::{Value, json};

use crate::{
    herds::{TOY, Toy},
    hosts::{node_of, rack},
    workload::{self, GROUPS, Minima, SETS},
    world::{DEFAULT, World, profiles},
};

const GANGS: &str = "podgangs.scheduler.grove.io";
const RACK: &str = "example.com/rack";
/// All pods of a replica of the group, and one replica of it in the base gang.
const ONE_REPLICA: Minima = Minima { a: 2, x: 1, c: 3 };

/// Two racks of ten nodes, the first of which takes nobody, and a topology of racks.
pub(crate) fn hall(seed: u64) -> World {
    let mut world = World::with_toy(seed, &Toy::default());
    world.scheduler = profiles(&[DEFAULT, TOY], TOY);
    let binding = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "hall" },
        "spec": { "levels": [{ "domain": "rack", "key": RACK }] },
    });
    world.write("clustertopologybindings.grove.io", "", "", None, Action::Create(binding)).unwrap();
    world.topology_aware = true;
    world.build(2, 10);
    close(&world, true);
    world.start();
    world
}

/// Whether the first rack takes nobody.
pub(crate) fn close(world: &World, closed: bool) {
    for host in 0..10 {
        let taints = if closed { json!([{ "key": "closed", "effect": "NoSchedule" }]) } else { json!([]) };
        world.put_taints(&format!("r0-h{host}"), taints);
    }
}

pub(crate) fn set(constraint: Value) -> Value {
    let mut set = workload::set(ONE_REPLICA, 1);
    set["spec"]["template"]["podCliqueScalingGroups"][0]["replicas"] = json!(1);
    set["spec"]["template"]["topologyConstraint"] = constraint;
    set
}

/// Racks and node selectors of the pods of a clique.
pub(crate) fn of(world: &World, clique: &str) -> Vec<(String, Value)> {
    let pods = world.list("pods");
    let of_clique = pods.iter().filter(|it| it.name().starts_with(clique));
    let found = of_clique.map(|it: &std::sync::Arc<Object>| {
        let selector = it.field("/spec/nodeSelector").cloned().unwrap_or_default();
        (node_of(it).map_or("-", rack).to_owned(), selector)
    });
    found.collect()
}

async fn scale(world: &World, replicas: u32) {
    world.patch(GROUPS, "w-0-x", json!({ "spec": { "replicas": replicas } }));
    world.settle().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_scaled_out_follows_its_base_gang() {
    let world = hall(1);
    world.create(SETS, set(json!({ "topologyName": "hall", "pack": { "required": "rack" } })));
    world.settle().await;
    assert_eq!(of(&world, "w-0-a"), vec![("r1".to_owned(), Value::Null); 2]);
    // There is room in the first rack, and it would be taken first.
    close(&world, false);
    scale(&world, 2).await;
    for (clique, count) in [("w-0-x-1-b", 1), ("w-0-x-1-c", 3)] {
        assert_eq!(of(&world, clique), vec![("r1".to_owned(), json!({ RACK: "r1" })); count], "{clique}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_only_preferred_binds_nobody() {
    let world = hall(2);
    world.create(SETS, set(json!({ "topologyName": "hall", "pack": { "preferred": "rack" } })));
    world.settle().await;
    close(&world, false);
    scale(&world, 2).await;
    assert_eq!(of(&world, "w-0-x-1-b"), [("r0".to_owned(), Value::Null)]);
}

#[tokio::test(start_paused = true)]
async fn whoever_chooses_the_label_keeps_his_choice() {
    let world = hall(3);
    let mut set = set(json!({ "topologyName": "hall", "pack": { "required": "rack" } }));
    let chosen = json!({ RACK: "r0" });
    set["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["nodeSelector"] = chosen.clone();
    world.create(SETS, set);
    close(&world, false);
    world.settle().await;
    scale(&world, 2).await;
    assert_eq!(of(&world, "w-0-x-1-b"), [("r0".to_owned(), chosen)]);
}

/// The score of the base gang, and what it says where that is below one.
fn score(world: &World) -> (Value, Value) {
    let gang = world.get(GANGS, "w-0");
    let conditions = gang.field("/status/conditions").unwrap().as_array().unwrap().clone();
    let said = conditions.iter().find(|it| it["type"] == "PreferredPlacement");
    let said = said.map(|it| {
        assert_eq!((&it["status"], &it["reason"]), (&json!("False"), &json!("PreferredLevelsMissed")));
        it["message"].clone()
    });
    (gang.field("/status/placementScore").cloned().unwrap_or_default(), said.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_gang_says_how_well_it_sits() {
    let world = hall(4);
    world.create(SETS, set(json!({ "topologyName": "hall", "pack": { "preferred": "rack" } })));
    world.settle().await;
    assert_eq!(score(&world), (json!(1.0), Value::Null));

    // Somebody puts one of the nodes into another rack.
    let pods = world.list("pods");
    let node = pods.iter().find_map(|it| node_of(it)).unwrap().to_owned();
    let moved = json!({ "metadata": { "labels": { RACK: "r7" } } });
    world.write("nodes", "", &node, None, Action::Patch(PatchBody::Merge(moved))).unwrap();
    world.settle().await;
    let words = "the gang is in 2 domains of example.com/rack instead of one";
    assert_eq!(score(&world), (json!(0.0), json!(words)));
}
