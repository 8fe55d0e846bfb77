//! Event reasons, by the object they are attached to.

/// On a PodClique.
pub mod pod_clique {
    /// Normal.
    pub const POD_CREATED: &str = "PodCreateSuccessful";
    /// Normal.
    pub const POD_DELETED: &str = "PodDeleteSuccessful";
    /// Warning.
    pub const POD_CREATE_FAILED: &str = "PodCreateFailed";
    /// Warning.
    pub const POD_DELETE_FAILED: &str = "PodDeleteFailed";
    /// Warning. Ours.
    pub const NODE_LOST: &str = "NodeLost";
    /// Warning: a node is not declared lost yet, because too many fail at once. Ours.
    pub const NODE_LOSS_HELD: &str = "NodeLossHeld";
    /// Warning: a pod that was stuck on a lost node. Ours.
    pub const POD_REMOVED: &str = "PodRemovedByForce";
    /// Warning; also on a scaling group.
    pub const ALL_SCHEDULED_LOST: &str = "AllScheduledReplicasLost";
}

/// On a PodCliqueSet or a scaling group, about the children it makes.
pub mod children {
    /// Normal.
    pub const CLIQUE_SYNCED: &str = "PodCliqueCreateOrUpdateSuccessful";
    /// Warning.
    pub const CLIQUE_SYNC_FAILED: &str = "PodCliqueCreateOrUpdateFailed";
    /// Normal.
    pub const CLIQUE_CREATED: &str = "PodCliqueCreateSuccessful";
    /// Warning.
    pub const CLIQUE_CREATE_FAILED: &str = "PodCliqueCreateFailed";
    /// Normal.
    pub const CLIQUE_DELETED: &str = "PodCliqueDeleteSuccessful";
    /// Warning.
    pub const CLIQUE_DELETE_FAILED: &str = "PodCliqueDeleteFailed";
    /// Normal.
    pub const GROUP_CREATED: &str = "PodCliqueScalingGroupCreateSuccessful";
    /// Warning.
    pub const GROUP_SYNC_FAILED: &str = "PodCliqueScalingGroupCreateOrUpdateFailed";
    /// Normal.
    pub const GROUP_DELETED: &str = "PodCliqueScalingGroupDeleteSuccessful";
    /// Warning.
    pub const GROUP_DELETE_FAILED: &str = "PodCliqueScalingGroupDeleteFailed";
    /// Normal.
    pub const GROUP_REPLICA_DELETED: &str = "PodCliqueScalingGroupReplicaDeleteSuccessful";
    /// Warning.
    pub const GROUP_REPLICA_DELETE_FAILED: &str = "PodCliqueScalingGroupReplicaDeleteFailed";
    /// Normal.
    pub const GANG_SYNCED: &str = "PodGangCreateOrUpdateSuccessful";
    /// Warning.
    pub const GANG_SYNC_FAILED: &str = "PodGangCreateOrUpdateFailed";
    /// Normal.
    pub const GANG_DELETED: &str = "PodGangDeleteSuccessful";
    /// Warning.
    pub const GANG_DELETE_FAILED: &str = "PodGangDeleteFailed";
    /// Normal.
    pub const SET_REPLICA_DELETED: &str = "PodCliqueSetReplicaDeleteSuccessful";
    /// Warning.
    pub const SET_REPLICA_DELETE_FAILED: &str = "PodCliqueSetReplicaDeleteFailed";
    /// Normal.
    pub const COMPUTE_DOMAIN_CREATED: &str = "ComputeDomainCreateSuccessful";
    /// Warning.
    pub const COMPUTE_DOMAIN_CREATE_FAILED: &str = "ComputeDomainCreateFailed";
    /// Normal.
    pub const COMPUTE_DOMAIN_DELETED: &str = "ComputeDomainDeleteSuccessful";
    /// Warning.
    pub const COMPUTE_DOMAIN_DELETE_FAILED: &str = "ComputeDomainDeleteFailed";
}

/// On an object that cannot be decoded. Ours.
pub mod undecodable {
    /// Warning: it is being deleted, and our finalizer does not hold it any longer.
    pub const RELEASED: &str = "UndecodableObjectReleased";
}

/// On a PodCliqueSet, about its restart policy. Ours.
pub mod restart_policy {
    /// Normal.
    pub const RESTARTED: &str = "RestartPolicyRestarted";
    /// Warning.
    pub const RESTART_FAILED: &str = "RestartPolicyRestartFailed";
    /// Warning.
    pub const EXHAUSTED: &str = "RestartBudgetExhausted";
}

/// On a ClusterTopologyBinding or a Kueue Topology.
pub mod topology {
    /// Normal.
    pub const IN_SYNC: &str = "TopologyInSync";
    /// Warning.
    pub const DRIFT: &str = "TopologyDriftDetected";
    /// Warning: it was deleted, and is held.
    pub const IN_USE: &str = "TopologyInUse";
}

/// On a SchedulerBackend or a PodGang.
pub mod backend {
    /// Normal.
    pub const INITIALIZED: &str = "BackendInitialized";
    /// Warning.
    pub const INITIALIZATION_FAILED: &str = "BackendInitializationFailed";
    /// Warning.
    pub const OPERATION_FAILED: &str = "BackendOperationFailed";
    /// Normal.
    pub const SWITCHED: &str = "BackendSwitched";
}
