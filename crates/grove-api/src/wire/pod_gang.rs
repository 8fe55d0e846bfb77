//! PodGang: an all-or-nothing unit, as schedulers read it.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Condition, Time};

/// What has to be placed together.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "scheduler.grove.io",
    version = "v1alpha1",
    kind = "PodGang",
    plural = "podgangs",
    shortname = "pg"
)]
#[kube(namespaced, status = "PodGangStatus", derive = "PartialEq", derive = "Default", schema = "disabled")]
#[serde(rename_all = "camelCase")]
pub struct PodGangSpec {
    /// The groups of pods, one for each PodClique.
    #[serde(rename = "podgroups")]
    pub pod_groups: Vec<PodGroup>,
    /// Placement of the whole gang.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<GangTopologyConstraint>,
    /// Placement of several groups together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topology_constraint_group_configs: Vec<TopologyGroupConfig>,
    /// PriorityClass of the gang.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("default" = null))]
    pub priority_class_name: String,
    /// A gang whose reserved capacity this one takes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse_reservation_ref: Option<NamespacedName>,
}

/// Pods of one PodClique.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodGroup {
    /// Name of the PodClique.
    pub name: String,
    /// Its pods.
    pub pod_references: Vec<NamespacedName>,
    /// How many of them have to be placed together.
    pub min_replicas: i32,
    /// Placement of these pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<GangTopologyConstraint>,
}

/// An object by namespace and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NamespacedName {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// Placement by node label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GangTopologyConstraint {
    /// The labels to pack by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack_constraint: Option<PackConstraint>,
}

/// Node labels to pack by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PackConstraint {
    /// Label key whose value has to be equal on all nodes used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<String>,
    /// Label key whose value should be equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<String>,
}

/// Several groups placed together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopologyGroupConfig {
    /// Name, unique in the gang.
    pub name: String,
    /// The groups.
    pub pod_group_names: Vec<String>,
    /// Their placement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<GangTopologyConstraint>,
}

/// What became of a gang.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodGangStatus {
    /// One of [`phases`](crate::constants::phases).
    pub phase: String,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// How well the gang is placed, 1.0 being best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement_score: Option<f64>,
    /// When the gang was last bound to nodes, also where it is not any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_scheduled: Option<Time>,
    /// When the gang last became ready, also where it is not any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ready: Option<Time>,
}
