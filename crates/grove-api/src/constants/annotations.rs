//! Annotation keys.

/// On a PodCliqueSet: `"true"` switches the authorizer off for its children.
pub const DISABLE_PROTECTION: &str = "grove.io/disable-managed-resource-protection";
/// On a PodCliqueSet: any change of the value forces a reconcile.
pub const RECONCILE_TRIGGER: &str = "grove.io/reconcile-trigger";
/// On a PodGang: name of its topology.
pub const TOPOLOGY_NAME: &str = "grove.io/topology-name";
/// On a set, scaling group config or clique: its multi-node NVLink group, or [`MNNVL_NONE`].
pub const MNNVL_GROUP: &str = "grove.io/mnnvl-group";
/// Value of [`MNNVL_GROUP`] that opts out.
pub const MNNVL_NONE: &str = "none";
/// On a set or clique: its Volcano queue.
pub const VOLCANO_QUEUE: &str = "scheduling.grove.io/volcano-queue";
/// On a pod of a clique that starts after others, ours: [`PARENTS_READY_VALUE`] once those are ready. Until then it is
/// not there.
pub const PARENTS_READY: &str = "grove.io/parents-ready";
/// Value of [`PARENTS_READY`].
pub const PARENTS_READY_VALUE: &str = "true";
