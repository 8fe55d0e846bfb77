//! What is counted of sets, and that no name which a user chooses becomes a label: each would be a series of its own, for ever.

use grove_apiserver::Action;
use serde_json::{Value, json};

use crate::world::{World, example};

const SETS: &str = "podcliquesets.grove.io";
/// In every name that a user chooses here, and nowhere else.
const MARK: &str = "x7k2p";

/// The worked example, in which everything that a user may name is named by them.
fn set(name: &str, namespace: &str, scheduler: Option<&str>) -> Value {
    let mut set = example(1);
    set["metadata"] = json!({
        "name": name, "namespace": namespace, "labels": { name: name }, "annotations": { name: name },
    });
    for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
        if let Some(scheduler) = scheduler {
            clique["spec"]["podSpec"]["schedulerName"] = scheduler.into();
        }
    }
    set
}

/// How many gangs have reached a stage.
fn reached(world: &World, stage: &str) -> u64 {
    let text = world.metrics();
    let counts = text.lines().filter_map(|it| it.strip_prefix("grove_podgang_stage_duration_seconds_count{"));
    let of_stage = counts.filter(|it| it.contains(&format!("stage=\"{stage}\"")));
    of_stage.map(|it| it.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

fn stages(world: &World) -> [u64; 3] {
    ["complete", "scheduled", "ready"].map(|it| reached(world, it))
}

#[tokio::test(start_paused = true)]
async fn names_of_users_are_in_no_metric() {
    let world = World::started(1);
    let tenant = format!("{MARK}-tenant");
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": tenant } });
    world.write("namespaces", "", "", None, Action::Create(namespace)).unwrap();
    world.create(SETS, set(MARK, "ml", None));
    world.create(SETS, set(&format!("{MARK}-2"), "ml", Some(&format!("{MARK}-scheduler"))));
    let foreign = set(&format!("{MARK}-3"), &tenant, None);
    world.write(SETS, &tenant, "", None, Action::Create(foreign)).unwrap();
    world.settle().await;
    let text = world.metrics();
    assert!(reached(&world, "ready") > 0, "{text}");
    let named: Vec<&str> = text.lines().filter(|it| it.contains(MARK)).collect();
    assert!(named.is_empty(), "{named:?}");
}

/// A base gang, and two that were scaled out.
#[tokio::test(start_paused = true)]
async fn each_gang_counts_once_for_each_stage() {
    let mut world = World::started(2);
    world.create(SETS, example(1));
    world.settle().await;
    assert_eq!(stages(&world), [3, 3, 3]);
    // Its place is lost, and there is another.
    for pod in world.list("pods") {
        world.delete("pods", pod.name());
    }
    world.settle().await;
    assert_eq!(stages(&world), [3, 3, 3]);
    // The next operator finds them as they are.
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(stages(&world), [0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn types_are_those_of_the_page() {
    let world = World::started(3);
    world.create(SETS, example(1));
    world.settle().await;
    let page = include_str!("../../../../docs/metrics.md");
    let text = world.metrics();
    let types = text.lines().filter_map(|it| it.strip_prefix("# TYPE ")?.split_once(' '));
    for (name, type_) in types {
        let end = if type_ == "counter" { "_total" } else { "" };
        assert!(page.contains(&format!("\n| `{name}{end}` | {type_} | ")), "{name} is not listed as {type_}");
    }
}
