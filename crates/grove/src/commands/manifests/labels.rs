//! Names and labels: upstream's, so that an installation of its chart is replaced in place.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// Deployment and container, and by default Service and ServiceAccount.
pub(super) const OPERATOR: &str = "grove-operator";
/// ClusterRole and its binding.
const CLUSTER_ROLE: &str = "grove:system:grove-operator";
/// Role for the leader's lease, and its binding.
const LEASE_ROLE: &str = "grove:system:grove-operator-lease";
/// Role for the webhook certificate, and its binding. Upstream has no such role: it may read all Secrets.
pub(super) const CERTIFICATE_ROLE: &str = "grove:system:grove-operator-certificate";
/// ClusterRoles that Kubernetes adds to its own: what users may read, and what they may write besides.
pub(super) const VIEW_ROLE: &str = "grove:aggregate-to-view";
pub(super) const EDIT_ROLE: &str = "grove:aggregate-to-edit";
/// ServiceMonitor.
const SERVICE_MONITOR: &str = "grove-operator-monitor";
/// PriorityClass.
const PRIORITY_CLASS: &str = "grove-operator-priority-critical";

/// Names that upstream's chart lets users choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) service_account: String,
    pub(super) service: String,
    pub(super) cluster_role: String,
    pub(super) cluster_role_binding: String,
    pub(super) lease_role: String,
    pub(super) lease_role_binding: String,
    pub(super) priority_class: String,
    pub(super) service_monitor: String,
}

impl Default for Names {
    fn default() -> Self {
        let owned = str::to_owned;
        Self {
            service_account: owned(OPERATOR),
            service: owned(OPERATOR),
            cluster_role: owned(CLUSTER_ROLE),
            cluster_role_binding: owned(CLUSTER_ROLE),
            lease_role: owned(LEASE_ROLE),
            lease_role_binding: owned(LEASE_ROLE),
            priority_class: owned(PRIORITY_CLASS),
            service_monitor: owned(SERVICE_MONITOR),
        }
    }
}

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

/// Labels of the Service, by which its metrics are found.
pub(super) fn of_service() -> BTreeMap<String, String> {
    labels("operator-service", OPERATOR)
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
