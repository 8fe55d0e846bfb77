//! A ResourceQuota as it is kept: what is enforced, and what is used of it.
//!
//! Every field of the wire is optional here, as for pods.

use std::collections::BTreeMap;

use grove_plan::quota::Usage;
use k8s_openapi::{api::core::v1::ResourceQuota, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde::Deserialize;
use serde_json::Value;

/// A ResourceQuota as it is kept.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[serde(from = "Wire")]
#[resource(inherit = ResourceQuota)]
pub(crate) struct QuotaView {
    /// Name, namespace, UID, version; nothing else.
    pub(crate) metadata: ObjectMeta,
    pub(crate) usage: Usage,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Wire {
    metadata: Metadata,
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    hard: BTreeMap<String, Value>,
    used: BTreeMap<String, Value>,
}

impl From<Wire> for QuotaView {
    fn from(wire: Wire) -> Self {
        let Wire { metadata, status } = wire;
        let amounts = |all: BTreeMap<String, Value>| {
            let text = |it: Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
            all.into_iter().map(|(resource, amount)| (resource, text(amount))).collect()
        };
        Self {
            metadata: ObjectMeta {
                name: metadata.name,
                namespace: metadata.namespace,
                uid: metadata.uid,
                resource_version: metadata.resource_version,
                ..ObjectMeta::default()
            },
            usage: Usage { hard: amounts(status.hard), used: amounts(status.used) },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_enforced_and_used_is_kept() {
        let quota = json!({
            "metadata": { "name": "q", "namespace": "ml", "labels": { "a": "b" } },
            "spec": { "hard": { "pods": "9" } },
            "status": { "hard": { "pods": "3", "cpu": 2 }, "used": { "pods": "1" } },
        });
        let view: QuotaView = serde_json::from_value(quota).unwrap();
        assert_eq!(view.usage.hard["pods"], "3");
        assert_eq!(view.usage.hard["cpu"], "2");
        assert_eq!(view.usage.used.len(), 1);
        assert_eq!(view.metadata.labels, None);
        assert!(serde_json::from_value::<QuotaView>(json!({})).unwrap().usage.hard.is_empty());
    }
}
