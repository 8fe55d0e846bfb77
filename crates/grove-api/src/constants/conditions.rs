//! Condition types, and the reasons each may have.

/// PodClique and PodCliqueScalingGroup: too little is available.
pub mod min_available_breached {
    /// Condition type.
    pub const TYPE: &str = "MinAvailableBreached";
    /// PodClique, True.
    pub const INSUFFICIENT_READY_PODS: &str = "InsufficientReadyPods";
    /// PodClique, False.
    pub const SUFFICIENT_READY_PODS: &str = "SufficientReadyPods";
    /// PodClique, True.
    pub const SCHEDULED_BELOW_MINIMUM: &str = "ScheduledReplicasBelowMinAvailable";
    /// Scaling group, True.
    pub const INSUFFICIENT_GROUP_REPLICAS: &str = "InsufficientAvailablePodCliqueScalingGroupReplicas";
    /// Scaling group, False.
    pub const SUFFICIENT_GROUP_REPLICAS: &str = "SufficientAvailablePodCliqueScalingGroupReplicas";
    /// Both, Unknown.
    pub const UPDATE_IN_PROGRESS: &str = "UpdateInProgress";
}

/// Reason of MinAvailableBreached=False and PodCliqueScheduled=True where nothing is asked for: replicas is 0. Ours.
pub const SCALED_TO_ZERO: &str = "ScaledToZero";

/// PodClique: enough pods are bound to nodes.
pub mod pod_clique_scheduled {
    /// Condition type.
    pub const TYPE: &str = "PodCliqueScheduled";
    /// True.
    pub const SUFFICIENT: &str = "SufficientScheduledPods";
    /// False.
    pub const INSUFFICIENT: &str = "InsufficientScheduledPods";
}

/// Scaling group: its set replica is being terminated as a gang.
pub mod gang_termination_in_progress {
    /// Condition type.
    pub const TYPE: &str = "GangTerminationInProgress";
    /// True.
    pub const ACTIVE: &str = "GangTerminationActive";
}

/// PodCliqueSet: the topology levels it names are there.
pub mod topology_levels_unavailable {
    /// Condition type.
    pub const TYPE: &str = "TopologyLevelsUnavailable";
    /// False.
    pub const ALL_AVAILABLE: &str = "AllClusterTopologyLevelsAvailable";
    /// True.
    pub const UNAVAILABLE: &str = "ClusterTopologyLevelsUnavailable";
    /// Unknown.
    pub const NOT_FOUND: &str = "ClusterTopologyNotFound";
    /// Unknown.
    pub const NAME_MISSING: &str = "TopologyNameMissing";
    /// Unknown.
    pub const DISABLED: &str = "TopologyAwareSchedulingDisabled";
}

/// ClusterTopologyBinding: a scheduler's own topology object differs.
pub mod scheduler_topology_drift {
    /// Condition type.
    pub const TYPE: &str = "SchedulerTopologyDrift";
    /// False.
    pub const IN_SYNC: &str = "InSync";
    /// True.
    pub const DRIFT: &str = "Drift";
    /// Unknown.
    pub const NOT_FOUND: &str = "TopologyNotFound";
}

/// ClusterTopologyBinding: all nodes have the labels of all levels.
pub mod nodes_labelled {
    /// Condition type.
    pub const TYPE: &str = "NodesLabelled";
    /// True.
    pub const ALL: &str = "AllNodesLabelled";
    /// False; the message counts the nodes for each label.
    pub const MISSING: &str = "LabelsMissing";
    /// Unknown.
    pub const NO_NODES: &str = "NoNodes";
    /// Unknown: the operator may not list nodes.
    pub const NOT_READABLE: &str = "NodesNotReadable";
}

