//! The plugin, asked as the pod grouper asks it: through the hub that it is registered in.

#![allow(clippy::expect_used, reason = "a test fails by panicking, also in its functions")]

use std::sync::Arc;

use example_plugin::{CustomJob, KIND};
use grove_podgrouper::{Found, Group, Hub, Owner, Refused, Settings, Workload};
use serde_json::{Value, json};

fn hub() -> Hub {
    Hub::builtin().with(KIND, Arc::new(CustomJob))
}

fn job(spec: Value) -> Value {
    let metadata = json!({
        "namespace": "team", "name": "train", "uid": "1234", "labels": { "kai.scheduler/queue": "research" },
    });
    let mut job = json!({ "apiVersion": "example.com/v1", "kind": "CustomJob", "metadata": metadata });
    job["spec"] = spec;
    job
}

/// The group of a pod of a job.
fn group_of(job: &Value) -> Result<Group, Refused> {
    let metadata = json!({ "namespace": "team", "name": "train-0", "uid": "5678" });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata });
    let workload = Workload { pod: &pod, top: job, owners: &[Owner::of(job)] };
    // It needs nothing but the job; else what it asks for is read, and it is asked again.
    let found = Found::default();
    assert_eq!(hub().needs(workload, &found, &Settings::default()), Ok(Vec::new()));
    Ok(hub().group(workload, &found, &Settings::default())?.expect("a group"))
}

#[test]
fn the_job_says_how_many() {
    let table = [
        (json!({ "minAvailable": 6, "replicas": 8 }), 6),
        (json!({ "replicas": 8 }), 8),
        (json!({ "minAvailable": 0, "replicas": 8 }), 8),
        (json!({ "minAvailable": null, "replicas": 0 }), 1),
        (json!({}), 1),
        (Value::Null, 1),
    ];
    for (spec, expected) in table {
        assert_eq!(group_of(&job(spec.clone())).unwrap().min_members, expected, "{spec}");
    }
}

#[test]
fn what_is_no_number_is_refused_with_its_field() {
    for (spec, field) in [
        (json!({ "minAvailable": "6" }), "spec.minAvailable is \"6\": "),
        (json!({ "replicas": -1 }), "spec.replicas is -1: "),
        (json!({ "replicas": 2.5 }), "spec.replicas is 2.5: "),
    ] {
        let Refused(why) = group_of(&job(spec)).unwrap_err();
        assert!(why.starts_with(field), "{why}");
    }
}

#[test]
fn the_rest_is_as_for_every_workload() {
    let group = group_of(&job(json!({ "replicas": 2 }))).unwrap();
    assert_eq!((group.name.as_str(), group.owner.kind.as_str()), ("pg-train-1234", "CustomJob"));
    assert_eq!((group.queue.as_str(), group.priority_class.as_str()), ("research", "train"));
}

#[test]
fn it_is_the_plugin_of_its_kind_alone() {
    let name = |job: &Value| hub().plugin_name(job, &Settings::default());
    assert_eq!(name(&job(json!({}))), "CustomJob");
    let mut other = job(json!({}));
    other["apiVersion"] = json!("example.com/v2");
    assert_eq!(name(&other), "default");
    assert!(hub().reads_spec(KIND));
}
