//! Sets that ask for more than one set may have.

use grove_api::limits::MAX_POD_CLIQUES_PER_SET;
use serde_json::{Value, json};

use crate::world::{NAMESPACE, World};

const SETS: &str = "podcliquesets.grove.io";
const CLIQUES: &str = "podcliques.grove.io";

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
fn said(world: &World) -> Option<String> {
    let set = world.get(SETS, "big");
    let conditions = set.field("/status/conditions")?.as_array()?.clone();
    let condition = conditions.iter().find(|it| it["type"] == "SizeLimitExceeded")?;
    assert_eq!((&condition["status"], &condition["reason"]), (&json!("True"), &json!("NotAllCreated")));
    Some(condition["message"].as_str().unwrap().to_owned())
}

/// The in-memory API asks no webhook and knows no CEL: the set is there, as one from before the cap is.
#[tokio::test(start_paused = true)]
#[ignore = "10,000 PodCliques: minutes"]
async fn a_set_beyond_the_cap_gets_no_more_than_the_cap() {
    let world = World::started(1);
    world.create(SETS, wide(1_500, 64));
    world.settle().await;
    let cliques = world.names(CLIQUES).len() as u64;
    assert_eq!(cliques, MAX_POD_CLIQUES_PER_SET / 64 * 64);
    assert!(world.names(CLIQUES).contains(&"big-155-c63".to_owned()));
    assert_eq!(world.names("services").len(), 156);
    let words = said(&world).unwrap();
    let beginning = "9984 of 96000 PodCliques are created, nothing from set replica 156 on: a set may have at most 10000 PodCliques";
    assert!(words.starts_with(beginning), "{words}");

    world.patch(SETS, "big", json!({ "spec": { "replicas": 150 } }));
    world.settle().await;
    assert_eq!(said(&world), None);
    assert_eq!(world.names(CLIQUES).len(), 150 * 64);
}
