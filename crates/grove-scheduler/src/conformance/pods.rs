//! Pods as the operator makes them, before a backend sees them.

use grove_api::constants::{gates, labels};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::Conformance;
use crate::tree::{Content, Gang, Leaf, Node};

/// A pod with what users write into their templates: none of it may be lost.
pub(super) fn pod(kit: &Conformance<'_>, gang: &Gang, leaf: &Leaf<'_>, index: u32) -> Option<Pod> {
    let host = format!("{}-{index}", leaf.name);
    let mut own = json!({
        labels::MANAGED_BY: labels::MANAGED_BY_VALUE, labels::PART_OF: "set", labels::NAME: leaf.name,
        labels::POD_GANG: gang.name, labels::POD_CLIQUE: leaf.name, labels::POD_INDEX: index.to_string(),
        labels::SET_REPLICA_INDEX: "0", "app": "mine",
    });
    if let Some(number) = replica_of(gang, leaf) {
        own[labels::SCALING_GROUP] = "set-0-g".into();
        own[labels::SCALING_GROUP_REPLICA_INDEX] = number.into();
    }
    let pod = json!({
        "metadata": {
            "generateName": format!("{}-", leaf.name), "namespace": gang.namespace, "labels": own,
            "annotations": { "example.com/note": "mine" },
            "ownerReferences": [{
                "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": leaf.name, "uid": "uid-of-clique",
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "schedulerName": kit.backend.name(), "hostname": host, "subdomain": "set-0",
            "schedulingGates": [{ "name": gates::POD_GANG_PENDING }, { "name": "example.com/mine" }],
            "containers": [{ "name": "main", "image": "example.com/main:1", "env": [{ "name": "A", "value": "b" }] }],
            "nodeSelector": { "pool": "mine" },
            "tolerations": [{ "key": "mine", "operator": "Exists" }],
            "affinity": affinity(),
        },
    });
    serde_json::from_value(pod).ok()
}

fn affinity() -> Value {
    let term =
        |key: &str| json!({ "topologyKey": key, "labelSelector": { "matchLabels": { "app": "mine" } } });
    json!({ "podAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 1, "podAffinityTerm": term("mine") }],
        "requiredDuringSchedulingIgnoredDuringExecution": [term("mine")],
    } })
}

/// The number of the bundle that the group is in, as that of a replica of a scaling group.
fn replica_of<'a>(gang: &'a Gang, leaf: &Leaf<'_>) -> Option<&'a str> {
    let is_around =
        |node: &&Node| matches!(node.content, Content::Bundle(_)) && leaf.parent == Some(&node.name);
    gang.nodes().into_iter().find(is_around)?.name.strip_prefix("set-0-g-")
}
