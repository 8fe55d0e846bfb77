//! PodClique: the pods of one role.

use k8s_openapi::api::{autoscaling::v2::MetricSpec, core::v1::PodSpec};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Condition, LostNode, RestartCount, Time, UnitRestart};
use crate::limits::{MAX_CLIQUE_REPLICAS, MAX_LOST_NODES, MAX_METRICS, MAX_PARENTS, MAX_ROLE_NAME};

/// What a PodClique should be; also the `spec` of a clique template.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "grove.io",
    version = "v1alpha1",
    kind = "PodClique",
    plural = "podcliques",
    shortname = "pclq"
)]
#[kube(namespaced, status = "PodCliqueStatus", derive = "PartialEq", derive = "Default", schema = "disabled")]
#[serde(rename_all = "camelCase")]
pub struct PodCliqueSpec {
    /// Name of the role, unique among the cliques of a set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(max = MAX_ROLE_NAME))]
    pub role_name: Option<String>,

    /// The pods to run.
    pub pod_spec: PodSpec,

    /// Number of pods. 0 means scaled to zero: there are no pods, and nothing waits for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0, max = MAX_CLIQUE_REPLICAS))]
    pub replicas: Option<i32>,

    /// Smallest number of pods that makes sense: they are scheduled together or not at all, and falling below
    /// ends the gang after the termination delay. Defaults to `replicas`, and to 1 where those are 0. Cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_CLIQUE_REPLICAS))]
    pub min_available: Option<i32>,

    /// Cliques that have to be ready before pods of this one start. Only read with the startup type
    /// CliqueStartupTypeExplicit. Cannot be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_PARENTS))]
    pub starts_after: Vec<String>,

    /// Autoscaling of this clique. Not for members of a scaling group, which scale as a whole.
    #[serde(rename = "autoScalingConfig", skip_serializing_if = "Option::is_none")]
    pub auto_scaling_config: Option<AutoScalingConfig>,
}

/// How a clique or a scaling group is scaled by a HorizontalPodAutoscaler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutoScalingConfig {
    /// Lower bound; defaults to `replicas` (to `minAvailable` where those are 0), and may not be below `minAvailable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10_000))]
    pub min_replicas: Option<i32>,

    /// Upper bound.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_replicas: i32,

    /// What to scale on, passed to the HorizontalPodAutoscaler as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_METRICS), extend("x-kubernetes-list-type" = "atomic"))]
    pub metrics: Vec<MetricSpec>,
}

/// What a PodClique is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodCliqueStatus {
    /// Generation that the operator has acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Errors of the last reconcile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_errors: Vec<LastError>,
    /// Pods that are not terminating.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = null))]
    pub replicas: i32,
    /// Pods that are ready.
    #[serde(default)]
    pub ready_replicas: i32,
    /// Pods of the current template.
    #[serde(default)]
    pub updated_replicas: i32,
    /// Pods held back by a scheduling gate.
    #[serde(default)]
    pub schedule_gated_replicas: i32,
    /// Pods bound to a node.
    #[serde(default)]
    pub scheduled_replicas: i32,
    /// Selector of the pods, for the HorizontalPodAutoscaler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hpa_pod_selector: Option<String>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Hash of the set template that all pods have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_pod_clique_set_generation_hash: Option<String>,
    /// Hash of the pod template that all pods have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_pod_template_hash: Option<String>,
    /// Progress of an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_progress: Option<PodCliqueUpdateProgress>,
    /// Whether minAvailable pods have ever been bound to nodes at once. Gang termination restarts only what has. Absent where another
    /// version wrote the status. Ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was_scheduled: Option<bool>,
    /// The last restart of all its pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<UnitRestart>,
    /// Restarts by the restart policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<RestartCount>,
    /// Nodes with pods of this clique on them that are lost, or about to be. Ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_LOST_NODES))]
    pub lost_nodes: Vec<LostNode>,
}

/// Progress of an update of one PodClique.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodCliqueUpdateProgress {
    /// When it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_started_at: Option<Time>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_ended_at: Option<Time>,
    /// Target hash of the set template.
    pub pod_clique_set_generation_hash: String,
    /// Target hash of the pod template.
    pub pod_template_hash: String,
    /// Pods that were ready when it started. The next one is replaced when so many are ready again. Ours.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = null))]
    pub ready_at_start: i32,
    /// Ready pods chosen for replacement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_pods_selected_to_update: Option<PodsSelectedToUpdate>,
}

/// Ready pods chosen for replacement, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodsSelectedToUpdate {
    /// The pod being replaced.
    pub current: String,
    /// Pods replaced before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<String>,
}

/// An error that stopped a reconcile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastError {
    /// Stable code, such as ERR_CREATE_POD.
    pub code: String,
    /// What happened.
    pub description: String,
    /// When.
    pub observed_at: Time,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(count: &i32) -> bool {
    *count == 0
}
