//! Sets that ask for more than one set may have. The caps are small here, so that whole operators reach them in seconds; that an
//! operator as it is run has those of admission is a test of its settings.

use grove_operator::Caps;
use serde_json::{Value, json};

use crate::world::{NAMESPACE, World, example};

const SETS: &str = "podcliquesets.grove.io";
const GROUPS: &str = "podcliquescalinggroups.grove.io";
const CLIQUES: &str = "podcliques.grove.io";

/// A cluster whose operator has this cap on the PodCliques of a set.
fn capped(cliques: u64) -> World {
    let mut world = World::new(1);
    world.caps = Caps { cliques, ..Caps::default() };
    world.start();
    world
}

/// A set of many cliques without pods, which are beside the point.
fn wide(replicas: u32, cliques: u32) -> Value {
    let clique = |at: u32| {
        let pod = json!({ "containers": [{ "name": "main", "image": "engine:1" }] });
        json!({ "name": format!("c{at}"), "spec": { "roleName": format!("c{at}"), "replicas": 0, "podSpec": pod } })
    };
    let cliques: Vec<Value> = (0..cliques).map(clique).collect();
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": "big", "namespace": NAMESPACE },
        "spec": { "replicas": replicas, "template": { "cliques": cliques } },
    })
}

/// Why not all is created, as the set says.
fn said(world: &World, set: &str) -> Option<String> {
    let set = world.get(SETS, set);
    let conditions = set.field("/status/conditions")?.as_array()?.clone();
    let condition = conditions.iter().find(|it| it["type"] == "SizeLimitExceeded")?;
    assert_eq!((&condition["status"], &condition["reason"]), (&json!("True"), &json!("NotAllCreated")));
    Some(condition["message"].as_str().unwrap().to_owned())
}

/// The in-memory API asks no webhook and knows no CEL: the set is there, as one from before the cap is.
#[tokio::test(start_paused = true)]
async fn a_set_beyond_the_cap_gets_no_more_than_the_cap() {
    let world = capped(100);
    world.create(SETS, wide(150, 8));
    world.settle().await;
    assert_eq!(world.names(CLIQUES).len(), 96);
    assert!(world.names(CLIQUES).contains(&"big-11-c7".to_owned()));
    assert_eq!(world.names("services").len(), 12);
    let words = said(&world, "big").unwrap();
    let beginning = "96 of 1200 PodCliques are created, nothing from set replica 12 on: a set may have at most 100 PodCliques";
    assert!(words.starts_with(beginning), "{words}");

    // An operator that knows nothing of it adds nothing.
    let mut world = world;
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(world.names(CLIQUES).len(), 96);

    world.patch(SETS, "big", json!({ "spec": { "replicas": 10 } }));
    world.settle().await;
    assert_eq!(said(&world, "big"), None);
    assert_eq!(world.names(CLIQUES).len(), 80);
}

/// Each replica is small enough for admission, ten of them are, and `/scale` asks no webhook while no operator answers.
#[tokio::test(start_paused = true)]
async fn a_set_of_large_templates_is_scaled_to_no_more_bytes_than_the_cap() {
    let mut world = World::new(1);
    world.caps = Caps { bytes: 700_000, ..Caps::default() };
    world.start();
    let mut set = wide(10, 1);
    let variable = json!({ "name": "LARGE", "value": "x".repeat(10_000) });
    set["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["env"] = json!([variable]);
    world.create(SETS, set);
    world.settle().await;
    assert_eq!((world.names(CLIQUES).len(), said(&world, "big")), (10, None));

    world.patch(SETS, "big", json!({ "spec": { "replicas": 10_000 } }));
    world.settle().await;
    let count = world.names(CLIQUES).len();
    assert!((60..70).contains(&count), "{count} PodCliques");
    let words = said(&world, "big").unwrap();
    assert!(words.starts_with(&format!("{count} of 10000 PodCliques are created")), "{words}");
    assert!(words.contains("and its PodCliques 700000 bytes (these would have 11"), "{words}");
}

/// Seven PodCliques in a replica of the set, three of which are its base.
#[tokio::test(start_paused = true)]
async fn a_group_that_is_scaled_beyond_the_cap_gets_more_when_another_is_scaled_in() {
    let world = capped(14);
    world.create(SETS, example(2));
    world.settle().await;
    assert_eq!(world.names(CLIQUES).len(), 14);
    assert_eq!(said(&world, "inf"), None);

    world.patch(GROUPS, "inf-0-pd", json!({ "spec": { "replicas": 5 } }));
    world.settle().await;
    assert_eq!(world.names(CLIQUES).len(), 14);
    let words = said(&world, "inf").unwrap();
    let beginning =
        "14 of 18 PodCliques are created, nothing from replica 3 of PodCliqueScalingGroup inf-0-pd on";
    assert!(words.starts_with(beginning), "{words}");

    world.patch(GROUPS, "inf-1-pd", json!({ "spec": { "replicas": 1 } }));
    world.settle().await;
    let cliques = world.names(CLIQUES);
    assert_eq!(cliques.len(), 14);
    assert!(cliques.contains(&"inf-0-pd-4-dec".to_owned()), "{cliques:?}");
    assert_eq!(said(&world, "inf"), None);
}
