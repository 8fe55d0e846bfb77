//! A node: what it offers, what is used of it, and which pods it keeps away.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::api::core::v1 as core;

use crate::{
    pod::{HostPort, PodRequirements, PodTerm},
    resources::{QuantityError, Resources},
};

/// The taint that stands for `spec.unschedulable`.
pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// A taint that keeps pods away.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`.
    pub effect: String,
}

impl Taint {
    /// Whether pods that do not tolerate it cannot be scheduled.
    pub fn is_hard(&self) -> bool {
        ["NoSchedule", "NoExecute"].contains(&self.effect.as_str())
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equals = if self.value.is_empty() { "" } else { "=" };
        write!(f, "{}{equals}{}:{}", self.key, self.value, self.effect)
    }
}

/// What a pod on a node means for pods that are to be placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningPod {
    /// Namespace.
    pub namespace: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Its required anti-affinity, which also holds against pods that come later.
    pub anti_affinity: Vec<PodTerm>,
    /// Ports of the node that it has.
    pub host_ports: Vec<HostPort>,
}

/// A node that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node {node}: {error}")]
pub struct NodeError {
    /// Its name.
    pub node: String,
    /// What is wrong.
    pub error: QuantityError,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Taints.
    pub taints: Vec<Taint>,
    /// Whether it is cordoned.
    pub unschedulable: bool,
    /// What pods may use.
    pub allocatable: Resources,
    /// What its pods use.
    pub used: Resources,
    /// Its pods, as far as they matter to others.
    pub pods: Vec<RunningPod>,
}

impl Node {
    /// From the API object, without pods.
    pub fn from_object(node: &core::Node) -> Result<Self, NodeError> {
        let name = node.metadata.name.clone().unwrap_or_default();
        let spec = node.spec.clone().unwrap_or_default();
        let allocatable = node.status.as_ref().and_then(|it| it.allocatable.as_ref());
        let allocatable = allocatable.map(Resources::parse).transpose();
        let allocatable = allocatable.map_err(|error| NodeError { node: name.clone(), error })?;
        let taint =
            |it: core::Taint| Taint { key: it.key, value: it.value.unwrap_or_default(), effect: it.effect };
        Ok(Self {
            name,
            labels: node.metadata.labels.clone().unwrap_or_default(),
            taints: spec.taints.into_iter().flatten().map(taint).collect(),
            unschedulable: spec.unschedulable.unwrap_or_default(),
            allocatable: allocatable.unwrap_or_default(),
            ..Self::default()
        })
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
    }

    /// How much of a resource is left; never less than nothing, also where more is used than there is.
    pub fn free(&self, resource: &str) -> i64 {
        self.allocatable.get(resource).saturating_sub(self.used.get(resource)).max(0)
    }

    /// Takes what a pod on the node needs.
    pub fn add_pod(&mut self, pod: &PodRequirements) {
        self.used.add(&pod.requests);
        self.pods.push(RunningPod {
            namespace: pod.namespace.clone(),
            labels: pod.labels.clone(),
            anti_affinity: pod.anti_affinity.clone(),
            host_ports: pod.host_ports.clone(),
        });
    }

    /// All taints, with the one of a cordoned node.
    pub fn all_taints(&self) -> impl Iterator<Item = Taint> {
        let has_own = self.taints.iter().any(|it| it.key == UNSCHEDULABLE);
        let cordon = (self.unschedulable && !has_own).then(|| Taint {
            key: UNSCHEDULABLE.to_owned(),
            value: String::new(),
            effect: "NoSchedule".to_owned(),
        });
        cordon.into_iter().chain(self.taints.iter().cloned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resources::{CPU, GPU, PODS};

    #[test]
    fn a_node_is_read_from_its_object() {
        let object = json!({
            "metadata": { "name": "n1", "labels": { "a": "b" } },
            "spec": { "unschedulable": true, "taints": [{ "key": "gpu", "value": "true", "effect": "NoSchedule" }] },
            "status": { "allocatable": { "cpu": "3500m", "nvidia.com/gpu": "8", "pods": "110" } },
        });
        let mut node = Node::from_object(&serde_json::from_value(object).unwrap()).unwrap();
        assert_eq!((node.name.as_str(), node.label("a"), node.label("c")), ("n1", Some("b"), None));
        let taints: Vec<String> = node.all_taints().map(|it| it.to_string()).collect();
        assert_eq!(taints, ["node.kubernetes.io/unschedulable:NoSchedule", "gpu=true:NoSchedule"]);
        let mut pod = PodRequirements::default();
        pod.requests.set(CPU, 500);
        pod.requests.set(PODS, 1);
        node.add_pod(&pod);
        assert_eq!((node.free(CPU), node.free(GPU), node.free(PODS)), (3000, 8, 109));
        node.used.set(GPU, 9);
        assert_eq!(node.free(GPU), 0);
    }

    #[test]
    fn a_wrong_amount_names_node_and_resource() {
        let object = json!({ "metadata": { "name": "n1" }, "status": { "allocatable": { "cpu": "much" } } });
        let error = Node::from_object(&serde_json::from_value(object).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("node n1: cpu: \"much\""), "{error}");
    }
}
