//! Values of the label `app.kubernetes.io/component`.

/// Headless Service of a set replica.
pub const HEADLESS_SERVICE: &str = "pcs-headless-service";
/// Role that upstream Grove made for start order.
pub const POD_ROLE: &str = "pod-role";
/// RoleBinding that upstream Grove made for start order.
pub const POD_ROLE_BINDING: &str = "pod-role-binding";
/// ServiceAccount that upstream Grove made for start order.
pub const POD_SERVICE_ACCOUNT: &str = "pod-service-account";
/// Token Secret that upstream Grove made for start order.
pub const POD_TOKEN_SECRET: &str = "pod-sa-token-secret";
/// PodCliqueScalingGroup.
pub const SCALING_GROUP: &str = "pcs-podcliquescalinggroup";
/// HorizontalPodAutoscaler.
pub const AUTOSCALER: &str = "pcs-hpa";
/// PodGang.
pub const POD_GANG: &str = "podgang";
/// PodClique owned by the set.
pub const SET_POD_CLIQUE: &str = "pcs-podclique";
/// PodClique owned by a scaling group.
pub const GROUP_POD_CLIQUE: &str = "pcsg-podclique";
/// ControllerRevision that keeps a template.
pub const REVISION: &str = "pcs-revision";
/// ResourceClaim of resource sharing.
pub const RESOURCE_CLAIM: &str = "resource-claim";
/// ComputeDomain of multi-node NVLink.
pub const COMPUTE_DOMAIN: &str = "pcs-computedomain";
