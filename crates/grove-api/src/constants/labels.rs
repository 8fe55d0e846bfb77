//! Label keys.

/// Always [`MANAGED_BY_VALUE`] on an object that Grove made.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Value of [`MANAGED_BY`].
pub const MANAGED_BY_VALUE: &str = "grove-operator";
/// Name of the PodCliqueSet.
pub const PART_OF: &str = "app.kubernetes.io/part-of";
/// The object's own name; on a pod, its PodClique's name.
pub const NAME: &str = "app.kubernetes.io/name";
/// One of [`components`](super::components).
pub const COMPONENT: &str = "app.kubernetes.io/component";
/// PodClique of a pod.
pub const POD_CLIQUE: &str = "grove.io/podclique";
/// PodGang of a PodClique or pod.
pub const POD_GANG: &str = "grove.io/podgang";
/// Base PodGang of what belongs to a scaled PodGang.
pub const BASE_POD_GANG: &str = "grove.io/base-podgang";
/// When a PodGang of upstream Grove was planned: unix nanoseconds in decimal. From v0.1.0-alpha.12 on; Grove only reads it.
pub const EPOCH: &str = "grove.io/epoch";
/// What a PodGang is in its set, as upstream Grove says it from v0.1.0-alpha.12 on: [`ROLE_ANCHOR`], [`ROLE_TAIL`] or `ScaleOut`.
pub const POD_GANG_ROLE: &str = "grove.io/podgang-role";
/// A base gang.
pub const ROLE_ANCHOR: &str = "Anchor";
/// A scaled gang.
pub const ROLE_TAIL: &str = "Tail";
/// Replica index of the set.
pub const SET_REPLICA_INDEX: &str = "grove.io/podcliqueset-replica-index";
/// Scaling group of a member PodClique or pod.
pub const SCALING_GROUP: &str = "grove.io/podcliquescalinggroup";
/// Replica index inside the scaling group.
pub const SCALING_GROUP_REPLICA_INDEX: &str = "grove.io/podcliquescalinggroup-replica-index";
/// Index of a pod inside its PodClique.
pub const POD_INDEX: &str = "grove.io/podclique-pod-index";
/// Index of a pod among all pods of its scaling group replica. Newer versions of upstream Grove set it, Grove does not.
pub const SCALING_GROUP_POD_INDEX: &str = "grove.io/podcliquescalinggroup-pod-index";
/// Hash of the pod template.
pub const POD_TEMPLATE_HASH: &str = "grove.io/pod-template-hash";
/// Scheduler of a PodGang.
pub const SCHEDULER_NAME: &str = "grove.io/scheduler-name";
/// KAI's queue of a workload.
pub const KAI_QUEUE: &str = "kai.scheduler/queue";
