//! What is kept of a pod: what groups depend on, and nothing else. Containers and volumes are most of a pod.

use k8s_openapi::{
    api::core::v1::{Pod, PodSchedulingGroup},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::core::DynamicObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A pod as it is kept.
#[derive(Clone, Debug, Default, Deserialize, kube::Resource)]
#[resource(inherit = Pod)]
pub(crate) struct PodView {
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    spec: Spec,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheduler_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority_class_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheduling_group: Option<PodSchedulingGroup>,
}

impl PodView {
    pub(crate) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    pub(crate) fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    pub(crate) fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }

    /// What may be the name of its group: schedulers are told of it in annotations, or in the spec.
    pub(crate) fn group_names(&self) -> impl Iterator<Item = &str> {
        let annotations = self.metadata.annotations.iter().flatten();
        let noted = annotations.filter(|it| it.0.ends_with("group-name")).map(|it| it.1.as_str());
        noted.chain(self.spec.scheduling_group.as_ref().and_then(|it| it.pod_group_name.as_deref()))
    }

    pub(crate) fn owners(&self) -> &[OwnerReference] {
        self.metadata.owner_references.as_deref().unwrap_or_default()
    }

    pub(crate) fn is_going(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// As plugins and backends read it.
    pub(crate) fn to_value(&self) -> Value {
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": self.metadata, "spec": self.spec })
    }

    /// As an owner of other pods is read.
    pub(crate) fn to_object(&self) -> DynamicObject {
        DynamicObject { types: None, metadata: self.metadata.clone(), data: json!({ "spec": self.spec }) }
    }

    /// Whether nothing that a group depends on differs. Being bound counts: a LeaderWorkerSet waits for it.
    pub(crate) fn groups_like(&self, other: &Self) -> bool {
        let (a, b) = (&self.metadata, &other.metadata);
        (&a.uid, &a.labels, &a.annotations, &a.owner_references, &a.deletion_timestamp)
            == (&b.uid, &b.labels, &b.annotations, &b.owner_references, &b.deletion_timestamp)
            && self.spec.node_name == other.spec.node_name
    }
}

/// What nobody reads.
pub(crate) fn prune(pod: &mut PodView) {
    pod.metadata.managed_fields = None;
    pod.metadata.self_link = None;
    pod.metadata.generate_name = None;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(pod: Value) -> PodView {
        let mut view: PodView = serde_json::from_value(pod).unwrap();
        prune(&mut view);
        view
    }

    #[test]
    fn only_what_groups_depend_on_is_kept() {
        let pod = json!({
            "metadata": { "name": "p", "namespace": "ns", "uid": "1", "labels": { "a": "b" }, "managedFields": [{ "manager": "m" }] },
            "spec": {
                "schedulerName": "kai-scheduler", "nodeName": "n", "priorityClassName": "high",
                "schedulingGroup": { "podGroupName": "g" },
                "containers": [{ "name": "c", "image": "i" }],
            },
            "status": { "phase": "Running" },
        });
        assert_eq!(
            view(pod).to_value(),
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": { "name": "p", "namespace": "ns", "uid": "1", "labels": { "a": "b" } },
                "spec": {
                    "schedulerName": "kai-scheduler", "nodeName": "n", "priorityClassName": "high",
                    "schedulingGroup": { "podGroupName": "g" },
                },
            })
        );
    }

    #[test]
    fn news_are_what_groups_depend_on() {
        let pod = |extra: Value| {
            let mut pod = json!({ "metadata": { "name": "p", "uid": "1" }, "spec": {}, "status": {} });
            json_patch::merge(&mut pod, &extra);
            view(pod)
        };
        let before = pod(json!({}));
        let same =
            [json!({ "metadata": { "resourceVersion": "7" } }), json!({ "status": { "phase": "Running" } })];
        let news = [
            json!({ "metadata": { "labels": { "a": "b" } } }),
            json!({ "metadata": { "annotations": { "a": "b" } } }),
            json!({ "metadata": { "uid": "2" } }),
            json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } }),
            json!({ "spec": { "nodeName": "n" } }),
        ];
        for it in same {
            assert!(before.groups_like(&pod(it.clone())), "{it}");
        }
        for it in news {
            assert!(!before.groups_like(&pod(it.clone())), "{it}");
        }
    }
}
