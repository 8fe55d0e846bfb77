//! The objects as the facts have them. What differs between objects of a kind is in the rows of `examples.rs`.

use serde_json::{Value, json};

/// A worked example: set `inf` in namespace `ml`, one replica.
#[derive(Clone, Copy)]
pub(crate) struct Example {
    pub(crate) text: &'static str,
    pub(crate) group: &'static str,
    pub(crate) members: &'static [&'static str],
    pub(crate) copies: i32,
    pub(crate) minimum: i32,
    pub(crate) pods_of_a_copy: &'static str,
    pub(crate) cliques: &'static [Clique],
    pub(crate) gangs: &'static [Gang],
}

pub(crate) struct Clique {
    pub(crate) name: &'static str,
    pub(crate) role: &'static str,
    pub(crate) pods: u32,
    pub(crate) minimum: u32,
    pub(crate) gang: &'static str,
    /// Where its gang is a scaled one.
    pub(crate) base: Option<&'static str>,
    /// Which copy of the group it belongs to.
    pub(crate) copy: Option<u32>,
}

pub(crate) struct Gang {
    pub(crate) name: &'static str,
    pub(crate) cliques: &'static [&'static str],
}

fn owned_by(kind: &str, name: &str) -> Value {
    json!([{
        "apiVersion": "grove.io/v1alpha1", "kind": kind, "name": name, "uid": format!("uid-{name}"),
        "controller": true, "blockOwnerDeletion": true,
    }])
}

pub(crate) fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "inf-0",
            "namespace": "ml",
            "labels": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "inf",
                "app.kubernetes.io/name": "inf-0",
                "app.kubernetes.io/component": "pcs-headless-service",
                "grove.io/podcliqueset-replica-index": "0",
            },
            "ownerReferences": owned_by("PodCliqueSet", "inf"),
        },
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": true,
            "selector": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "inf",
                "grove.io/podcliqueset-replica-index": "0",
            },
        },
    })
}

pub(crate) fn group(example: &Example) -> Value {
    let name = format!("inf-0-{}", example.group);
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueScalingGroup",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "labels": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "inf",
                "app.kubernetes.io/name": name,
                "app.kubernetes.io/component": "pcs-podcliquescalinggroup",
                "grove.io/podcliqueset-replica-index": "0",
            },
            "finalizers": ["grove.io/podcliquescalinggroup.grove.io"],
            "ownerReferences": owned_by("PodCliqueSet", "inf"),
        },
        "spec": { "replicas": example.copies, "minAvailable": example.minimum, "cliqueNames": example.members },
    })
}

pub(crate) fn autoscaler(kind: &str, name: &str, min: i32, max: i32) -> Value {
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "labels": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "inf",
                "app.kubernetes.io/name": name,
                "app.kubernetes.io/component": "pcs-hpa",
            },
            "ownerReferences": owned_by("PodCliqueSet", "inf"),
        },
        "spec": {
            "minReplicas": min,
            "maxReplicas": max,
            "scaleTargetRef": { "apiVersion": "grove.io/v1alpha1", "kind": kind, "name": name },
        },
    })
}

fn from_label(name: &str, label: &str) -> Value {
    json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": format!("metadata.labels['{label}']") } } })
}

/// What members of a group get already in the PodClique.
fn group_environment(example: &Example) -> Vec<Value> {
    vec![
        from_label("GROVE_PCSG_NAME", "grove.io/podcliquescalinggroup"),
        json!({ "name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": example.pods_of_a_copy }),
        from_label("GROVE_PCSG_INDEX", "grove.io/podcliquescalinggroup-replica-index"),
    ]
}

