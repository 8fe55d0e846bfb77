//! Placement by topology name and node label, an alternative to `topologyConstraint`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{MAX_CLIQUES, MAX_NAME_LENGTH, MAX_PACK_GROUPS};

/// Placement of a set by topology name and node label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchedulingPolicyConfig {
    /// Topology to use. Without one nothing is constrained; the admin's default is filled in on create.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_NAME_LENGTH))]
    pub topology_name: Option<String>,
    /// Constraint on all cliques of a replica together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grouping_constraints: Option<GroupingConstraints>,
    /// Groups of cliques that are packed together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_PACK_GROUPS))]
    pub network_pack_group_configs: Vec<PackGroup>,
}

/// Cliques that are packed together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackGroup {
    /// The cliques; a clique is in at most one pack group.
    #[schemars(length(max = MAX_CLIQUES))]
    pub clique_names: Vec<String>,
    /// Constraint on this group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<GroupingConstraints>,
}

/// What has to hold for a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupingConstraints {
    /// The level that has to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<RequiredTopology>,
}

/// A level of a topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequiredTopology {
    /// Node label of the level, as the topology lists it.
    #[schemars(length(min = 1, max = 317))]
    pub topology_key: String,
}

impl SchedulingPolicyConfig {
    /// The topology that is named; an empty name is none.
    pub fn topology(&self) -> Option<&str> {
        self.topology_name.as_deref().filter(|it| !it.is_empty())
    }
}

impl GroupingConstraints {
    /// Node label of the level that has to hold.
    pub fn required(&self) -> Option<&str> {
        self.required.as_ref().map(|it| it.topology_key.as_str())
    }
}
