//! Nodes: what placement looks at, and nothing of what else a cluster tells of its machines.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Labels that say where a node is, whether or not a topology names them.
const PLACES: [&str; 3] =
    ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Labels of the levels of a ClusterTopologyBinding.
pub(super) fn level_keys(binding: &Value) -> impl Iterator<Item = String> {
    let levels = binding["spec"]["levels"].as_array().into_iter().flatten();
    levels.filter_map(|it| it["key"].as_str().map(str::to_owned))
}

/// The node with its name, the labels of levels, capacity and conditions.
pub(super) fn slim(node: &Value, levels: &BTreeSet<String>) -> Value {
    let is_level = |key: &str| PLACES.contains(&key) || levels.contains(key);
    let labels = node["metadata"]["labels"].as_object().into_iter().flatten();
    let labels: Map<String, Value> =
        labels.filter(|it| is_level(it.0)).map(|(key, value)| (key.clone(), value.clone())).collect();
    let status = &node["status"];
    json!({
        "apiVersion": node["apiVersion"],
        "kind": node["kind"],
        "metadata": { "name": node["metadata"]["name"], "labels": labels },
        "status": {
            "capacity": status["capacity"],
            "allocatable": status["allocatable"],
            "conditions": status["conditions"],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_keeps_what_placement_looks_at() {
        let binding = json!({ "spec": { "levels": [{ "domain": "rack", "key": "example.com/rack" }] } });
        let levels: BTreeSet<String> = level_keys(&binding).collect();
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {
                "name": "n0", "uid": "u", "annotations": { "a": "b" },
                "labels": { "example.com/rack": "r0", "kubernetes.io/hostname": "n0", "example.com/owner": "me" },
            },
            "spec": { "providerID": "aws:///i-0" },
            "status": {
                "capacity": { "cpu": "8" }, "allocatable": { "cpu": "7" }, "conditions": [{ "type": "Ready", "status": "True" }],
                "addresses": [{ "type": "InternalIP", "address": "10.0.0.1" }], "images": [{ "names": ["i"] }],
            },
        });
        let want = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": "n0", "labels": { "example.com/rack": "r0", "kubernetes.io/hostname": "n0" } },
            "status": {
                "capacity": { "cpu": "8" }, "allocatable": { "cpu": "7" }, "conditions": [{ "type": "Ready", "status": "True" }],
            },
        });
        assert_eq!(slim(&node, &levels), want);
    }
}
