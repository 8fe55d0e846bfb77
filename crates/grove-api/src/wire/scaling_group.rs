//! PodCliqueScalingGroup: cliques that scale together.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Condition, LastError, Time, pod_clique::is_zero};
use crate::limits::{MAX_CLIQUES, MAX_GROUP_REPLICAS};

/// What a PodCliqueScalingGroup should be.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "grove.io",
    version = "v1alpha1",
    kind = "PodCliqueScalingGroup",
    plural = "podcliquescalinggroups"
)]
#[kube(shortname = "pcsg", namespaced, status = "PodCliqueScalingGroupStatus")]
#[kube(derive = "PartialEq", derive = "Default", schema = "disabled")]
#[serde(rename_all = "camelCase")]
pub struct PodCliqueScalingGroupSpec {
    /// Number of copies of the group. 0 means scaled to zero.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = MAX_GROUP_REPLICAS))]
    pub replicas: i32,
    /// Copies that have to be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_GROUP_REPLICAS), extend("default" = 1))]
    pub min_available: Option<i32>,
    /// Names of the member cliques in the set's template.
    #[schemars(length(max = MAX_CLIQUES))]
    pub clique_names: Vec<String>,
}

fn one() -> i32 {
    1
}

/// What a PodCliqueScalingGroup is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodCliqueScalingGroupStatus {
    /// Replicas asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = null))]
    pub replicas: i32,
    /// Replicas whose every clique is scheduled.
    #[serde(default)]
    pub scheduled_replicas: i32,
    /// Scheduled replicas whose every clique has its minimum ready.
    #[serde(default)]
    pub available_replicas: i32,
    /// Available replicas of the current template.
    #[serde(default)]
    pub updated_replicas: i32,
    /// Selector of the pods, for the HorizontalPodAutoscaler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Generation that the operator has acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Errors of the last reconcile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_errors: Vec<LastError>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Hash of the set template that all members have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_pod_clique_set_generation_hash: Option<String>,
    /// Progress of an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_progress: Option<ScalingGroupUpdateProgress>,
}

/// Progress of an update of a scaling group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScalingGroupUpdateProgress {
    /// When it started.
    pub update_started_at: Time,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_ended_at: Option<Time>,
    /// Target hash of the set template.
    pub pod_clique_set_generation_hash: String,
    /// Member PodCliques that are updated.
    #[serde(default)]
    pub updated_pod_cliques_count: i32,
    /// Member PodCliques in all.
    #[serde(default)]
    pub total_pod_cliques_count: i32,
    /// Replicas that were available when it started. The next one is replaced when so many are available again. Ours.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = null))]
    pub available_at_start: i32,
    /// Ready replicas chosen for replacement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_replica_indices_selected_to_update: Option<ReplicasSelectedToUpdate>,
}

/// Ready replicas chosen for replacement, by index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicasSelectedToUpdate {
    /// The replica being replaced.
    pub current: i32,
    /// Replicas replaced before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<i32>,
}
