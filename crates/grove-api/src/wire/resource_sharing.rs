//! Sharing of device claims (DRA) between the pods of a set.

use k8s_openapi::api::resource::v1::ResourceClaimTemplateSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{MAX_CLIQUES, MAX_GROUPS, MAX_LABEL_LENGTH, MAX_NAME_LENGTH};

/// A named template of resource claims inside a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimTemplate {
    /// Name that resourceSharing entries refer to.
    #[schemars(length(max = MAX_NAME_LENGTH))]
    pub name: String,
    /// The claim.
    pub template_spec: ResourceClaimTemplateSpec,
}

/// Claims shared at the level of the whole set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetSharing {
    /// What is shared.
    #[serde(flatten)]
    pub reference: SharingRef,
    /// Which children get the claim; all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<SetFilter>,
}

/// Claims shared inside a scaling group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupSharing {
    /// What is shared.
    #[serde(flatten)]
    pub reference: SharingRef,
    /// Which members get the claim; all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<GroupFilter>,
}

/// Claims shared by the pods of one PodClique.
pub type CliqueSharing = SharingRef;

/// What is shared, and by whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharingRef {
    /// Name of a claim template of the set, or else of a ResourceClaimTemplate object.
    #[schemars(length(max = MAX_NAME_LENGTH))]
    pub name: String,
    /// Namespace of the ResourceClaimTemplate object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_LABEL_LENGTH))]
    pub namespace: Option<String>,
    /// One claim for all replicas, or one for each.
    pub scope: SharingScope,
}

/// Who shares one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum SharingScope {
    /// All replicas share one.
    AllReplicas,
    /// Each replica has its own.
    PerReplica,
}

/// Children of a set that get a claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetFilter {
    /// Cliques by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_CLIQUES))]
    pub child_clique_names: Vec<String>,
    /// Scaling groups by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_GROUPS))]
    pub child_scaling_group_names: Vec<String>,
}

/// Members of a scaling group that get a claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupFilter {
    /// Cliques by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_CLIQUES))]
    pub child_clique_names: Vec<String>,
}
