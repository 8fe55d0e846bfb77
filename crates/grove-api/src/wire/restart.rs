//! Restarts of a part of a set as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GoDuration, Time};
use crate::limits::{MAX_DURATION_LENGTH, MAX_RESTARTS};

/// What is restarted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum RestartScope {
    /// The pod alone.
    Pod,
    /// All pods of the PodClique.
    Clique,
    /// All pods of the scaling group replica; of a clique in no group, the clique.
    GroupReplica,
    /// All pods of the set replica.
    SetReplica,
}

/// The last restart of a PodClique, alone or as part of something larger. It is noted before a pod is deleted, and what is
/// deleted follows from it: whoever reads it again deletes nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnitRestart {
    /// Pods that were created before this time have to go.
    pub before: Time,
    /// Why, such as GangTermination.
    pub reason: String,
    /// What is restarted with it.
    pub scope: RestartScope,
    /// When the minimum of the new pods was bound to nodes. Until then nothing restarts it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduled_at: Option<Time>,
}

/// What is restarted when a container fails, how often, and how fast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartPolicy {
    /// What is restarted together. With Pod, what the kubelet gave up is replaced, and nothing else.
    pub scope: RestartScope,

    /// Restarts of one unit within the window; the next failure is final until somebody resets it. Defaults to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_RESTARTS))]
    pub max_restarts: Option<i32>,

    /// How long restarts are counted together, from the first one. Defaults to 1h.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_DURATION_LENGTH))]
    pub window: Option<GoDuration>,

    /// Pauses between restarts of one unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<RestartBackoff>,
}

/// Pauses that double from one restart to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartBackoff {
    /// Between the first restart and the second. Defaults to 10s, or to max where that is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_DURATION_LENGTH))]
    pub initial: Option<GoDuration>,

    /// The longest. Defaults to 5m, or to initial where that is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_DURATION_LENGTH))]
    pub max: Option<GoDuration>,
}

/// How often the restart policy has restarted what a PodClique belongs to. Every PodClique of the unit has it, and the one
/// that counts most is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartCount {
    /// What is restarted together.
    pub scope: RestartScope,
    /// Restarts since the window began.
    pub count: i32,
    /// When the window began.
    pub window_start: Time,
    /// Nothing is restarted before this time.
    pub next_at: Time,
    /// When it failed once more than it may. Nothing restarts it from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhausted_at: Option<Time>,
    /// Hash of the set template that was counted for. The count restarts when this changes.
    pub pod_clique_set_generation_hash: String,
    /// What the annotation that resets it said then. The count restarts when this changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<String>,
}

/// Since when failures count for the restart policy of a set. Those of a pod that is ready again and that are older are
/// history: nobody asked for a restart then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartPolicyInForce {
    /// The scope that the policy has since then.
    pub scope: RestartScope,
    /// When the policy was first seen with that scope, or the turn of an update went on.
    pub since: Time,
    /// Index of the replica that has its turn in an update: what fails there meanwhile does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<i32>,
}

/// Whether a gang that stays below its minimum is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum GangTermination {
    /// After the termination delay.
    Enabled,
    /// Never.
    Disabled,
}
