//! What is kept of a pod.

use grove_api::constants::labels;
use grove_placement::resources::GPU;
use k8s_openapi::api::core::v1;
use kube::ResourceExt;

use crate::demand;

/// A pod of a PodCliqueSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID: a pod that replaces another one may have its name.
    pub uid: String,
    /// Name of its PodCliqueSet.
    pub set: String,
    /// Name of its PodClique.
    pub clique: String,
    /// Name of its PodGang.
    pub gang: String,
    /// GPUs that it requests.
    pub gpus: usize,
    /// Image of its first container.
    pub image: String,
    /// Name of its node, where it is bound.
    pub node: Option<String>,
    /// Whether it has a scheduling gate.
    pub gated: bool,
    /// Whether its condition `Ready` is `True`.
    pub ready: bool,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// Whether its phase is `Succeeded`.
    pub succeeded: bool,
    /// Whether its phase is `Failed`.
    pub failed: bool,
}

impl Pod {
    /// `None` for a pod that belongs to no PodCliqueSet.
    pub(super) fn of(pod: &v1::Pod) -> Option<Self> {
        let label = |key: &str| pod.labels().get(key).cloned();
        let (spec, status) = (pod.spec.as_ref()?, pod.status.as_ref());
        let phase = status.and_then(|it| it.phase.as_deref()).unwrap_or_default();
        let mut conditions = status.and_then(|it| it.conditions.as_ref()).into_iter().flatten();
        Some(Self {
            namespace: pod.namespace().unwrap_or_default(),
            name: pod.name_any(),
            uid: pod.uid().unwrap_or_default(),
            set: label(labels::PART_OF)?,
            clique: label(labels::POD_CLIQUE)?,
            gang: label(labels::POD_GANG)?,
            gpus: demand::of_pod(spec, GPU).pieces(),
            image: spec.containers.first().and_then(|it| it.image.clone()).unwrap_or_default(),
            node: spec.node_name.clone().filter(|it| !it.is_empty()),
            gated: spec.scheduling_gates.as_ref().is_some_and(|it| !it.is_empty()),
            ready: conditions.any(|it| it.type_ == "Ready" && it.status == "True"),
            terminating: pod.metadata.deletion_timestamp.is_some(),
            succeeded: phase == "Succeeded",
            failed: phase == "Failed",
        })
    }

    /// Whether it is one of the pods that its PodClique is to have.
    pub(super) fn is_live(&self) -> bool {
        !self.terminating && !self.succeeded && !self.failed
    }

    /// Whether it is one of them and ready.
    pub(crate) fn is_available(&self) -> bool {
        self.is_live() && self.ready
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(value: Value) -> Option<Pod> {
        Pod::of(&serde_json::from_value(value).unwrap())
    }

    fn gated() -> Value {
        json!({
            "metadata": {
                "namespace": "ml", "name": "p", "uid": "u",
                "labels": { "app.kubernetes.io/part-of": "s", "grove.io/podclique": "c", "grove.io/podgang": "g" },
            },
            "spec": {
                "containers": [
                    { "name": "a", "image": "x:1", "resources": { "limits": { "nvidia.com/gpu": "3" } } },
                    { "name": "b", "image": "y:1", "resources": { "limits": { "nvidia.com/gpu": "1" } } },
                ],
                "schedulingGates": [{ "name": "x" }],
            },
        })
    }

    #[test]
    fn a_gated_pod() {
        let want = Pod {
            namespace: "ml".to_owned(),
            name: "p".to_owned(),
            uid: "u".to_owned(),
            set: "s".to_owned(),
            clique: "c".to_owned(),
            gang: "g".to_owned(),
            gpus: 4,
            image: "x:1".to_owned(),
            gated: true,
            ..Pod::default()
        };
        assert_eq!(pod(gated()), Some(want));
    }

    #[test]
    fn from_bound_to_failed() {
        let mut value = gated();
        value["spec"]["schedulingGates"] = json!([]);
        value["spec"]["nodeName"] = json!("n");
        value["status"] =
            json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] });
        let ready = pod(value.clone()).unwrap();
        assert!(!ready.gated && ready.is_available() && ready.node.as_deref() == Some("n"));
        value["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        let terminating = pod(value.clone()).unwrap();
        assert!(terminating.ready && terminating.terminating && !terminating.is_available());
        value["status"] = json!({ "phase": "Failed" });
        assert!(pod(value.clone()).unwrap().failed);
        value["status"] = json!({ "phase": "Succeeded" });
        assert!(pod(value).unwrap().succeeded);
    }

    #[test]
    fn pods_of_others_are_left_out() {
        for label in ["app.kubernetes.io/part-of", "grove.io/podclique", "grove.io/podgang"] {
            let mut value = gated();
            value["metadata"]["labels"].as_object_mut().unwrap().remove(label);
            assert_eq!(pod(value), None, "{label}");
        }
    }
}
