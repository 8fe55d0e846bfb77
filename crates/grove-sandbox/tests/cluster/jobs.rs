//! Jobs: from the first pod to the end.

use serde_json::{Value, json};

use crate::world::{NS, World, condition};

const JOBS: &str = "jobs.batch";

fn job(name: &str, spec: Value, annotations: Value) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name },
        "spec": { "template": {
            "metadata": { "annotations": annotations },
            // Nothing schedules here.
            "spec": { "nodeName": "node-0", "restartPolicy": "Never", "containers": [{ "name": "c", "image": "i:1" }] },
        } },
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        job["spec"][field] = value.clone();
    }
    job
}

fn pods(world: &World) -> Vec<Value> {
    world.server.store().list("pods", None).iter().map(|it| it.value().clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_job_completes_when_its_pods_have() {
    let world = World::of("hosts=1").await;
    let slow = json!({ "sandbox.grove.io/complete-after": "30s" });
    world.create(JOBS, job("train", json!({ "parallelism": 2, "completions": 3 }), slow));
    world.pass(10.0).await;
    let train = || world.get_in(JOBS, NS, "train").unwrap();
    assert_eq!((&train()["status"]["active"], pods(&world).len()), (&json!(2), 2));
    world.pass(30.0).await;
    assert_eq!((&train()["status"]["succeeded"], &train()["status"]["active"]), (&json!(2), &json!(1)));
    world.pass(30.0).await;
    assert_eq!(condition(&train(), "Complete"), "True");
    assert_eq!((&train()["status"]["succeeded"], pods(&world).len()), (&json!(3), 3));
    let reasons: Vec<String> = world.events("train").into_iter().map(|it| it.0).collect();
    assert_eq!(reasons, ["SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "Completed"]);
    let before = world.writes();
    world.pass(3_600.0).await;
    assert_eq!(world.writes(), before, "it is over");
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_pods_fail_gives_up() {
    let world = World::of("hosts=1").await;
    let fails = json!({ "sandbox.grove.io/fail-after": "1s" });
    let spec = json!({ "parallelism": 1, "completions": 1, "backoffLimit": 1 });
    world.create(JOBS, job("bad", spec, fails));
    world.pass(8.0).await;
    assert_eq!(pods(&world).len(), 1, "the second one waits");
    world.pass(10.0).await;
    let bad = world.get_in(JOBS, NS, "bad").unwrap();
    assert_eq!((condition(&bad, "Failed").as_str(), &bad["status"]["failed"]), ("True", &json!(2)));
    assert!(world.events("bad").iter().any(|it| it.0 == "BackoffLimitExceeded"));
}

#[tokio::test(start_paused = true)]
async fn pods_that_go_are_replaced_and_those_of_others_are_left_alone() {
    let world = World::of("hosts=1").await;
    let stays = json!({ "sandbox.grove.io/complete-after": "1h" });
    let spec = json!({ "parallelism": 2, "completions": 2, "completionMode": "Indexed" });
    world.create(JOBS, job("train", spec, stays.clone()));
    world.create(JOBS, job("foreign", json!({ "managedBy": "example.com/queue" }), stays));
    world.pod("stranger", "node-0", json!({}));
    world.pass(1.0).await;
    let names = || -> Vec<String> {
        let all = pods(&world).into_iter().map(|it| it["metadata"]["name"].as_str().unwrap().to_owned());
        all.filter(|it| it != "stranger").collect()
    };
    let before = names();
    assert_eq!(before.len(), 2, "{before:?}");
    assert!(before[0].starts_with("train-0-") && before[1].starts_with("train-1-"));
    world.delete("pods", &before[1]);
    world.pass(60.0).await;
    let after = names();
    assert!(
        after.len() == 2
            && after[0] == before[0]
            && after[1].starts_with("train-1-")
            && after[1] != before[1]
    );
    world.patch(JOBS, "train", json!({ "spec": { "suspend": true } }));
    world.pass(60.0).await;
    assert!(names().is_empty() && world.has_pod("stranger"));
}
