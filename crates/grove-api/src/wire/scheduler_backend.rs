//! SchedulerBackend: what the operator knows about one scheduler. Grove's own kind; nobody else writes it.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Condition;

/// Nothing to choose: the operator's configuration says which backends are used.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(group = "grove.io", version = "v1alpha1", kind = "SchedulerBackend", plural = "schedulerbackends")]
#[kube(shortname = "sb", status = "SchedulerBackendStatus")]
#[kube(derive = "PartialEq", derive = "Default", schema = "disabled")]
pub struct SchedulerBackendSpec {}

/// State of one backend.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchedulerBackendStatus {
    /// Generation of the object that was acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `SchedulerBackendReady`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// What pods carry as schedulerName.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_name: Option<String>,
    /// Whether sets that name no scheduler use this one.
    #[serde(default)]
    pub default: bool,
    /// Version of the scheduler or of its API, where it can be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_version: Option<String>,
    /// What the backend can do, feature by feature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["feature"]))]
    pub capabilities: Vec<Capability>,
}

/// What a backend does about one feature of a PodGang.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capability {
    /// The feature.
    pub feature: String,
    /// How far it is supported.
    pub support: CapabilitySupport,
    /// How it is emulated, or why it is not supported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How far a feature is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum CapabilitySupport {
    /// By the scheduler itself.
    Native,
    /// By other means of the scheduler.
    Emulated,
    /// Not at all: a set that asks for it is refused.
    Reject,
    /// Not at all: a set that asks for it runs without it, and a condition says so.
    Pass,
}