fn clique_labels(example: &Example, clique: &Clique, hash: &str) -> Value {
    let mut labels = json!({
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "inf",
        "app.kubernetes.io/name": clique.name,
        "app.kubernetes.io/component": if clique.copy.is_some() { "pcsg-podclique" } else { "pcs-podclique" },
        "grove.io/podgang": clique.gang,
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/pod-template-hash": hash,
    });
    if let Some(copy) = clique.copy {
        labels["grove.io/podcliquescalinggroup"] = json!(format!("inf-0-{}", example.group));
        labels["grove.io/podcliquescalinggroup-replica-index"] = json!(copy.to_string());
    }
    if let Some(base) = clique.base {
        labels["grove.io/base-podgang"] = json!(base);
    }
    labels
}

pub(crate) fn clique(example: &Example, clique: &Clique, hash: &str) -> Value {
    let mut container = json!({ "name": "main", "image": "model:1" });
    let mut owner = owned_by("PodCliqueSet", "inf");
    if clique.copy.is_some() {
        container["env"] = json!(group_environment(example));
        owner = owned_by("PodCliqueScalingGroup", &format!("inf-0-{}", example.group));
    }
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "metadata": {
            "name": clique.name,
            "namespace": "ml",
            "labels": clique_labels(example, clique, hash),
            "finalizers": ["grove.io/podclique.grove.io"],
            "ownerReferences": owner,
        },
        "spec": {
            "roleName": clique.role,
            "replicas": clique.pods,
            "minAvailable": clique.minimum,
            "podSpec": {
                "containers": [container],
                "restartPolicy": "Always",
                "terminationGracePeriodSeconds": 30,
            },
        },
    })
}

pub(crate) fn pod(example: &Example, clique: &Clique, index: u32, hash: &str) -> Value {
    let mut labels = clique_labels(example, clique, hash);
    labels["grove.io/podclique"] = json!(clique.name);
    labels["grove.io/podclique-pod-index"] = json!(index.to_string());
    let mut environment = vec![
        json!({ "name": "GROVE_PCS_NAME", "value": "inf" }),
        json!({ "name": "GROVE_PCS_INDEX", "value": "0" }),
        json!({ "name": "GROVE_PCLQ_NAME", "value": clique.name }),
        json!({ "name": "GROVE_HEADLESS_SERVICE", "value": "inf-0.ml.svc.cluster.local" }),
        from_label("GROVE_PCLQ_POD_INDEX", "grove.io/podclique-pod-index"),
    ];
    if clique.copy.is_some() {
        environment.extend(group_environment(example));
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": format!("{}-", clique.name),
            "namespace": "ml",
            "labels": labels,
            "ownerReferences": owned_by("PodClique", clique.name),
        },
        "spec": {
            "containers": [{ "name": "main", "image": "model:1", "env": environment }],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "schedulingGates": [{ "name": "grove.io/podgang-pending-creation" }],
            "hostname": format!("{}-{index}", clique.name),
            "subdomain": "inf-0",
            "schedulerName": "default-scheduler",
        },
    })
}

/// `listed`: after all pods exist. In the tests a pod is called by its clique and its index.
pub(crate) fn gang(example: &Example, gang: &Gang, listed: bool) -> Value {
    let group = |name: &&str| {
        let clique = example.cliques.iter().find(|it| it.name == *name).unwrap();
        let pod = |index: u32| json!({ "namespace": "ml", "name": format!("{name}-{index}") });
        let pods: Vec<Value> = (0..clique.pods).filter(|_| listed).map(pod).collect();
        json!({ "name": name, "podReferences": pods, "minReplicas": clique.minimum })
    };
    json!({
        "apiVersion": "scheduler.grove.io/v1alpha1",
        "kind": "PodGang",
        "metadata": {
            "name": gang.name,
            "namespace": "ml",
            "labels": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "inf",
                "app.kubernetes.io/component": "podgang",
                "grove.io/scheduler-name": "default-scheduler",
            },
            "ownerReferences": owned_by("PodCliqueSet", "inf"),
        },
        "spec": { "podgroups": gang.cliques.iter().map(group).collect::<Vec<_>>() },
    })
}
