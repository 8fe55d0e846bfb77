//! What a pod asks for, as far as it decides where the pod can go.

mod node_match;
mod parse;
mod requests;
mod selector;
mod toleration;

use std::collections::{BTreeMap, BTreeSet};

use crate::resources::Resources;

pub use node_match::{NodeRequirement, NodeTerm, Rejection, reject};
pub(crate) use node_match::{reject_by_affinity, reject_by_taint};
pub use parse::{PodError, requirements};
pub use requests::requests;
pub use selector::{LabelRequirement, Operator, Selector};
pub use toleration::Toleration;

/// What a pod asks for. Pods with equal requirements are interchangeable.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodRequirements {
    /// Namespace, which affinity of other pods looks at.
    pub namespace: String,
    /// Labels, likewise.
    pub labels: BTreeMap<String, String>,
    /// Resources, with one of `pods`.
    pub requests: Resources,
    /// Labels that the node has to have.
    pub node_selector: BTreeMap<String, String>,
    /// Required node affinity: one of the terms has to match. `None` where there is none.
    pub node_affinity: Option<Vec<NodeTerm>>,
    /// Preferred node affinity, with weights.
    pub preferred_nodes: Vec<(i32, NodeTerm)>,
    /// Taints that it tolerates.
    pub tolerations: Vec<Toleration>,
    /// Required pod affinity.
    pub affinity: Vec<PodTerm>,
    /// Required pod anti-affinity.
    pub anti_affinity: Vec<PodTerm>,
    /// Topology spread constraints with `DoNotSchedule`.
    pub spread: Vec<Spread>,
    /// Ports of the node.
    pub host_ports: Vec<HostPort>,
    /// What it asks for and what placement does not know about, for people.
    pub unmodelled: BTreeSet<String>,
}

/// A term of required pod affinity or anti-affinity.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodTerm {
    /// Node label whose value makes two nodes one place.
    pub topology_key: String,
    /// Namespaces of the pods that are meant; `None` for all.
    pub namespaces: Option<BTreeSet<String>>,
    /// The pods that are meant.
    pub selector: Selector,
}

impl PodTerm {
    /// Whether a pod is meant.
    pub fn matches(&self, namespace: &str, labels: &BTreeMap<String, String>) -> bool {
        self.namespaces.as_ref().is_none_or(|it| it.contains(namespace)) && self.selector.matches(labels)
    }
}

/// A topology spread constraint with `DoNotSchedule`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spread {
    /// By how many pods domains may differ.
    pub max_skew: i32,
    /// Node label of the domains.
    pub topology_key: String,
    /// The pods that are counted.
    pub selector: Selector,
    /// With fewer domains than this the smallest counts as empty.
    pub min_domains: i32,
    /// Whether nodes are left out that the pod's node selector or affinity excludes.
    pub honors_affinity: bool,
    /// Whether nodes are left out that have taints which the pod does not tolerate.
    pub honors_taints: bool,
}

/// A port of the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPort {
    /// Address; empty for all.
    pub ip: String,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
    /// Number.
    pub port: i32,
}

impl HostPort {
    /// Whether two pods that want these ports cannot be on one node.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let is_any = |ip: &str| ["", "0.0.0.0"].contains(&ip);
        let same_ip = self.ip == other.ip || is_any(&self.ip) || is_any(&other.ip);
        same_ip && self.protocol == other.protocol && self.port == other.port
    }
}

impl PodRequirements {
    /// Whether where it can go depends on where other pods are.
    pub fn depends_on_pods(&self) -> bool {
        !(self.affinity.is_empty()
            && self.anti_affinity.is_empty()
            && self.spread.is_empty()
            && self.host_ports.is_empty())
    }

    /// How much it prefers a node: the sum of the weights that match, less than that for taints that it would rather avoid.
    pub fn preference(&self, node: &crate::cluster::Node) -> i64 {
        let weights = self.preferred_nodes.iter().filter(|it| it.1.matches(node)).map(|it| i64::from(it.0));
        let is_avoided = |taint: &crate::cluster::Taint| {
            taint.effect == "PreferNoSchedule" && !self.tolerations.iter().any(|it| it.covers(taint))
        };
        let avoided = node.taints.iter().filter(|it| is_avoided(it)).fold(0_i64, |sum, _| sum - 100);
        weights.fold(avoided, i64::saturating_add)
    }
}
