//! Pods and groups for tests, as schedulers and groupers write them.

use std::collections::BTreeMap;

use grove_scheduler::builtin::builtin;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::{
    facts::{Asked, Facts},
    gather::{Listed, Objects},
};

pub(super) const KAI: &str = "kai-scheduler";
pub(super) const KUBE: &str = "default-scheduler";
pub(super) const VOLCANO: &str = "volcano";

/// Puts all that `more` has into a value.
pub(super) fn with(mut value: Value, more: &Value) -> Value {
    match (value.as_object_mut(), more.as_object()) {
        (Some(into), Some(from)) => {
            for (key, it) in from {
                let there = into.remove(key).unwrap_or_default();
                into.insert(key.clone(), with(there, it));
            }
            value
        }
        _ => more.clone(),
    }
}

/// A pod of the Job `train`.
pub(super) fn pod(name: &str, scheduler: &str, more: &Value) -> Pod {
    let owner = json!({ "apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "job" });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": "lab", "uid": format!("uid-{name}"), "ownerReferences": [owner] },
        "spec": {
            "schedulerName": scheduler,
            "containers": [{ "name": "c", "resources": { "limits": { "nvidia.com/gpu": "8" } } }],
        },
        "status": { "phase": "Pending" },
    });
    serde_json::from_value(with(pod, more)).unwrap()
}

/// In a PodGroup of KAI's, and in a sub-group of it.
pub(super) fn in_kai(group: &str, part: &str) -> Value {
    let labels = if part.is_empty() { json!({}) } else { json!({ "kai.scheduler/subgroup-name": part }) };
    json!({ "metadata": { "annotations": { "pod-group-name": group }, "labels": labels } })
}

pub(super) fn in_kube(group: &str) -> Value {
    json!({ "spec": { "schedulingGroup": { "podGroupName": group } } })
}

pub(super) fn in_volcano(group: &str) -> Value {
    json!({ "metadata": { "annotations": { "scheduling.k8s.io/group-name": group } } })
}

pub(super) fn placed() -> Value {
    json!({ "spec": { "nodeName": "n1" }, "status": { "phase": "Running" } })
}

pub(super) fn gated() -> Value {
    json!({ "spec": { "schedulingGates": [{ "name": "example.com/wait" }] } })
}

pub(super) fn phase(phase: &str) -> Value {
    json!({ "spec": { "nodeName": "n1" }, "status": { "phase": phase } })
}

pub(super) fn refused(words: &str) -> Value {
    let condition =
        json!({ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words });
    json!({ "status": { "conditions": [condition] } })
}

/// A PodGroup of KAI's with this spec.
pub(super) fn kai(name: &str, spec: &Value) -> Value {
    let group = json!({
        "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
        "metadata": { "name": name, "namespace": "lab" },
        "spec": { "queue": "team-a", "priorityClassName": "train" },
    });
    with(group, &json!({ "spec": spec }))
}

/// KAI's newest answer.
pub(super) fn answer(reasons: &Value) -> Value {
    let condition = json!({
        "type": "UnschedulableOnNodePool", "nodePool": "default", "reason": "Unschedulable", "status": "True",
        "reasons": reasons,
    });
    json!({ "status": { "schedulingConditions": [condition] } })
}

/// Beyond the limit of the queue, as KAI details it.
pub(super) fn over_limit() -> Value {
    let words = "team-a quota has reached the allowable limit of GPUs. Limit is 16 GPUs, currently 12 GPUs allocated and \
                 workload requested 8 GPUs.";
    let details = json!({
        "name": "team-a",
        "queueRequestedResources": { "cpu": "20", "memory": "64G", "nvidia.com/gpu": "20" },
        "queueDeservedResources": { "cpu": "-1m", "memory": "-1", "nvidia.com/gpu": "8" },
        "queueAllocatedResources": { "cpu": "12", "memory": "32G", "nvidia.com/gpu": "12" },
        "queueAllocatedNonPreemptibleResources": { "cpu": "2", "memory": "0", "nvidia.com/gpu": "6" },
        "queueResourceLimits": { "cpu": "-1m", "memory": "-1", "nvidia.com/gpu": "16" },
        "podGroupRequestedResources": { "cpu": "8", "memory": "0", "nvidia.com/gpu": "8" },
    });
    answer(&json!([{ "reason": "OverLimit", "message": words, "details": { "queueDetails": details } }]))
}

/// What was read: the Job `train` in namespace `lab`, all of these pods are its own.
pub(super) fn objects(pods: Vec<Pod>, groups: &[(&str, Value)]) -> Objects {
    let mut listed: BTreeMap<String, Listed> = BTreeMap::new();
    for (scheduler, group) in groups {
        let there = listed.entry((*scheduler).to_owned()).or_insert(Listed::Objects(Vec::new()));
        if let Listed::Objects(list) = there {
            list.push(group.clone());
        }
    }
    Objects {
        namespace: "lab".to_owned(),
        asked: Asked {
            api_version: "batch/v1".to_owned(),
            kind: "Job".to_owned(),
            name: "train".to_owned(),
            uid: "job".to_owned(),
            idle: None,
        },
        pods: pods.into_iter().map(|it| (it, true)).collect(),
        groups: listed,
        ..Objects::default()
    }
}

pub(super) fn facts(pods: Vec<Pod>, groups: &[(&str, Value)]) -> Facts {
    Facts::of(objects(pods, groups), &builtin())
}

/// So many pods of KAI's group `pg`.
pub(super) fn kai_pods(count: usize, more: &Value) -> Vec<Pod> {
    let more = with(in_kai("pg", ""), more);
    (0..count).map(|it| pod(&format!("train-{it}"), KAI, &more)).collect()
}
