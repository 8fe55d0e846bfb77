//! A node as it is kept: which of its taints end pods, and its labels; nothing else of an object of many kilobytes.
//!
//! Every field of the wire is optional here, as for pods.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use grove_api::constants::taints;
use grove_plan::nodes::{NodeFact, Taint};
use k8s_openapi::{
    api::core::v1::Node,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use parking_lot::Mutex;
use serde::Deserialize;

/// A node as it is kept.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[serde(from = "Wire")]
#[resource(inherit = Node)]
pub(crate) struct NodeView {
    /// Name, UID, version; nothing else.
    pub(crate) metadata: ObjectMeta,
    /// What decisions depend on.
    pub(crate) fact: NodeFact,
    /// Its labels, by key. Any of them may be a level of a topology; the keys are those of thousands of other nodes.
    pub(crate) labels: Vec<(Arc<str>, Box<str>)>,
}

impl NodeView {
    /// The value of one of its labels.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        let place = self.labels.binary_search_by(|it| it.0.as_ref().cmp(key)).ok()?;
        self.labels.get(place).map(|it| it.1.as_ref())
    }

    /// Its labels with these keys.
    pub(crate) fn labels_of(&self, keys: &BTreeSet<&str>) -> BTreeMap<String, String> {
        let wanted = self.labels.iter().filter(|(key, _)| keys.contains(key.as_ref()));
        wanted.map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }
}

/// The same text, kept once. There are as many as there are different label keys in a cluster.
fn kept_once(key: String) -> Arc<str> {
    static KEYS: Mutex<BTreeSet<Arc<str>>> = Mutex::new(BTreeSet::new());
    let mut keys = KEYS.lock();
    if let Some(known) = keys.get(key.as_str()) {
        return Arc::clone(known);
    }
    let key: Arc<str> = key.into();
    keys.insert(Arc::clone(&key));
    key
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Wire {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spec {
    taints: Vec<Tainted>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Tainted {
    key: String,
    value: String,
    effect: String,
    time_added: Option<Time>,
}

impl From<Wire> for NodeView {
    fn from(wire: Wire) -> Self {
        let Wire { metadata, spec } = wire;
        let ends_pods = spec.taints.into_iter().filter(|it| it.effect == taints::NO_EXECUTE);
        let taints = ends_pods
            .map(|it| Taint { key: it.key, value: it.value, since: it.time_added.map(|it| it.0) })
            .collect();
        Self {
            metadata: ObjectMeta {
                name: metadata.name,
                uid: metadata.uid,
                resource_version: metadata.resource_version,
                ..ObjectMeta::default()
            },
            fact: NodeFact { taints },
            labels: metadata.labels.into_iter().map(|(key, value)| (kept_once(key), value.into())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_label_is_found_by_its_key() {
        let labels = json!({ "z": "1", "a/b": "2", "a-b": "", "k": "4" });
        let view: NodeView = serde_json::from_value(json!({ "metadata": { "labels": labels } })).unwrap();
        let found = ["z", "a/b", "a-b", "k", "b"].map(|it| view.label(it));
        assert_eq!(found, [Some("1"), Some("2"), Some(""), Some("4"), None]);
    }

    #[test]
    fn only_taints_that_end_pods_are_kept() {
        let node = json!({ "metadata": { "name": "n" }, "spec": { "taints": [
            { "key": "a", "effect": "NoSchedule" },
            { "key": "b", "value": "x", "effect": "NoExecute", "timeAdded": "2027-01-15T08:00:00Z" },
            { "key": "c", "effect": "NoExecute" },
        ] } });
        let view: NodeView = serde_json::from_value(node).unwrap();
        let since = Some("2027-01-15T08:00:00Z".parse().unwrap());
        let taint =
            |key: &str, value: &str, since| Taint { key: key.to_owned(), value: value.to_owned(), since };
        assert_eq!(view.fact.taints, [taint("b", "x", since), taint("c", "", None)]);
        assert!(serde_json::from_value::<NodeView>(json!({})).unwrap().fact.taints.is_empty());
    }
}