/// PodGang conditions.
pub mod pod_gang {
    /// All pods exist and are listed; gates may be lifted.
    pub const INITIALIZED: &str = "Initialized";
    /// Reason of [`INITIALIZED`] False. Upstream's code says `PodGangPodsCreationPending`.
    pub const PODS_NOT_CREATED: &str = "PodsNotCreated";
    /// Reason of [`INITIALIZED`] True. Upstream's code says `PodGangPodsCreated`.
    pub const ALL_PODS_CREATED: &str = "AllPodsCreated";
    /// Reason of [`SCHEDULED`] True.
    pub const PLACED: &str = "MinimumBound";
    /// Reason of [`SCHEDULED`] False: the gates are lifted, the scheduler has not answered.
    pub const WAITING_FOR_SCHEDULER: &str = "WaitingForScheduler";
    /// Reason of [`SCHEDULED`] False: the base gang goes first.
    pub const WAITING_FOR_BASE: &str = "WaitingForBaseGang";
    /// Reason of [`SCHEDULED`] False: a base gang of another replica of the set goes first.
    pub const WAITING_FOR_OTHERS: &str = "WaitingForOtherGangs";
    /// Reason of [`SCHEDULED`] False: the scheduler says no, in its own words.
    pub const UNSCHEDULABLE: &str = "Unschedulable";
    /// Reason of [`SCHEDULED`] False: the backend of the gang's scheduler is not ready, so that there are no pods.
    pub const BACKEND_NOT_READY: &str = "SchedulerBackendNotReady";
    /// Reason of [`SCHEDULED`] False: the scheduler could not be told of the gang, so that its pods are held back.
    pub const BACKEND_FAILED: &str = "SchedulerBackendFailed";
    /// Reason of [`SCHEDULED`] False: a level is required of a topology that does not exist, so that pods stay gated. The
    /// set's condition has the same reason.
    pub const TOPOLOGY_NOT_FOUND: &str = super::topology_levels_unavailable::NOT_FOUND;
    /// Reason of [`SCHEDULED`] False: the topology lacks a level that is required.
    pub const TOPOLOGY_LEVELS_UNAVAILABLE: &str = super::topology_levels_unavailable::UNAVAILABLE;
    /// Reason of [`SCHEDULED`] False: pods were bound one by one although they belong to groups.
    pub const NOT_HONOURED: &str = "GangNotHonoured";
    /// Where the pods are does not meet all that the gang prefers; there only while that is so.
    pub const PREFERRED_PLACEMENT: &str = "PreferredPlacement";
    /// Reason of [`PREFERRED_PLACEMENT`] False.
    pub const PREFERRED_LEVELS_MISSED: &str = "PreferredLevelsMissed";
    /// Reason of [`READY`] True.
    pub const PODS_READY: &str = "MinimumReady";
    /// Reason of [`READY`] False.
    pub const PODS_NOT_READY: &str = "PodsNotReady";
    /// Reason of [`READY`] False.
    pub const NOT_SCHEDULED: &str = "NotScheduled";
    /// Reason of [`UNHEALTHY`] True: pods that were bound are gone.
    pub const PODS_LOST: &str = "PodsLost";
    /// Reason of [`UNHEALTHY`] True: pods fail, or run without being ready.
    pub const PODS_FAILING: &str = "PodsFailing";
    /// Reason of [`UNHEALTHY`] False.
    pub const HEALTHY: &str = "Healthy";
    /// The minimum of every group is bound.
    pub const SCHEDULED: &str = "Scheduled";
    /// The minimum of every group is ready.
    pub const READY: &str = "Ready";
    /// The gang fell below its minimum.
    pub const UNHEALTHY: &str = "Unhealthy";
    /// The gang is about to be disrupted.
    pub const DISRUPTION_TARGET: &str = "DisruptionTarget";
}

/// SchedulerBackend: whether the backend can be used.
pub mod scheduler_backend_ready {
    /// Condition type.
    pub const TYPE: &str = "SchedulerBackendReady";
    /// True.
    pub const INITIALIZED: &str = "BackendInitialized";
    /// False.
    pub const FAILED: &str = "BackendInitializationFailed";
    /// Unknown.
    pub const NOT_CONFIGURED: &str = "BackendNotConfigured";
}

/// GroupingRule: whether it can be understood, and whether groups are made by it. Ours.
pub mod grouping_rule {
    /// Condition type.
    pub const COMPILED: &str = "Compiled";
    /// Reason of [`COMPILED`] True.
    pub const VALID: &str = "RuleValid";
    /// Reason of [`COMPILED`] False; the message lists the fields.
    pub const INVALID: &str = "RuleInvalid";
    /// Condition type.
    pub const ACTIVE: &str = "Active";
    /// Reason of [`ACTIVE`] True.
    pub const IN_FORCE: &str = "RuleInForce";
    /// Reason of [`ACTIVE`] False: see [`COMPILED`].
    pub const NOT_COMPILED: &str = "NotCompiled";
    /// Reason of [`ACTIVE`] False: Grove groups the kind itself.
    pub const NATIVE_KIND: &str = "NativeKind";
    /// Reason of [`ACTIVE`] False: another rule for the kind goes first.
    pub const OTHER_RULE_FIRST: &str = "OtherRuleFirst";
}

