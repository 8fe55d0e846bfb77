//! Objects for tests, as short as they can be.

use grove_api::wire::{Condition, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang};
use k8s_openapi::api::core::v1::Pod;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::seen::{Objects, Seen, key};

fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

/// Labels of what belongs to the set `chat`.
fn labels(more: &Value) -> Value {
    let mut labels = json!({ "app.kubernetes.io/part-of": "chat" });
    for (key, value) in more.as_object().unwrap() {
        labels[key] = value.clone();
    }
    labels
}

pub(in crate::commands) fn conditions(all: &[(&str, &str, &str, &str)]) -> Value {
    let condition = |(type_, status, reason, message): &(&str, &str, &str, &str)| {
        json!({
            "type": type_, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": "2027-01-01T00:00:00Z",
        })
    };
    all.iter().map(condition).collect()
}

pub(in crate::commands) fn set(replicas: i32, status: Value) -> PodCliqueSet {
    let mut value = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
        "metadata": { "name": "chat", "namespace": "default", "generation": 2 },
        "spec": { "replicas": replicas, "template": { "cliques": [] } },
    });
    if !status.is_null() {
        value["status"] = status;
    }
    object(value)
}

pub(in crate::commands) fn group(name: &str, wanted: i32, available: i32) -> PodCliqueScalingGroup {
    object(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueScalingGroup",
        "metadata": { "name": name, "namespace": "default", "labels": labels(&json!({})) },
        "spec": { "replicas": wanted, "minAvailable": 1, "cliqueNames": [] },
        "status": { "availableReplicas": available },
    }))
}

/// A clique of so many pods, of which `minimum` are needed.
pub(in crate::commands) fn clique(name: &str, gang: &str, wanted: i32, minimum: i32) -> PodClique {
    object(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodClique",
        "metadata": { "name": name, "namespace": "default", "labels": labels(&json!({ "grove.io/podgang": gang })) },
        "spec": { "roleName": "role", "replicas": wanted, "minAvailable": minimum, "podSpec": { "containers": [] } },
        "status": { "readyReplicas": 0, "conditions": [] },
    }))
}

pub(in crate::commands) fn gang(name: &str, phase: &str, all: &[(&str, &str, &str, &str)]) -> PodGang {
    object(json!({
        "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
        "metadata": { "name": name, "namespace": "default", "labels": labels(&json!({})) },
        "spec": { "podgroups": [] },
        "status": { "phase": phase, "conditions": conditions(all) },
    }))
}

/// A pod of a clique; `more` is put over it.
pub(in crate::commands) fn pod(clique: &str, index: usize, more: &Value) -> Pod {
    let mut value = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("{clique}-{index}"), "namespace": "default",
            "labels": labels(&json!({ "grove.io/podclique": clique, "grove.io/podgang": "chat-0" })),
        },
        "spec": { "containers": [], "schedulerName": "default-scheduler" },
        "status": { "phase": "Pending" },
    });
    merge(&mut value, more);
    object(value)
}

fn merge(target: &mut Value, more: &Value) {
    match (target.as_object_mut(), more.as_object()) {
        (Some(target), Some(more)) => {
            more.iter().for_each(|(key, value)| merge(target.entry(key).or_insert(Value::Null), value));
        }
        _ => *target = more.clone(),
    }
}

pub(in crate::commands) fn ready() -> Value {
    json!({
        "spec": { "nodeName": "node" },
        "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] },
    })
}

pub(in crate::commands) fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Condition {
    object(conditions(&[(type_, status, reason, message)])[0].clone())
}

pub(in crate::commands) fn objects<K: kube::Resource>(all: Vec<K>) -> Objects<K> {
    all.into_iter().map(|it| (key(&it), it)).collect()
}

/// Two roles: one whose pods are ready, and one without a place.
pub(in crate::commands) fn chat() -> Seen {
    let no_place = json!({ "status": { "conditions": [
        { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available" },
    ] } });
    let status = json!({
        "observedGeneration": 2, "replicas": 1, "availableReplicas": 0,
        "conditions": conditions(&[
            ("Available", "False", "ReplicasUnavailable", "0 of 1 replicas are available; chat-0-decode: 0 pods ready, at least 1 needed"),
            ("Progressing", "True", "AwaitingPods", "1 of 3 pods are ready; gangs: 0 running, 0 starting, 1 pending, 0 unhealthy"),
        ]),
    });
    Seen {
        sets: objects(vec![set(1, status)]),
        groups: objects(vec![group("chat-0-pool", 2, 1)]),
        cliques: objects(vec![
            clique("chat-0-router", "chat-0", 1, 1),
            clique("chat-0-decode", "chat-0", 2, 1),
        ]),
        gangs: objects(vec![gang(
            "chat-0",
            "Pending",
            &[("Scheduled", "False", "Unschedulable", "chat-0-decode-0: 0/2 nodes are available")],
        )]),
        pods: objects(vec![
            pod("chat-0-router", 0, &ready()),
            pod("chat-0-decode", 0, &no_place),
            pod("chat-0-decode", 1, &no_place),
        ]),
        ..Seen::default()
    }
}
