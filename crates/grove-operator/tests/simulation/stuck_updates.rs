//! Updates that cannot go on: what they leave alone, and what they say.

use grove_apiserver::Fault;
use serde_json::{Value, json};

use crate::{
    herds::{TOY, Toy},
    updates::{condition, image, ready, serving, status},
    world::{DEFAULT, World, example, profiles},
};

/// What the set says of its update.
fn words(world: &World) -> String {
    let all = status(world, "/conditions");
    let said = all.as_array().into_iter().flatten().find(|it| it["type"] == "UpdateInProgress");
    said.and_then(|it| it["message"].as_str()).unwrap_or_default().to_owned()
}

/// What was updated breaks after its turn: the replica that has its turn now is the last that is touched.
#[tokio::test(start_paused = true)]
async fn a_template_that_breaks_after_a_while_does_not_go_through_all_replicas() {
    let mut world = ready(12, 3).await;
    let of_last = |world: &World| {
        let pods = world.list("pods").into_iter().filter(|it| it.name().starts_with("inf-2-"));
        pods.map(|it| it.uid().to_owned()).collect::<Vec<_>>()
    };
    let last = of_last(&world);
    image(&world, &[0], "engine:2");
    world
        .settle_unless(|| status(&world, "/updateProgress/currentlyUpdating/0/replicaIndex") == json!(1))
        .await;
    world.unready = vec!["inf-0-fe"];
    for pod in world.names("pods").iter().filter(|it| it.starts_with("inf-0-fe-")) {
        world.patch_status("pods", pod, json!({ "conditions": [] }));
    }
    world.settle().await;
    assert_eq!(serving(&world)["inf-1-fe"], ["engine:2", "engine:2"]);
    assert_eq!(of_last(&world), last);
    let words = words(&world);
    assert!(
        words.contains("waits until 3 replicas are available") && words.contains("inf-0-fe: 0 pods ready"),
        "{words}"
    );

    world.unready.clear();
    world.simulate();
    world.settle().await;
    assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
    assert_eq!(serving(&world)["inf-2-fe"], ["engine:2", "engine:2"]);
}

/// Pods that end with failure come again and again; that is no progress, and it is said which they are.
#[tokio::test(start_paused = true)]
async fn an_update_whose_pods_fail_is_stuck_and_names_them() {
    let mut world = ready(10, 1).await;
    world.unready = vec!["inf-0-fe"];
    image(&world, &[0], "broken");
    for _ in 0..360 {
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        world.simulate();
        for pod in world.list("pods") {
            let text = |path: &str| pod.field(path).and_then(Value::as_str).unwrap_or_default();
            let fails = text("/spec/containers/0/image") == "broken" && !text("/spec/nodeName").is_empty();
            if fails && text("/status/phase") != "Failed" {
                world.patch_status("pods", pod.name(), json!({ "phase": "Failed", "conditions": [] }));
            }
        }
    }
    assert_eq!(serving(&world)["inf-0-fe"], ["engine:1"]);
    assert_eq!(condition(&world, "UpdateInProgress"), "True/ProgressDeadlineExceeded");
    let words = words(&world);
    assert!(words.contains("waiting for pod inf-0-fe-") && words.ends_with(": failed"), "{words}");
}

/// Where the API server refuses what comes in the place of a pod, the update says so.
#[tokio::test(start_paused = true)]
async fn an_update_whose_pods_are_refused_says_so() {
    let world = ready(11, 1).await;
    world.server.before_write(|write| {
        let creates = write.resource.id() == "pods" && write.verb() == "create";
        if creates { Fault::refuse(403, "Forbidden", "exceeded quota: q") } else { Fault::None }
    });
    image(&world, &[0], "engine:2");
    world.settle().await;
    assert_eq!(serving(&world)["inf-0-fe"], ["engine:1"]);
    let words = words(&world);
    assert!(
        words.contains("waiting for PodClique inf-0-fe: ") && words.contains("exceeded quota"),
        "{words}"
    );
}

/// A pod that is taken away where none can be made would be missed until somebody mends the configuration.
#[tokio::test(start_paused = true)]
async fn nothing_is_replaced_where_nothing_can_be_made() {
    let mut world = World::with_toy(13, &Toy::default());
    world.start();
    let mut set = example(1);
    for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
        clique["spec"]["podSpec"]["schedulerName"] = TOY.into();
    }
    world.create("podcliquesets.grove.io", set);
    world.settle().await;
    let before = serving(&world);
    world.kill();
    world.scheduler = profiles(&[DEFAULT], DEFAULT);
    world.start();
    world.settle().await;
    image(&world, &[0, 1, 2], "engine:2");
    world.settle().await;
    assert_eq!(serving(&world), before);
    assert_eq!(condition(&world, "UpdateInProgress"), "True/ReplacingPods");
    let words = words(&world);
    assert!(words.contains("PodGang inf-0: ") && words.contains("no profile"), "{words}");

    world.kill();
    world.scheduler = profiles(&[DEFAULT, TOY], DEFAULT);
    world.start();
    world.settle().await;
    let now = serving(&world);
    assert!(now.values().flatten().all(|it| it == "engine:2"), "{now:?}");
    assert_eq!(now.values().flatten().count(), before.values().flatten().count());
    assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
}