/// PodCliqueSet: the chosen scheduler passes over something the set asks for. Present only while it does.
pub const SCHEDULER_CAPABILITY_GAP: &str = "SchedulerCapabilityGap";
/// Reason of [`SCHEDULER_CAPABILITY_GAP`].
pub const FEATURES_PASSED_OVER: &str = "FeaturesPassedOver";

/// PodCliqueSet: it has fields that are accepted and not implemented; the message names them. Present only while it has.
/// Ours.
pub const SETTINGS_IGNORED: &str = "SettingsIgnored";
/// Reason of [`SETTINGS_IGNORED`].
pub const NOT_IMPLEMENTED: &str = "NotImplemented";

/// PodCliqueSet: it asks for more PodCliques or PodCliqueScalingGroups than one set may have; the message says what is not
/// created. Present only while it does. Ours.
pub mod size_limit_exceeded {
    /// Condition type.
    pub const TYPE: &str = "SizeLimitExceeded";
    /// True.
    pub const NOT_ALL_CREATED: &str = "NotAllCreated";
}

/// PodClique, PodGang, PodCliqueSet: the API server refuses pods. Present only while it does. Ours, named as
/// ReplicaSets name theirs.
pub const REPLICA_FAILURE: &str = "ReplicaFailure";
/// Reason of [`REPLICA_FAILURE`].
pub const FAILED_CREATE: &str = "FailedCreate";

/// PodClique, PodCliqueSet: its restart policy restarts something no more. Present only while that is so. Ours.
pub const RESTART_BUDGET_EXHAUSTED: &str = "RestartBudgetExhausted";
/// Reason of [`RESTART_BUDGET_EXHAUSTED`].
pub const TOO_MANY_RESTARTS: &str = "TooManyRestarts";

/// PodClique: pods count as gone because their nodes are lost. Present only while it is so, and until the minimum is bound
/// again. Ours.
pub mod node_lost {
    /// Condition type.
    pub const TYPE: &str = "NodeLost";
    /// True.
    pub const PODS_GONE: &str = "PodsOnLostNodes";
}

/// PodCliqueSet: every replica has the minimum of every clique and group. Ours.
pub mod available {
    /// Condition type.
    pub const TYPE: &str = "Available";
    /// True.
    pub const ALL: &str = "AllReplicasAvailable";
    /// False.
    pub const NOT_ALL: &str = "ReplicasUnavailable";
}

/// PodCliqueSet: something is still to come. Ours.
pub mod progressing {
    /// Condition type.
    pub const TYPE: &str = "Progressing";
    /// True: something is still to be made, or to become ready.
    pub const AWAITING_PODS: &str = "AwaitingPods";
    /// True: something went wrong and is tried again.
    pub const RETRYING: &str = "Retrying";
    /// False.
    pub const COMPLETE: &str = "Complete";
}

/// PodCliqueSet: pods of an older template still run. Ours.
pub mod update_pending {
    /// Condition type.
    pub const TYPE: &str = "UpdatePending";
    /// True: they stay until somebody deletes them.
    pub const OLD_PODS_KEPT: &str = "OldPodsKept";
    /// True: the update is paused.
    pub const PAUSED: &str = "UpdatePaused";
    /// True: the update is paused, and the template in use is known nowhere any more: no PodClique is created from it.
    pub const TEMPLATE_UNKNOWN: &str = "TemplateInUseUnknown";
    /// False.
    pub const ALL_CURRENT: &str = "AllPodsCurrent";
    /// False: an update replaces them.
    pub const REPLACED: &str = "OldPodsReplaced";
}

/// PodCliqueSet: pods are being replaced because the template changed. Ours.
pub mod update_in_progress {
    /// Condition type.
    pub const TYPE: &str = "UpdateInProgress";
    /// True.
    pub const REPLACING: &str = "ReplacingPods";
    /// True: nothing is replaced until the update is resumed.
    pub const PAUSED: &str = "UpdatePaused";
    /// True: the API server refuses pods of the new template in a dry run, so that no old pod is deleted for them.
    pub const TEMPLATE_REFUSED: &str = "PodTemplateRefused";
    /// True: nothing has moved for longer than it may take.
    pub const DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";
    /// False.
    pub const ENDED: &str = "UpdateEnded";
}
