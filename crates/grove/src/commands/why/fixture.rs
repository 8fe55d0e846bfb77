//! Objects for tests, as short as they can be.

use std::collections::BTreeMap;

use grove_api::wire::{PodGang, SchedulerBackend};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::facts::Facts;

fn conditions(all: &[(&str, &str, &str, &str)]) -> Value {
    let condition = |(type_, status, reason, message): &(&str, &str, &str, &str)| {
        json!({
            "type": type_, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": "2027-01-01T00:00:00Z",
        })
    };
    all.iter().map(condition).collect()
}

/// A gang of the set `chat`.
pub(in crate::commands) fn gang(name: &str, all: &[(&str, &str, &str, &str)]) -> PodGang {
    serde_json::from_value(json!({
        "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
        "metadata": {
            "name": name, "namespace": "default",
            "labels": { "app.kubernetes.io/part-of": "chat", "grove.io/scheduler-name": "default-scheduler" },
        },
        "spec": { "podgroups": [] },
        "status": { "phase": "Pending", "conditions": conditions(all) },
    }))
    .unwrap()
}

/// A pod of a gang.
pub(super) fn pod(name: &str, clique: &str, gang: &str, spec: &Value) -> Pod {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "default",
            "labels": {
                "app.kubernetes.io/part-of": "chat", "grove.io/podclique": clique, "grove.io/podgang": gang,
            },
        },
        "spec": { "containers": [], "schedulerName": "default-scheduler" },
        "status": { "phase": "Pending" },
    });
    for (key, value) in spec.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    serde_json::from_value(pod).unwrap()
}

/// Containers that ask for so many GPUs.
pub(super) fn gpus(counts: &[u32]) -> Value {
    let container = |(number, count): (usize, &u32)| {
        let asked = json!({ "nvidia.com/gpu": count.to_string(), "cpu": "2" });
        json!({ "name": format!("c{number}"), "resources": { "requests": asked, "limits": asked } })
    };
    json!({ "containers": counts.iter().enumerate().map(container).collect::<Vec<_>>() })
}

/// A pod that nobody has let go.
pub(super) fn gated(gates: &[&str]) -> Value {
    json!({ "schedulingGates": gates.iter().map(|it| json!({ "name": it })).collect::<Vec<_>>() })
}

/// A pod of a scaled gang.
pub(super) fn after(mut pod: Pod, base: &str) -> Pod {
    let labels = pod.metadata.labels.get_or_insert_default();
    labels.insert("grove.io/base-podgang".to_owned(), base.to_owned());
    pod
}

pub(super) fn backend(name: &str, status: &str, reason: &str, message: &str) -> SchedulerBackend {
    serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "SchedulerBackend", "metadata": { "name": name }, "spec": {},
        "status": { "conditions": conditions(&[("SchedulerBackendReady", status, reason, message)]) },
    }))
    .unwrap()
}

/// The conditions of a gang that runs.
pub(super) const RUNS: &[(&str, &str, &str, &str)] = &[
    ("Initialized", "True", "AllPodsCreated", ""),
    ("Scheduled", "True", "MinimumBound", ""),
    ("Ready", "True", "MinimumReady", ""),
    ("Unhealthy", "False", "Healthy", ""),
];

/// Three gangs: one that runs, one without a place, and one that waits for that one.
pub(super) fn chat() -> Facts {
    let no_room = "chat-0-decode: none of the 4 domains of topology.example.com/rack has room for it; the first has room for \
                   at most 1 of the 2 pods that are needed";
    let base_first = "waiting for the base gang to be scheduled";
    Facts {
        namespace: "default".to_owned(),
        set: "chat".to_owned(),
        gangs: vec![
            gang("chat-1", RUNS),
            gang("chat-0-decode-0", &[("Scheduled", "False", "WaitingForBaseGang", base_first)]),
            gang("chat-0", &[("Scheduled", "False", "Unschedulable", no_room)]),
        ],
        gang: None,
        group: None,
        pod: None,
        pods: vec![
            pod("chat-0-decode-a", "chat-0-decode", "chat-0", &gpus(&[8])),
            pod("chat-0-decode-b", "chat-0-decode", "chat-0", &gpus(&[8])),
            pod("chat-0-router-a", "chat-0-router", "chat-0", &json!({})),
            after(
                pod(
                    "chat-0-decode-1-a",
                    "chat-0-decode-1",
                    "chat-0-decode-0",
                    &gated(&["grove.io/podgang-pending-creation"]),
                ),
                "chat-0",
            ),
        ],
        preemptions: BTreeMap::new(),
        nodes: None,
        backends: Some(vec![backend("default-scheduler", "True", "BackendInitialized", "")]),
        registry: grove_scheduler::builtin::builtin(),
    }
}
