//! PodCliqueSet: what the user writes.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AutoScalingConfig, ClaimTemplate, CliqueSharing, GangTermination, GoDuration, GroupSharing,
    PodCliqueSetStatus, PodCliqueSpec, ReplicaSpread, RestartPolicy, SchedulingPolicyConfig, SetSharing,
    TopologyConstraint,
};
use crate::limits::{
    MAX_CLAIM_TEMPLATES, MAX_CLIQUES, MAX_DURATION_LENGTH, MAX_GROUP_REPLICAS, MAX_GROUPS, MAX_NAME_LENGTH,
    MAX_SET_REPLICAS, MAX_SHARING, NAME_BUDGET,
};

/// What a PodCliqueSet should be.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "grove.io",
    version = "v1alpha1",
    kind = "PodCliqueSet",
    plural = "podcliquesets",
    shortname = "pcs"
)]
#[kube(
    namespaced,
    status = "PodCliqueSetStatus",
    derive = "PartialEq",
    derive = "Default",
    schema = "disabled"
)]
#[serde(rename_all = "camelCase")]
pub struct PodCliqueSetSpec {
    /// Number of copies of the whole template. The default, 0, creates nothing.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_SET_REPLICAS))]
    pub replicas: i32,

    /// How changes of the template reach running pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_strategy: Option<UpdateStrategy>,

    /// How far apart the replicas are placed. A change holds for replicas that are made from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_spread: Option<ReplicaSpread>,

    /// One copy: its cliques and how they belong together.
    pub template: SetTemplate,
}

/// How changes of the template reach running pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStrategy {
    /// RollingRecreate replaces pods replica by replica; OnDelete waits until somebody deletes them.
    #[serde(rename = "type", default)]
    pub type_: UpdateStrategyType,

    /// While this is true, changes of the template wait, and an update that has begun replaces nothing more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = null))]
    pub paused: bool,

    /// How long an update may go without progress before the condition UpdateInProgress says so. Defaults to 10m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_DURATION_LENGTH))]
    pub progress_deadline: Option<GoDuration>,
}

/// Kind of an update strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum UpdateStrategyType {
    /// Replace pods replica by replica.
    #[default]
    RollingRecreate,
    /// Replace a pod when somebody deletes it.
    OnDelete,
}

/// One copy of a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetTemplate {
    /// The roles. Which cliques there are cannot be changed; with a start order, neither can their order.
    #[schemars(length(min = 1, max = MAX_CLIQUES))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub cliques: Vec<CliqueTemplate>,

    /// Order in which the cliques start. Cannot be changed.
    #[serde(rename = "cliqueStartupType", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "CliqueStartupTypeAnyOrder"))]
    pub startup_type: Option<CliqueStartupType>,

    /// PriorityClass of the PodGangs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = MAX_NAME_LENGTH), extend("default" = null))]
    pub priority_class_name: String,

    /// Options of the headless Service that every replica gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headless_service_config: Option<HeadlessServiceConfig>,

    /// How close together a whole replica is placed. Cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<TopologyConstraint>,

    /// How long a replica may stay below its minimum before it is terminated as a gang. Defaults to 4h.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_DURATION_LENGTH))]
    pub termination_delay: Option<GoDuration>,

    /// Whether that happens at all. Absent means Enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gang_termination: Option<GangTermination>,

    /// What is restarted when a container fails. Absent means that only the kubelet restarts containers, and pods that
    /// it gave up are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<RestartPolicy>,

    /// Named templates of resource claims. Cannot be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_CLAIM_TEMPLATES))]
    pub resource_claim_templates: Vec<ClaimTemplate>,

    /// Claims shared by the whole set. Cannot be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_SHARING))]
    pub resource_sharing: Vec<SetSharing>,

    /// Groups of cliques that scale together. Which groups there are cannot be changed.
    #[serde(rename = "podCliqueScalingGroups", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_GROUPS))]
    pub scaling_groups: Vec<ScalingGroupConfig>,

    /// Placement by the name and node labels of a topology; an alternative to topologyConstraint.
    /// Cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_policy_config: Option<SchedulingPolicyConfig>,
}

/// Order in which the cliques of a set start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum CliqueStartupType {
    /// All at once.
    #[serde(rename = "CliqueStartupTypeAnyOrder")]
    AnyOrder,
    /// Each after the one before it in the list.
    #[serde(rename = "CliqueStartupTypeInOrder")]
    InOrder,
    /// As `startsAfter` says.
    #[serde(rename = "CliqueStartupTypeExplicit")]
    Explicit,
}

/// Options of the headless Service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeadlessServiceConfig {
    /// Whether DNS names pods before they are ready.
    #[serde(default = "yes")]
    pub publish_not_ready_addresses: bool,
}

fn yes() -> bool {
    true
}

/// One role of a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CliqueTemplate {
    /// Name, unique in the set.
    #[schemars(length(max = NAME_BUDGET))]
    pub name: String,

    /// Labels of the PodCliques and their pods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("default" = null))]
    pub labels: BTreeMap<String, String>,

    /// Annotations of the PodCliques and their pods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("default" = null))]
    pub annotations: BTreeMap<String, String>,

    /// How close together the pods of one PodClique are placed. Cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<TopologyConstraint>,

    /// Claims shared by the pods of one PodClique. Cannot be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_SHARING))]
    pub resource_sharing: Vec<CliqueSharing>,

    /// The pods of this role.
    pub spec: PodCliqueSpec,
}

/// A group of cliques that scale together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScalingGroupConfig {
    /// Name, unique among the groups of the set.
    #[schemars(length(max = NAME_BUDGET))]
    pub name: String,

    /// The cliques of the group; a clique is in at most one. Cannot be changed.
    #[schemars(length(max = MAX_CLIQUES))]
    pub clique_names: Vec<String>,

    /// Annotations of the PodCliqueScalingGroup.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("default" = null))]
    pub annotations: BTreeMap<String, String>,

    /// Number of copies of the group at creation; later the PodCliqueScalingGroup is scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_GROUP_REPLICAS), extend("default" = 1))]
    pub replicas: Option<i32>,

    /// Copies that are scheduled with the rest of the set replica, all or nothing. Cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_GROUP_REPLICAS), extend("default" = 1))]
    pub min_available: Option<i32>,

    /// Autoscaling of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_config: Option<AutoScalingConfig>,

    /// Claims shared inside the group. Cannot be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_SHARING))]
    pub resource_sharing: Vec<GroupSharing>,

    /// How close together one copy of the group is placed. Cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_constraint: Option<TopologyConstraint>,
}

impl SetTemplate {
    /// The group that `clique` belongs to.
    pub fn group_of(&self, clique: &str) -> Option<&ScalingGroupConfig> {
        self.scaling_groups.iter().find(|group| group.clique_names.iter().any(|name| name == clique))
    }

    /// All `topologyConstraint`s: that of the set, those of groups, those of cliques.
    pub fn topology_constraints(&self) -> impl Iterator<Item = &TopologyConstraint> {
        let groups = self.scaling_groups.iter().filter_map(|it| it.topology_constraint.as_ref());
        let cliques = self.cliques.iter().filter_map(|it| it.topology_constraint.as_ref());
        self.topology_constraint.iter().chain(groups).chain(cliques)
    }

    /// The clique called `name`.
    pub fn clique(&self, name: &str) -> Option<&CliqueTemplate> {
        self.cliques.iter().find(|clique| clique.name == name)
    }
}
