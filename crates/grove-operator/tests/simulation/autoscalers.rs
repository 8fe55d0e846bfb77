//! Autoscalers follow their template.

use serde_json::{Value, json};

use crate::world::World;
use crate::world::example;

const SETS: &str = "podcliquesets.grove.io";
const AUTOSCALERS: &str = "horizontalpodautoscalers.autoscaling";

fn cpu(percent: i32) -> Value {
    let target = json!({ "type": "Utilization", "averageUtilization": percent });
    json!([{ "type": "Resource", "resource": { "name": "cpu", "target": target } }])
}

fn cliques(metrics: &Value) -> Value {
    let mut cliques = example(1)["spec"]["template"]["cliques"].clone();
    cliques[0]["spec"]["autoScalingConfig"] =
        json!({ "minReplicas": 1, "maxReplicas": 4, "metrics": metrics });
    cliques
}

/// Where the template has no metrics any more, neither has the autoscaler, but for those that the API server fills in.
#[tokio::test(start_paused = true)]
async fn metrics_that_left_the_template_are_removed() {
    let world = World::started(1);
    let mut set = example(1);
    set["spec"]["template"]["cliques"] = cliques(&cpu(50));
    world.create(SETS, set);
    world.settle().await;
    let metrics = || world.get(AUTOSCALERS, "inf-0-fe").field("/spec/metrics").cloned();
    assert_eq!(metrics(), Some(cpu(50)));

    world.patch(SETS, "inf", json!({ "spec": { "template": { "cliques": cliques(&json!([])) } } }));
    world.settle().await;
    assert_eq!(metrics(), None);
    assert_eq!(world.get(AUTOSCALERS, "inf-0-fe").field("/spec/maxReplicas"), Some(&json!(4)));

    world.patch(AUTOSCALERS, "inf-0-fe", json!({ "spec": { "metrics": cpu(80) } }));
    let before = world.server.store().write_count();
    world.settle().await;
    assert_eq!((metrics(), world.server.store().write_count()), (Some(cpu(80)), before));
}
