//! Nodes that are lost with pods on them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Time;

/// A node that is lost, or about to be, with pods of the PodClique on it. It is noted before a pod is deleted because of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LostNode {
    /// Name of the node.
    pub name: String,
    /// What is wrong with it.
    pub reason: LossReason,
    /// Since when.
    pub since: Time,
    /// Since when its pods count as gone. Absent while the node may still come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_at: Option<Time>,
}

/// What is wrong with a node, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum LossReason {
    /// There is no such node any more.
    Gone,
    /// Somebody said that it is out of service.
    OutOfService,
    /// Its kubelet is silent.
    Unreachable,
    /// Its kubelet says that it is not ready.
    NotReady,
    /// It has another taint with the effect NoExecute, which the pods do not tolerate.
    Tainted,
}

impl LossReason {
    /// Whether nothing on the node can end a pod any more: one that is deleted stays until somebody removes it by force.
    pub fn is_silent(self) -> bool {
        matches!(self, Self::Gone | Self::OutOfService | Self::Unreachable)
    }

    /// By its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "Gone",
            Self::OutOfService => "OutOfService",
            Self::Unreachable => "Unreachable",
            Self::NotReady => "NotReady",
            Self::Tainted => "Tainted",
        }
    }
}
