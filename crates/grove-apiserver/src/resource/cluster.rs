//! The resources of Kubernetes that are only stored: what users and controllers other than ours bring along.

use super::Resource;
use super::builtin::{NO_FIELDS, cluster, core};

pub(super) fn rows() -> Vec<Resource> {
    let storage = |kind: &str, plural: &str| built_in("storage.k8s.io", kind, plural, &[]);
    let devices = |kind: &str, plural: &str| built_in("resource.k8s.io", kind, plural, &[]);
    let admission = |kind: &str, plural: &str| {
        let resource = cluster(built_in("admissionregistration.k8s.io", kind, plural, &[])).counted();
        Resource { categories: vec!["api-extensions".to_owned()], ..resource }
    };
    let groups = |version: &str, kind: &str, plural: &str| Resource {
        unconditional_update: false,
        ..Resource::built_in("scheduling.k8s.io", version, kind, plural)
    };
    vec![
        cluster(core("PersistentVolume", "persistentvolumes", &["pv"], NO_FIELDS)).deleted().with_status(),
        core("PersistentVolumeClaim", "persistentvolumeclaims", &["pvc"], NO_FIELDS).deleted().with_status(),
        core("ReplicationController", "replicationcontrollers", &["rc"], &["status.replicas"])
            .in_all()
            .counted()
            .with_status(),
        core("LimitRange", "limitranges", &["limits"], NO_FIELDS),
        core("PodTemplate", "podtemplates", &[], NO_FIELDS).counted().deleted(),
        core("Endpoints", "endpoints", &["ep"], NO_FIELDS),
        workload("Deployment", "deployments", "deploy"),
        Resource {
            fields: vec!["status.replicas".to_owned()],
            ..workload("ReplicaSet", "replicasets", "rs")
        },
        workload("StatefulSet", "statefulsets", "sts"),
        workload("DaemonSet", "daemonsets", "ds"),
        Resource {
            fields: vec!["status.successful".to_owned()],
            ..built_in("batch", "Job", "jobs", &[]).in_all().counted().with_status()
        },
        built_in("batch", "CronJob", "cronjobs", &["cj"]).in_all().counted().with_status(),
        built_in("policy", "PodDisruptionBudget", "poddisruptionbudgets", &["pdb"]).counted().with_status(),
        built_in("discovery.k8s.io", "EndpointSlice", "endpointslices", &[]).counted(),
        built_in("networking.k8s.io", "NetworkPolicy", "networkpolicies", &["netpol"]).counted(),
        built_in("networking.k8s.io", "Ingress", "ingresses", &["ing"]).counted().with_status(),
        cluster(built_in("networking.k8s.io", "IngressClass", "ingressclasses", &[])).counted(),
        cluster(built_in("node.k8s.io", "RuntimeClass", "runtimeclasses", &[])),
        cluster(built_in("scheduling.k8s.io", "PriorityClass", "priorityclasses", &["pc"])).counted(),
        groups("v1beta1", "PodGroup", "podgroups").with_status(),
        groups("v1beta1", "Workload", "workloads"),
        groups("v1alpha3", "CompositePodGroup", "compositepodgroups").with_status(),
        cluster(storage("StorageClass", "storageclasses")).short("sc").deleted(),
        cluster(storage("CSINode", "csinodes")).deleted().with_status(),
        cluster(storage("CSIDriver", "csidrivers")).deleted(),
        storage("CSIStorageCapacity", "csistoragecapacities"),
        cluster(storage("VolumeAttachment", "volumeattachments")).deleted().with_status(),
        cluster(devices("DeviceClass", "deviceclasses")).counted(),
        cluster(devices("DeviceTaintRule", "devicetaintrules")).counted().with_status(),
        cluster(Resource {
            fields: vec!["spec.nodeName".to_owned(), "spec.driver".to_owned()],
            ..devices("ResourceSlice", "resourceslices").counted()
        }),
        devices("ResourceClaim", "resourceclaims").with_status(),
        devices("ResourceClaimTemplate", "resourceclaimtemplates"),
        admission("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        admission("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        admission("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
        admission("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"),
        admission("ValidatingAdmissionPolicy", "validatingadmissionpolicies").with_status(),
        admission("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
    ]
}

/// A namespaced resource of version `v1`.
fn built_in(group: &str, kind: &str, plural: &str, short_names: &[&str]) -> Resource {
    let mut resource = Resource::built_in(group, "v1", kind, plural);
    resource.short_names = short_names.iter().map(|it| (*it).to_owned()).collect();
    resource
}

/// A controller of pods.
fn workload(kind: &str, plural: &str, short_name: &str) -> Resource {
    built_in("apps", kind, plural, &[short_name]).in_all().counted().with_status()
}

impl Resource {
    /// Its objects count the changes of their spec.
    fn counted(self) -> Self {
        Self { generation: true, ..self }
    }

    /// The answer to a deletion is the object.
    fn deleted(self) -> Self {
        Self { returns_deleted: true, ..self }
    }

    fn short(self, name: &str) -> Self {
        Self { short_names: vec![name.to_owned()], ..self }
    }
}

#[cfg(test)]
mod tests {
    use crate::resource::Resources;

    #[test]
    fn every_built_in_kind_is_known_by_its_fields() {
        for resource in Resources::cluster().iter() {
            assert!(resource.definition.is_some() && resource.strict, "{}", resource.id());
            let has_status = resource.definition.unwrap().field("status").is_some();
            assert!(has_status || !resource.status, "{} has no status", resource.id());
        }
    }
}
