//! The resources that come with Kubernetes. Whatever is not said here is as [`Resource::built_in`] makes it.

use super::Resource;

pub(super) const NO_FIELDS: &[&str] = &[];

pub(super) fn rows() -> Vec<Resource> {
    vec![
        cluster(core("Namespace", "namespaces", &["ns"], &["status.phase"])).with_status(),
        Resource { generation: true, returns_deleted: true, ..pods() }.with_status(),
        Resource {
            create_on_update: true,
            returns_deleted: true,
            ..core("Service", "services", &["svc"], NO_FIELDS)
        }
        .in_all()
        .with_status(),
        Resource {
            create_on_update: true,
            ..core("Event", "events", &["ev"], &event_fields("involvedObject", "reportingComponent"))
        },
        cluster(core("Node", "nodes", &["no"], &["spec.unschedulable"])).with_status(),
        Resource {
            create_on_update: true,
            returns_deleted: true,
            ..core("ResourceQuota", "resourcequotas", &["quota"], NO_FIELDS)
        }
        .with_status(),
        core("ConfigMap", "configmaps", &["cm"], NO_FIELDS),
        core("Secret", "secrets", &[], &["type"]),
        Resource { returns_deleted: true, ..core("ServiceAccount", "serviceaccounts", &["sa"], NO_FIELDS) },
        Resource::built_in("apps", "v1", "ControllerRevision", "controllerrevisions"),
        hpa().in_all().with_status(),
        Resource {
            create_on_update: true,
            fields: event_fields("regarding", "reportingController"),
            short_names: vec!["ev".to_owned()],
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

pub(super) fn core(kind: &str, plural: &str, short_names: &[&str], fields: &[impl AsRef<str>]) -> Resource {
    Resource {
        short_names: short_names.iter().map(|it| (*it).to_owned()).collect(),
        fields: fields.iter().map(|it| it.as_ref().to_owned()).collect(),
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

/// What events can be selected by: what they are about, and who says it.
fn event_fields(about: &str, reporter: &str) -> Vec<String> {
    let about = ["apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid"]
        .map(|field| format!("{about}.{field}"));
    about.into_iter().chain(["reason", "type", reporter].map(str::to_owned)).collect()
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

pub(super) fn cluster(resource: Resource) -> Resource {
    Resource { namespaced: false, ..resource }
}

impl Resource {
    pub(super) fn with_status(self) -> Self {
        Self { status: true, ..self }
    }

    pub(super) fn in_all(self) -> Self {
        Self { categories: vec!["all".to_owned()], ..self }
    }
}
