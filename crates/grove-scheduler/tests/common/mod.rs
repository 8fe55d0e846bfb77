//! PodGangs for the tables of the backends, written as short as they can be.
#![allow(dead_code, reason = "each test uses some of it")]

use std::collections::BTreeMap;

use grove_scheduler::{Gang, tree::from_pod_gang};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

/// The gang of a PodGang called `web-0` in the namespace `ns` with the UID `u1`, of the topology `dc`.
pub(crate) fn gang(spec: Value) -> Gang {
    named("web-0", spec)
}

/// Likewise, of another name.
pub(crate) fn named(name: &str, spec: Value) -> Gang {
    let gang = json!({
        "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
        "metadata": {
            "name": name, "namespace": "ns", "uid": "u1",
            "labels": { "app.kubernetes.io/part-of": "web" },
            "annotations": { "grove.io/topology-name": "dc" },
        },
        "spec": spec,
    });
    from_pod_gang(&serde_json::from_value(gang).unwrap()).unwrap()
}

/// A group with a minimum and as many pods, `name-0`, `name-1` and so on.
pub(crate) fn group(name: &str, min: i32, pods: i32) -> Value {
    let reference = |number: i32| json!({ "namespace": "ns", "name": format!("{name}-{number}") });
    json!({ "name": name, "minReplicas": min, "podReferences": (0..pods).map(reference).collect::<Vec<_>>() })
}

/// A group config.
pub(crate) fn config(name: &str, groups: &[&str]) -> Value {
    json!({ "name": name, "podGroupNames": groups })
}

/// Anything with a placement.
pub(crate) fn placed(mut it: Value, placement: Value) -> Value {
    it["topologyConstraint"] = placement;
    it
}

/// One domain has to hold.
pub(crate) fn required(key: &str) -> Value {
    json!({ "packConstraint": { "required": key } })
}

/// One domain should hold.
pub(crate) fn preferred(key: &str) -> Value {
    json!({ "packConstraint": { "preferred": key } })
}

/// One domain has to hold, and a narrower one should.
pub(crate) fn both(required: &str, preferred: &str) -> Value {
    json!({ "packConstraint": { "required": required, "preferred": preferred } })
}

/// A pod of a clique as the operator makes it, before a backend sees it.
pub(crate) fn pod(clique: &str, index: u32) -> Pod {
    serde_json::from_value(json!({
        "metadata": {
            "name": format!("{clique}-{index}"), "namespace": "ns",
            "labels": {
                "grove.io/podgang": "web-0", "grove.io/podclique": clique,
                "grove.io/podclique-pod-index": index.to_string(),
            },
        },
        "spec": {
            "containers": [], "schedulingGates": [{ "name": "grove.io/podgang-pending-creation" }],
        },
    }))
    .unwrap()
}

/// Labels or annotations.
pub(crate) fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
