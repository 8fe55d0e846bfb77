//! Every fixed string of the wire, one list each. They are upstream Grove's, unless a comment says otherwise.

pub mod annotations;
pub mod components;
pub mod conditions;
pub mod environment;
pub mod events;
pub mod labels;
pub mod phases;

/// API group of the workload kinds.
pub const GROUP: &str = "grove.io";
/// API group of [`PodGang`](crate::wire::PodGang).
pub const SCHEDULER_GROUP: &str = "scheduler.grove.io";
/// The only served version of both groups.
pub const VERSION: &str = "v1alpha1";

/// Finalizers that Grove sets.
pub mod finalizers {
    /// On a PodCliqueSet.
    pub const POD_CLIQUE_SET: &str = "grove.io/podcliqueset.grove.io";
    /// On a PodClique.
    pub const POD_CLIQUE: &str = "grove.io/podclique.grove.io";
    /// On a PodCliqueScalingGroup.
    pub const SCALING_GROUP: &str = "grove.io/podcliquescalinggroup.grove.io";
    /// On a ComputeDomain.
    pub const COMPUTE_DOMAIN: &str = "grove.io/computedomain-finalizer";
    /// On a Kueue Topology that a set uses.
    pub const TOPOLOGY_PROTECTION: &str = "grove.ai/topology-protection";
}

/// Scheduling gates that Grove sets.
pub mod gates {
    /// Holds a pod back until its PodGang is complete.
    pub const POD_GANG_PENDING: &str = "grove.io/podgang-pending-creation";
}

/// Names of schedulers as pods carry them.
pub mod schedulers {
    /// The stock scheduler, as pods name it.
    pub const DEFAULT: &str = "default-scheduler";
    /// The stock scheduler's binary, which the configuration accepts as a synonym and pods must not use.
    pub const KUBE: &str = "kube-scheduler";
    /// KAI.
    pub const KAI: &str = "kai-scheduler";
    /// Volcano.
    pub const VOLCANO: &str = "volcano";
}
