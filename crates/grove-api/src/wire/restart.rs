//! Restarts of a part of a set as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Time;

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

/// Whether a gang that stays below its minimum is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum GangTermination {
    /// After the termination delay.
    Enabled,
    /// Never.
    Disabled,
}
