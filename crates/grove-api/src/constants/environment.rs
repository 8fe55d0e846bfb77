//! Environment variables that Grove puts into every container of a pod, in this order.

/// Name of the set.
pub const SET_NAME: &str = "GROVE_PCS_NAME";
/// Replica index of the set.
pub const SET_INDEX: &str = "GROVE_PCS_INDEX";
/// Name of the PodClique.
pub const CLIQUE_NAME: &str = "GROVE_PCLQ_NAME";
/// DNS name of the headless Service.
pub const HEADLESS_SERVICE: &str = "GROVE_HEADLESS_SERVICE";
/// Index of the pod in its PodClique.
pub const POD_INDEX: &str = "GROVE_PCLQ_POD_INDEX";
/// Name of the scaling group; members only.
pub const GROUP_NAME: &str = "GROVE_PCSG_NAME";
/// Pods of one group replica by template; members only.
pub const GROUP_TEMPLATE_PODS: &str = "GROVE_PCSG_TEMPLATE_NUM_PODS";
/// Replica index in the scaling group; members only.
pub const GROUP_INDEX: &str = "GROVE_PCSG_INDEX";
/// Index of the pod among all pods of its scaling group replica; members only. Newer versions of upstream Grove set it, Grove does
/// not.
pub const GROUP_POD_INDEX: &str = "GROVE_PCSG_POD_INDEX";
