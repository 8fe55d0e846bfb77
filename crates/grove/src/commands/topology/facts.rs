//! What is known of a cluster's places: the answer of `read`, in plain values.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::amount::Amount;

/// All that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) topologies: Vec<Topology>,
    pub(super) nodes: Vec<Node>,
    /// Pods that have a node and have not ended; `None` where they must not be read.
    pub(super) pods: Option<Vec<BoundPod>>,
    /// `None` where they must not be read, or are not there.
    pub(super) gangs: Option<Vec<Gang>>,
    /// Whether there may be Kueue Topologies that must not be read.
    pub(super) kueue_refused: bool,
}

/// Levels under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Topology {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// From the broadest to the narrowest.
    pub(super) levels: Vec<Level>,
}

/// Who defines a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Kind {
    ClusterTopologyBinding,
    #[serde(rename = "Topology.kueue.x-k8s.io")]
    Kueue,
}

impl Kind {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::ClusterTopologyBinding => "ClusterTopologyBinding",
            Self::Kueue => "Kueue Topology",
        }
    }
}

/// One level: what its domains are called, and the node label that names the one a node is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) domain: String,
    pub(super) key: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    /// What pods may take of the resource.
    pub(super) allocatable: Amount,
    pub(super) state: NodeState,
}

/// Whether pods may come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NodeState {
    #[default]
    Usable,
    Cordoned,
    NotReady,
}

#[derive(Clone, Debug)]
pub(super) struct BoundPod {
    pub(super) node: String,
    /// What it takes of the resource.
    pub(super) takes: Amount,
    /// Its gang. A pod that is being deleted belongs to none any more, but keeps what it has until it is gone.
    pub(super) gang: Option<GangName>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GangName {
    pub(super) namespace: String,
    pub(super) name: String,
}

#[derive(Clone, Debug)]
pub(super) struct Gang {
    pub(super) name: GangName,
    /// Label key whose value has to be the same on all of its nodes.
    pub(super) required: Option<String>,
}
