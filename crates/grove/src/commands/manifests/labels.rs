//! Names and labels: upstream's, so that an installation of its chart is replaced in place.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// Deployment, container, Service and ServiceAccount.
pub(super) const OPERATOR: &str = "grove-operator";
/// ClusterRole and its binding.
pub(super) const CLUSTER_ROLE: &str = "grove:system:grove-operator";
/// Role for the leader's lease, and its binding.
pub(super) const LEASE_ROLE: &str = "grove:system:grove-operator-lease";
/// Role for the webhook certificate, and its binding. Upstream has no such role: it may read all Secrets.
pub(super) const CERTIFICATE_ROLE: &str = "grove:system:grove-operator-certificate";
/// ClusterRoles that Kubernetes adds to its own: what users may read, and what they may write besides.
pub(super) const VIEW_ROLE: &str = "grove:aggregate-to-view";
pub(super) const EDIT_ROLE: &str = "grove:aggregate-to-edit";
/// PriorityClass.
pub(super) const PRIORITY_CLASS: &str = "grove-operator-priority-critical";

/// Labels of an object that is part of the installation. None says "managed by the operator", which marks what it makes
/// itself.
pub(super) fn labels(component: &str, name: &str) -> BTreeMap<String, String> {
    [("component", component), ("name", name), ("part-of", "grove")]
        .map(|(key, value)| (format!("app.kubernetes.io/{key}"), value.to_owned()))
        .into()
}

/// Labels of the Deployment and its pods; they are its selector too, which can never be changed.
pub(super) fn of_pods() -> BTreeMap<String, String> {
    labels("operator-deployment", OPERATOR)
}

/// Metadata of an object with these labels; `namespace` where it has one.
pub(super) fn metadata(name: &str, namespace: Option<&str>, labels: BTreeMap<String, String>) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        labels: Some(labels),
        ..ObjectMeta::default()
    }
}
