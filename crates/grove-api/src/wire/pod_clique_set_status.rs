//! Status of a PodCliqueSet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Condition, LastError, RestartPolicyInForce, Time, pod_clique::is_zero};

/// What a PodCliqueSet is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodCliqueSetStatus {
    /// Generation that the operator has acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Errors of the last reconcile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_errors: Vec<LastError>,
    /// Replicas asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = null))]
    pub replicas: i32,
    /// Replicas that are available and of the current template.
    #[serde(default)]
    pub updated_replicas: i32,
    /// Replicas whose every clique and group has its minimum.
    #[serde(default)]
    pub available_replicas: i32,
    /// Selector of the pods, for the HorizontalPodAutoscaler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hpa_pod_selector: Option<String>,
    /// The PodGangs of the set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pod_gang_statuses: Vec<PodGangStatusSummary>,
    /// Hash of the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_generation_hash: Option<String>,
    /// Progress of an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_progress: Option<PodCliqueSetUpdateProgress>,
    /// Since when failures count for the restart policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<RestartPolicyInForce>,
}

/// One PodGang of the set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodGangStatusSummary {
    /// Name of the PodGang.
    pub name: String,
    /// Its phase.
    pub phase: PodGangPhase,
    /// Its conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Phase of a PodGang as a set reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum PodGangPhase {
    /// Not all pods are bound.
    Pending,
    /// Bound, not all ready.
    Starting,
    /// Ready.
    Running,
    /// Ended with failure.
    Failed,
    /// Ended with success.
    Succeeded,
}

/// Progress of an update of a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodCliqueSetUpdateProgress {
    /// When it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_started_at: Option<Time>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_ended_at: Option<Time>,
    /// Standalone PodCliques that are updated.
    #[serde(default)]
    pub updated_pod_cliques_count: i32,
    /// Standalone PodCliques in all.
    #[serde(default)]
    pub total_pod_cliques_count: i32,
    /// Scaling groups that are updated.
    #[serde(default)]
    pub updated_pod_clique_scaling_groups_count: i32,
    /// Scaling groups in all.
    #[serde(default)]
    pub total_pod_clique_scaling_groups_count: i32,
    /// Replicas that were available when it started. One that is available has its turn when so many are. Ours.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = null))]
    pub available_at_start: i32,
    /// The replica that is being updated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub currently_updating: Vec<ReplicaUpdateProgress>,
}

/// Progress of an update of one set replica.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaUpdateProgress {
    /// Which replica.
    pub replica_index: i32,
    /// When it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_started_at: Option<Time>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_ended_at: Option<Time>,
}
