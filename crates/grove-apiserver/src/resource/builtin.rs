//! The resources that come with Kubernetes. Whatever is not said here is as [`Resource::built_in`] makes it.

use super::Resource;

const EVENT_FIELDS: &[&str] = &["reason", "reportingComponent", "source", "type"];

pub(super) fn rows() -> Vec<Resource> {
    vec![
        cluster(core("Namespace", "namespaces", &["ns"], &["status.phase"])).with_status(),
        Resource { generation: true, returns_deleted: true, ..pods() }.with_status(),
        Resource {
            create_on_update: true,
            returns_deleted: true,
            ..core("Service", "services", &["svc"], &[])
        }
        .in_all()
        .with_status(),
        Resource { create_on_update: true, ..core("Event", "events", &["ev"], &core_event_fields()) },
        cluster(core("Node", "nodes", &["no"], &["spec.unschedulable"])).with_status(),
        core("ConfigMap", "configmaps", &["cm"], &[]),
        core("Secret", "secrets", &[], &["type"]),
        Resource { returns_deleted: true, ..core("ServiceAccount", "serviceaccounts", &["sa"], &[]) },
        hpa().in_all().with_status(),
        Resource {
            create_on_update: true,
            fields: EVENT_FIELDS.iter().map(|it| (*it).to_owned()).collect(),
            ..Resource::built_in("events.k8s.io", "v1", "Event", "events")
        },
        Resource {
            create_on_update: true,
            unconditional_update: false,
            ..Resource::built_in("coordination.k8s.io", "v1", "Lease", "leases")
        },
        rbac("Role", "roles"),
        rbac("RoleBinding", "rolebindings"),
        cluster(rbac("ClusterRole", "clusterroles")),
        cluster(rbac("ClusterRoleBinding", "clusterrolebindings")),
    ]
}

fn core(kind: &str, plural: &str, short_names: &[&str], fields: &[&str]) -> Resource {
    Resource {
        short_names: short_names.iter().map(|it| (*it).to_owned()).collect(),
        fields: fields.iter().map(|it| (*it).to_owned()).collect(),
        ..Resource::built_in("", "v1", kind, plural)
    }
}

fn pods() -> Resource {
    let fields = [
        "spec.hostNetwork",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
    ];
    core("Pod", "pods", &["po"], &fields).in_all()
}

fn core_event_fields() -> Vec<&'static str> {
    [
        "involvedObject.apiVersion",
        "involvedObject.fieldPath",
        "involvedObject.kind",
        "involvedObject.name",
        "involvedObject.namespace",
        "involvedObject.resourceVersion",
        "involvedObject.uid",
    ]
    .into_iter()
    .chain(EVENT_FIELDS.iter().copied())
    .collect()
}

fn hpa() -> Resource {
    let kind = "HorizontalPodAutoscaler";
    Resource {
        short_names: vec!["hpa".to_owned()],
        ..Resource::built_in("autoscaling", "v2", kind, "horizontalpodautoscalers")
    }
}

fn rbac(kind: &str, plural: &str) -> Resource {
    Resource { create_on_update: true, ..Resource::built_in("rbac.authorization.k8s.io", "v1", kind, plural) }
}

fn cluster(resource: Resource) -> Resource {
    Resource { namespaced: false, ..resource }
}

impl Resource {
    fn with_status(self) -> Self {
        Self { status: true, ..self }
    }

    fn in_all(self) -> Self {
        Self { categories: vec!["all".to_owned()], ..self }
    }
}
