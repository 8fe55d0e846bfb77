//! Annotation keys.

/// On a PodCliqueSet: `"true"` switches the authorizer off for its children.
pub const DISABLE_PROTECTION: &str = "grove.io/disable-managed-resource-protection";
/// On a PodCliqueSet: any change of the value forces a reconcile.
pub const RECONCILE_TRIGGER: &str = "grove.io/reconcile-trigger";
/// On a PodCliqueSet, ours: another value resets the budget of its restart policy.
pub const RESET_RESTARTS: &str = "grove.io/reset-restarts";
/// On a PodGang: how the scheduler's backend makes it, noted when it was created.
pub const SCHEDULER_FORM: &str = "grove.io/scheduler-form";
/// Value of [`SCHEDULER_FORM`]: the gang had pods before anybody noted it, as upstream Grove's have.
pub const SCHEDULER_FORM_ADOPTED: &str = "adopted";
/// Value of [`SCHEDULER_FORM`] under kube-scheduler: each clique is a group of its own.
pub const SCHEDULER_FORM_TREE: &str = "tree";
/// Value of [`SCHEDULER_FORM`] under kube-scheduler: the whole gang is one group.
pub const SCHEDULER_FORM_FLAT: &str = "flat";
/// On what a scheduler backend makes for a PodGang: which content was applied last.
pub const APPLIED: &str = "grove.io/applied";
/// On a PodGang, ours: how far apart from other replicas of its set its pods are placed, noted when it was created.
pub const REPLICA_SPREAD: &str = "grove.io/replica-spread";
/// On a PodGang: name of its topology.
pub const TOPOLOGY_NAME: &str = "grove.io/topology-name";
/// On a set, scaling group config or clique: its multi-node NVLink group, or [`MNNVL_NONE`].
pub const MNNVL_GROUP: &str = "grove.io/mnnvl-group";
/// Value of [`MNNVL_GROUP`] that opts out.
pub const MNNVL_NONE: &str = "none";
/// On a set or clique: its Volcano queue.
pub const VOLCANO_QUEUE: &str = "scheduling.grove.io/volcano-queue";
/// Likewise, as Volcano itself names it.
pub const VOLCANO_QUEUE_NAME: &str = "scheduling.volcano.sh/queue-name";
/// On a pod: the group by which schedulers such as KAI place it. Another value may be given at any time.
pub const POD_GROUP_NAME: &str = "pod-group-name";
/// On a pod of a clique that starts after others, ours: [`PARENTS_READY_VALUE`] once those are ready. Until then it is
/// not there.
pub const PARENTS_READY: &str = "grove.io/parents-ready";
/// Value of [`PARENTS_READY`].
pub const PARENTS_READY_VALUE: &str = "true";
