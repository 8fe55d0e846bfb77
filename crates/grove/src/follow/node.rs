//! What is kept of a node.

use grove_placement::{
    resources::GPU,
    topology::{HOST, standard_levels},
};
use k8s_openapi::api::core::v1;
use kube::ResourceExt;

use crate::amount::Amount;

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Values of the labels of the standard topology levels, the widest first, without the host.
    pub domains: Vec<String>,
    /// GPUs that can be allocated.
    pub gpus: usize,
    /// Whether the condition `Ready` is `True`. A node that is being created, without the condition, counts as ready.
    pub ready: bool,
    /// Whether it is cordoned.
    pub cordoned: bool,
}

impl From<&v1::Node> for Node {
    fn from(node: &v1::Node) -> Self {
        let (spec, status) = (node.spec.as_ref(), node.status.as_ref());
        let levels = standard_levels();
        let keys = levels.iter().map(|it| it.key.as_str()).filter(|it| *it != HOST);
        let gpus = status.and_then(|it| it.allocatable.as_ref()).and_then(|it| it.get(GPU));
        let mut conditions = status.and_then(|it| it.conditions.as_ref()).into_iter().flatten();
        Self {
            name: node.name_any(),
            domains: keys.filter_map(|it| node.labels().get(it).cloned()).collect(),
            gpus: gpus.map(Amount::of).unwrap_or_default().pieces(),
            ready: conditions.find(|it| it.type_ == "Ready").is_none_or(|it| it.status == "True"),
            cordoned: spec.and_then(|it| it.unschedulable).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(value: Value) -> Node {
        Node::from(&serde_json::from_value::<v1::Node>(value).unwrap())
    }

    #[test]
    fn domains_are_those_of_the_standard_levels_without_the_host() {
        let full = node(json!({
            "metadata": { "name": "n", "labels": {
                "kubernetes.io/hostname": "n", "topology.kubernetes.io/rack": "rack-1",
                "topology.kubernetes.io/zone": "zone-0", "other": "x",
            } },
            "status": { "allocatable": { "cpu": "64", "nvidia.com/gpu": "8" } },
        }));
        assert_eq!(full.domains, ["zone-0", "rack-1"]);
        assert_eq!((full.name.as_str(), full.gpus, full.cordoned), ("n", 8, false));
        assert_eq!(node(json!({ "metadata": { "name": "n" } })).domains, [""; 0]);
    }

    #[test]
    fn ready_and_cordoned() {
        let ready = |status: &str| json!([{ "type": "DiskPressure", "status": "False" }, { "type": "Ready", "status": status }]);
        let rows = [
            (json!({}), true),
            (json!({ "conditions": [] }), true),
            (json!({ "conditions": ready("True") }), true),
            (json!({ "conditions": ready("False") }), false),
            (json!({ "conditions": ready("Unknown") }), false),
        ];
        for (status, want) in rows {
            assert_eq!(node(json!({ "metadata": {}, "status": status })).ready, want, "{status}");
        }
        assert!(node(json!({ "metadata": {}, "spec": { "unschedulable": true } })).cordoned);
    }
}
