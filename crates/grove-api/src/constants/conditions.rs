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

/// PodGang conditions.
pub mod pod_gang {
    /// All pods exist and are listed; gates may be lifted.
    pub const INITIALIZED: &str = "Initialized";
    /// Reason of [`INITIALIZED`] False. Upstream's code says `PodGangPodsCreationPending`.
    pub const PODS_NOT_CREATED: &str = "PodsNotCreated";
    /// Reason of [`INITIALIZED`] True. Upstream's code says `PodGangPodsCreated`.
    pub const ALL_PODS_CREATED: &str = "AllPodsCreated";
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

/// PodCliqueSet: the chosen scheduler passes over something the set asks for.
pub const SCHEDULER_CAPABILITY_GAP: &str = "SchedulerCapabilityGap";
