//! Which columns a built-in kind has. A kind that is not here has its name and its age.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::text::age;
use super::{AGE, NAME, Printer, claims, cluster, events, network, pods, scaling, storage, workloads};
use crate::object::Object;

const PLAIN: Printer = Printer { columns: &[NAME, AGE], cells: name_and_age };

pub(super) fn printer(resource: &str) -> Printer {
    match resource {
        "pods" => pods::PRINTER,
        "nodes" => cluster::NODE,
        "namespaces" => cluster::NAMESPACE,
        "configmaps" => cluster::CONFIG_MAP,
        "secrets" => cluster::SECRET,
        "resourcequotas" => cluster::QUOTA,
        "leases.coordination.k8s.io" => cluster::LEASE,
        "roles.rbac.authorization.k8s.io" | "clusterroles.rbac.authorization.k8s.io" => cluster::ROLE,
        "rolebindings.rbac.authorization.k8s.io" | "clusterrolebindings.rbac.authorization.k8s.io" => {
            cluster::ROLE_BINDING
        }
        "mutatingwebhookconfigurations.admissionregistration.k8s.io"
        | "validatingwebhookconfigurations.admissionregistration.k8s.io" => cluster::WEBHOOKS,
        "customresourcedefinitions.apiextensions.k8s.io" => cluster::DEFINITION,
        "events" | "events.events.k8s.io" => events::PRINTER,
        "services" => network::SERVICE,
        "endpointslices.discovery.k8s.io" => network::ENDPOINT_SLICE,
        "networkpolicies.networking.k8s.io" => network::POLICY,
        "deployments.apps" => workloads::DEPLOYMENT,
        "replicasets.apps" | "replicationcontrollers" => workloads::REPLICA_SET,
        "statefulsets.apps" => workloads::STATEFUL_SET,
        "daemonsets.apps" => workloads::DAEMON_SET,
        "jobs.batch" => workloads::JOB,
        "controllerrevisions.apps" => workloads::REVISION,
        "horizontalpodautoscalers.autoscaling" => scaling::AUTOSCALER,
        "poddisruptionbudgets.policy" => scaling::BUDGET,
        "priorityclasses.scheduling.k8s.io" => scaling::PRIORITY_CLASS,
        "podgroups.scheduling.k8s.io" => scaling::POD_GROUP,
        "compositepodgroups.scheduling.k8s.io" => scaling::COMPOSITE_POD_GROUP,
        "persistentvolumes" => storage::VOLUME,
        "persistentvolumeclaims" => storage::CLAIM,
        "storageclasses.storage.k8s.io" => storage::CLASS,
        "csinodes.storage.k8s.io" => storage::CSI_NODE,
        "csidrivers.storage.k8s.io" => storage::CSI_DRIVER,
        "csistoragecapacities.storage.k8s.io" => storage::CAPACITY,
        "resourceclaims.resource.k8s.io" => claims::CLAIM,
        "resourceslices.resource.k8s.io" => claims::SLICE,
        _ => PLAIN,
    }
}

fn name_and_age(object: &Object, now: Timestamp) -> Vec<Value> {
    vec![object.name().into(), age(object, now)]
}
