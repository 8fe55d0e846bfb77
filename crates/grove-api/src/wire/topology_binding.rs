//! ClusterTopologyBinding: the levels of the cluster's topology.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Condition;
use crate::limits::{MAX_LABEL_LENGTH, MAX_NAME_LENGTH, MAX_TOPOLOGY_BINDINGS, MAX_TOPOLOGY_LEVELS};

/// The levels of a topology, and the schedulers' own objects for it.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "grove.io",
    version = "v1alpha1",
    kind = "ClusterTopologyBinding",
    plural = "clustertopologybindings"
)]
#[kube(shortname = "ct", status = "ClusterTopologyBindingStatus")]
#[kube(derive = "PartialEq", derive = "Default", schema = "disabled")]
#[serde(rename_all = "camelCase")]
pub struct ClusterTopologyBindingSpec {
    /// Levels from the broadest to the narrowest.
    #[schemars(length(min = 1, max = MAX_TOPOLOGY_LEVELS))]
    pub levels: Vec<TopologyLevel>,
    /// Topology objects of schedulers that somebody else manages. For a scheduler that is not listed, Grove
    /// makes the object itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_TOPOLOGY_BINDINGS))]
    pub scheduler_topology_bindings: Vec<SchedulerTopologyBinding>,
}

/// One level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TopologyLevel {
    /// Name of the domain, such as zone, block, rack or host.
    #[schemars(length(min = 1, max = MAX_LABEL_LENGTH), regex(pattern = r"^[a-z][a-z0-9-]*$"))]
    pub domain: String,
    /// Node label whose value names the domain a node is in.
    #[schemars(length(min = 1, max = MAX_LABEL_LENGTH))]
    #[schemars(regex(
        pattern = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
    ))]
    pub key: String,
}

/// A scheduler's own topology object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchedulerTopologyBinding {
    /// The scheduler.
    #[schemars(length(max = MAX_NAME_LENGTH))]
    pub scheduler_name: String,
    /// Name of its object.
    #[schemars(length(max = MAX_NAME_LENGTH))]
    pub topology_reference: String,
}

/// How the schedulers' objects compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterTopologyBindingStatus {
    /// Generation that the operator has acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// One entry for each scheduler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scheduler_topology_statuses: Vec<SchedulerTopologyStatus>,
}

/// How one scheduler's object compares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchedulerTopologyStatus {
    /// The scheduler.
    pub scheduler_name: String,
    /// Name of its object.
    pub topology_reference: String,
    /// Whether the object has the levels of this binding.
    pub in_sync: bool,
    /// Generation of the object that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_backend_topology_observed_generation: Option<i64>,
    /// What differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
