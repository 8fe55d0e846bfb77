//! What the front knows of nodes and pods: few values, so that it can be shown without a cluster.

use grove_api::constants::labels;
use k8s_openapi::{
    api::core::v1::{Node, Pod},
    apimachinery::pkg::api::resource::Quantity,
};
use kube::{Resource, ResourceExt};

use crate::nodes::{RACK, ZONE};

/// The resource that a cell of the picture stands for.
const GPU: &str = "nvidia.com/gpu";

/// A node and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeView {
    pub(super) zone: String,
    pub(super) rack: String,
    pub(super) name: String,
    pub(super) gpus: usize,
}

/// A pod and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodView {
    pub(super) name: String,
    pub(super) clique: String,
    pub(super) gang: String,
    pub(super) gpus: usize,
    pub(super) gated: bool,
    pub(super) node: Option<String>,
    pub(super) ready: bool,
}

impl NodeView {
    pub(super) fn of(node: &Node) -> Self {
        let allocatable = node.status.as_ref().and_then(|it| it.allocatable.as_ref());
        Self {
            zone: label(node, ZONE),
            rack: label(node, RACK),
            name: node.name_any(),
            gpus: amount(allocatable.and_then(|it| it.get(GPU))),
        }
    }
}

impl PodView {
    /// A pod that holds, or will hold, a place; one that has ended does not.
    pub(super) fn of(pod: &Pod) -> Option<Self> {
        let (spec, status) = (pod.spec.as_ref()?, pod.status.as_ref());
        let phase = status.and_then(|it| it.phase.as_deref()).unwrap_or_default();
        if matches!(phase, "Succeeded" | "Failed") {
            return None;
        }
        let limits = |it: &k8s_openapi::api::core::v1::Container| {
            amount(it.resources.as_ref().and_then(|it| it.limits.as_ref()).and_then(|it| it.get(GPU)))
        };
        let conditions = status.and_then(|it| it.conditions.as_ref());
        Some(Self {
            name: pod.name_any(),
            clique: label(pod, labels::POD_CLIQUE),
            gang: label(pod, labels::POD_GANG),
            gpus: spec.containers.iter().map(limits).sum(),
            gated: spec.scheduling_gates.as_ref().is_some_and(|it| !it.is_empty()),
            node: spec.node_name.clone().filter(|it| !it.is_empty()),
            ready: conditions.into_iter().flatten().any(|it| it.type_ == "Ready" && it.status == "True"),
        })
    }
}

fn label<K: Resource>(object: &K, key: &str) -> String {
    object.labels().get(key).cloned().unwrap_or_default()
}

/// A number of devices, which is always whole.
fn amount(quantity: Option<&Quantity>) -> usize {
    quantity.and_then(|it| it.0.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::nodes::Hall;

    #[test]
    fn a_node_and_its_place() {
        let node = &Hall::racks(5).nodes(1).gpus(4).to_nodes()[4];
        let want = NodeView {
            zone: "zone-1".to_owned(),
            rack: "rack-4".to_owned(),
            name: "rack-4-node-0".to_owned(),
            gpus: 4,
        };
        assert_eq!(NodeView::of(node), want);
    }

    #[test]
    fn a_pod_and_what_became_of_it() {
        let mut value = json!({
            "metadata": { "name": "p", "labels": { "grove.io/podclique": "c", "grove.io/podgang": "g" } },
            "spec": {
                "containers": [
                    { "name": "a", "resources": { "limits": { "nvidia.com/gpu": "3" } } },
                    { "name": "b", "resources": { "limits": { "nvidia.com/gpu": "1", "cpu": "500m" } } },
                    { "name": "c" },
                ],
                "schedulingGates": [{ "name": "x" }],
            },
        });
        let view = |value: &serde_json::Value| PodView::of(&serde_json::from_value(value.clone()).unwrap());
        let gated = view(&value).unwrap();
        assert_eq!((gated.clique.as_str(), gated.gang.as_str(), gated.gpus), ("c", "g", 4));
        assert!(gated.gated && gated.node.is_none() && !gated.ready);
        value["spec"]["schedulingGates"] = json!([]);
        value["spec"]["nodeName"] = json!("n");
        value["status"] =
            json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] });
        let ready = view(&value).unwrap();
        assert!(!ready.gated && ready.node.as_deref() == Some("n") && ready.ready);
        value["status"] = json!({ "phase": "Failed" });
        assert_eq!(view(&value), None);
    }
}
