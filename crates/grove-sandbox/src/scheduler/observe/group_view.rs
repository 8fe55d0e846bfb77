//! PodGroups and CompositePodGroups, and the trees that they form.

use k8s_openapi::{
    api::scheduling::{v1alpha3, v1beta1},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
    jiff::Timestamp,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// A PodGroup as it is kept.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[resource(inherit = v1beta1::PodGroup)]
pub(crate) struct PodGroup {
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: Value,
    #[serde(default)]
    pub(crate) status: GroupStatus,
}

/// A CompositePodGroup as it is kept.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[resource(inherit = v1alpha3::CompositePodGroup)]
pub(crate) struct CompositePodGroup {
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: Value,
}

/// What is said of a group.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct GroupStatus {
    #[serde(default)]
    pub(crate) conditions: Vec<Value>,
}

/// Names a PodGroup or a CompositePodGroup; both may have one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupKey {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) is_composite: bool,
}

impl GroupKey {
    pub(crate) fn leaf(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned(), is_composite: false }
    }

    pub(crate) fn composite(namespace: &str, name: &str) -> Self {
        Self { is_composite: true, ..Self::leaf(namespace, name) }
    }
}

/// A group of a tree.
#[derive(Clone, Debug)]
pub(crate) struct GroupObject {
    pub(crate) key: GroupKey,
    pub(crate) uid: String,
    pub(crate) created: Timestamp,
    pub(crate) spec: Value,
}

impl GroupObject {
    pub(crate) fn of_pod_group(group: &PodGroup) -> Self {
        Self::new(&group.metadata, &group.spec, false)
    }

    pub(crate) fn of_composite(group: &CompositePodGroup) -> Self {
        Self::new(&group.metadata, &group.spec, true)
    }

    fn new(metadata: &ObjectMeta, spec: &Value, is_composite: bool) -> Self {
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        Self {
            key: GroupKey { namespace: text(&metadata.namespace), name: text(&metadata.name), is_composite },
            uid: text(&metadata.uid),
            created: metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |it| it.0),
            spec: spec.clone(),
        }
    }

    /// Kind of the object.
    pub(crate) fn kind(&self) -> &'static str {
        if self.key.is_composite { "CompositePodGroup" } else { "PodGroup" }
    }

    /// `apiVersion` of the object.
    pub(crate) fn api_version(&self) -> &'static str {
        if self.key.is_composite { "scheduling.k8s.io/v1alpha3" } else { "scheduling.k8s.io/v1beta1" }
    }

    /// As placement reads it.
    pub(crate) fn to_value(&self) -> Value {
        json!({
            "kind": self.kind(),
            "metadata": {
                "namespace": self.key.namespace, "name": self.key.name, "creationTimestamp": self.created.to_string(),
            },
            "spec": self.spec,
        })
    }

    pub(crate) fn priority(&self) -> Option<i32> {
        self.spec["priority"].as_i64().and_then(|it| i32::try_from(it).ok())
    }

    /// Whether it gives room only as a whole.
    pub(crate) fn is_disrupted_as_a_whole(&self) -> bool {
        self.spec["disruptionMode"]["all"].is_object()
    }

    /// Pods of a PodGroup that are placed together.
    pub(crate) fn min_count(&self) -> u64 {
        self.spec["schedulingPolicy"]["gang"]["minCount"].as_u64().unwrap_or_default()
    }
}

/// The CompositePodGroup that a group says it is in.
pub(crate) fn parent(spec: &Value) -> Option<&str> {
    spec["parentCompositePodGroupName"].as_str().filter(|it| !it.is_empty())
}

/// What nobody reads.
pub(crate) fn prune_pod_group(group: &mut PodGroup) {
    group.metadata.managed_fields = None;
    group.metadata.annotations = None;
}

/// What nobody reads.
pub(crate) fn prune_composite(group: &mut CompositePodGroup) {
    group.metadata.managed_fields = None;
    group.metadata.annotations = None;
}
