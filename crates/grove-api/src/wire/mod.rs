//! The resource types, field by field as upstream Grove has them on the wire.
//!
//! Fields that admission fills in are `Option` even where the schema requires them: a webhook has to see the
//! difference between absent and empty to know what to add.

mod duration;
mod grouping_rule;
mod kueue_topology;
mod lost_node;
mod pod_clique;
mod pod_clique_set;
mod pod_clique_set_status;
mod pod_gang;
mod replica_spread;
mod resource_sharing;
mod restart;
mod scaling_group;
mod scheduler_backend;
mod scheduling_policy;
mod topology_binding;
mod topology_constraint;

pub use duration::{DurationError, GoDuration};
pub use grouping_rule::{
    CountSource, ForEach, GroupingRule, GroupingRuleSpec, GroupingRuleStatus, KindMatch, NameKey,
    NameKeyFrom, PrioritySource, SubGroupRule, TextSource, TopologySource,
};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    Condition, LabelSelector, LabelSelectorRequirement, Time,
};
pub use kueue_topology::{KueueTopology, KueueTopologyLevel, KueueTopologySpec};
pub use lost_node::{LossReason, LostNode};
pub use pod_clique::{
    AutoScalingConfig, LastError, PodClique, PodCliqueSpec, PodCliqueStatus, PodCliqueUpdateProgress,
    PodsSelectedToUpdate,
};
pub use pod_clique_set::{
    CliqueStartupType, CliqueTemplate, HeadlessServiceConfig, PodCliqueSet, PodCliqueSetSpec,
    ScalingGroupConfig, SetTemplate, UpdateStrategy, UpdateStrategyType,
};
pub use pod_clique_set_status::{
    PodCliqueSetStatus, PodCliqueSetUpdateProgress, PodGangPhase, PodGangStatusSummary, ReplicaUpdateProgress,
};
pub use pod_gang::{
    GangTopologyConstraint, NamespacedName, PackConstraint, PodGang, PodGangSpec, PodGangStatus, PodGroup,
    TopologyGroupConfig,
};
pub use replica_spread::{ReplicaSpread, SpreadMode};
pub use resource_sharing::{
    ClaimTemplate, CliqueSharing, GroupFilter, GroupSharing, SetFilter, SetSharing, SharingRef, SharingScope,
};
pub use restart::{
    GangTermination, RestartBackoff, RestartCount, RestartPolicy, RestartPolicyInForce, RestartScope,
    UnitRestart,
};
pub use scaling_group::{
    PodCliqueScalingGroup, PodCliqueScalingGroupSpec, PodCliqueScalingGroupStatus, ReplicasSelectedToUpdate,
    ScalingGroupUpdateProgress,
};
pub use scheduler_backend::{
    Capability, CapabilitySupport, SchedulerBackend, SchedulerBackendSpec, SchedulerBackendStatus,
};
pub use scheduling_policy::{GroupingConstraints, PackGroup, RequiredTopology, SchedulingPolicyConfig};
pub use topology_binding::{
    ClusterTopologyBinding, ClusterTopologyBindingSpec, ClusterTopologyBindingStatus,
    SchedulerTopologyBinding, SchedulerTopologyStatus, TopologyLevel,
};
pub use topology_constraint::{TopologyConstraint, TopologyPack};
