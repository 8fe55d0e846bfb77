//! Kueue's Topology, as far as Grove reads it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::TopologyLevel;

/// A Topology of Kueue. Grove reads it and never writes it, and all its versions are alike in what is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KueueTopology {
    /// Name, and what else the API server keeps of an object.
    #[serde(default)]
    pub metadata: ObjectMeta,
    /// The levels.
    #[serde(default)]
    pub spec: KueueTopologySpec,
}

/// The levels of a topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KueueTopologySpec {
    /// Levels from the broadest to the narrowest.
    #[serde(default)]
    pub levels: Vec<KueueTopologyLevel>,
}

/// One level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KueueTopologyLevel {
    /// Node label whose value names the domain a node is in.
    pub node_label: String,
}

impl KueueTopology {
    /// API group.
    pub const GROUP: &str = "kueue.x-k8s.io";
    /// Versions that there are, the newest first. Which of them a cluster serves depends on its Kueue.
    pub const VERSIONS: [&str; 3] = ["v1beta2", "v1beta1", "v1alpha1"];
    /// Kind. Other groups have kinds of this name, too.
    pub const KIND: &str = "Topology";
    /// Plural.
    pub const PLURAL: &str = "topologies";

    /// Whether an object is one, by its apiVersion and kind.
    pub fn is(api_version: &str, kind: &str) -> bool {
        let version = api_version.strip_prefix(Self::GROUP).and_then(|it| it.strip_prefix('/'));
        kind == Self::KIND && version.is_some_and(|it| Self::VERSIONS.contains(&it))
    }
}

impl KueueTopologySpec {
    /// The levels as Grove has them. Kueue has no names for domains: a level is called by its node label.
    pub fn levels(&self) -> Vec<TopologyLevel> {
        let level = |it: &KueueTopologyLevel| TopologyLevel {
            domain: it.node_label.clone(),
            key: it.node_label.clone(),
        };
        self.levels.iter().map(level).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;

    /// The example of the design of topology-aware scheduling.
    #[test]
    fn levels_are_called_by_their_node_labels() {
        let text = r#"
apiVersion: kueue.x-k8s.io/v1alpha1
kind: Topology
metadata:
  name: "default"
spec:
  levels:
    - nodeLabel: "cloud.provider.com/topology-block"
    - nodeLabel: "cloud.provider.com/topology-rack"
    - nodeLabel: "kubernetes.io/hostname"
"#;
        let value = manifest::parse(text).unwrap().remove(0).value;
        let topology: KueueTopology = serde_json::from_value(value).unwrap();
        let levels = topology.spec.levels();
        let names: Vec<(&str, &str)> =
            levels.iter().map(|it| (it.domain.as_str(), it.key.as_str())).collect();
        let (block, rack) = ("cloud.provider.com/topology-block", "cloud.provider.com/topology-rack");
        let host = "kubernetes.io/hostname";
        assert_eq!(names, [(block, block), (rack, rack), (host, host)]);
        assert_eq!(topology.metadata.name.as_deref(), Some("default"));
    }

    #[test]
    fn only_kueues_own_kind_is_one() {
        let rows = [
            ("kueue.x-k8s.io/v1alpha1", "Topology", true),
            ("kueue.x-k8s.io/v1beta1", "Topology", true),
            ("kueue.x-k8s.io/v1beta2", "Topology", true),
            ("kueue.x-k8s.io/v1", "Topology", false),
            ("kueue.x-k8s.io", "Topology", false),
            ("kai.scheduler/v1alpha1", "Topology", false),
            ("kueue.x-k8s.io/v1beta1", "LocalQueue", false),
        ];
        for (api_version, kind, want) in rows {
            assert_eq!(KueueTopology::is(api_version, kind), want, "{api_version} {kind}");
        }
    }
}
