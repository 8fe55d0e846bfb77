//! Every fixed string of the wire, one list each. They are upstream Grove's, unless a comment says otherwise.

pub mod annotations;
pub mod components;
pub mod conditions;
pub mod environment;
pub mod events;
pub mod labels;
pub mod phases;
pub mod restarts;
pub mod webhooks;

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

/// Kubernetes' own taints of nodes that are in trouble.
pub mod taints {
    /// The kubelet says that it is not ready.
    pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
    /// The kubelet is silent.
    pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
    /// Somebody said that nothing runs there any more.
    pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
    /// Effect: pods that do not tolerate it have to go.
    pub const NO_EXECUTE: &str = "NoExecute";
    /// How long every pod tolerates the first two, where Kubernetes adds that to it.
    pub const DEFAULT_SECONDS: i64 = 300;
}

/// What pods of a clique that starts after others have on top of their template.
pub mod start_order {
    /// The init container that waits, the last of all.
    pub const INIT_CONTAINER: &str = "grove-initc";
    /// Environment variable of the operator: its image. Without a tag or digest it gets the operator's version as its tag.
    pub const IMAGE_VARIABLE: &str = "GROVE_INIT_CONTAINER_IMAGE";
    /// The volume with the file that it reads.
    pub const VOLUME: &str = "pod-info-vol";
    /// Where that is mounted.
    pub const MOUNT_PATH: &str = "/var/grove/pod-info";
    /// The file, ours: the value of the annotation [`PARENTS_READY`](super::annotations::PARENTS_READY).
    pub const FILE: &str = "parents-ready";
}

/// Keys by which a workload names its queue, of all schedulers that Grove itself knows.
pub mod queues {
    use super::{annotations, labels};

    /// Labels of a set or clique.
    pub const LABELS: &[&str] = &[labels::KAI_QUEUE];
    /// Annotations of a set or clique.
    pub const ANNOTATIONS: &[&str] =
        &[labels::KAI_QUEUE, annotations::VOLCANO_QUEUE, annotations::VOLCANO_QUEUE_NAME];
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
