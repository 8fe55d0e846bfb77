//! Objects of a set as a version of Grove stores them, by the rules of its API and not by our planners.
//!
//! The set `inf` has a frontend `fe` of two pods, and a scaling group `pd` of prefill and decode with `minAvailable` 1, whose
//! template asks for two replicas, and which was scaled out to three.

use serde_json::{Value, json};

use super::{gangs, maps, pods, version::Version};

pub(crate) const NAMESPACE: &str = "ml";
/// When everything was as it is.
pub(crate) const TIME: &str = "2026-09-01T10:00:00Z";
/// Replicas of the scaling group, as somebody scaled it.
pub(crate) const GROUP_REPLICAS: u32 = 3;
pub(crate) const GROUP: &str = "inf-0-pd";

/// Hash of the set's template. Those of upstream consist of the characters `456789bcdf`, and nobody else can compute them.
const GENERATION_HASH: &str = "7d5c94bf7f";

/// A clique of the set.
#[derive(Clone, Copy)]
pub(crate) struct Role {
    pub(crate) name: &'static str,
    pub(crate) pods: u32,
    pub(crate) minimum: u32,
    pub(crate) hash: &'static str,
}

pub(crate) const FE: Role = Role { name: "fe", pods: 2, minimum: 1, hash: "4796bd58cf64" };
pub(crate) const PRE: Role = Role { name: "pre", pods: 1, minimum: 1, hash: "58cf64f75d8b" };
pub(crate) const DEC: Role = Role { name: "dec", pods: 2, minimum: 2, hash: "66c9f7d8db44" };
/// Members of the scaling group.
pub(crate) const MEMBERS: [Role; 2] = [PRE, DEC];

/// A PodClique.
#[derive(Clone)]
pub(crate) struct Clique {
    pub(crate) role: Role,
    pub(crate) name: String,
    /// Replica of the scaling group.
    pub(crate) group_replica: Option<u32>,
}

/// All PodCliques.
pub(crate) fn cliques() -> Vec<Clique> {
    let mut all = vec![Clique { role: FE, name: "inf-0-fe".to_owned(), group_replica: None }];
    for replica in 0..GROUP_REPLICAS {
        all.extend(MEMBERS.map(|role| Clique {
            role,
            name: format!("{GROUP}-{replica}-{}", role.name),
            group_replica: Some(replica),
        }));
    }
    all
}

/// Everything of the set. Owners come before what they own; the UID of an owner is its kind and name.
pub(crate) fn all(version: Version) -> Vec<Value> {
    let mut all = vec![set(version), group(version)];
    all.extend(cliques().iter().map(|it| clique(version, it)));
    all.extend(gangs::all(version));
    all.push(service());
    all.push(autoscaler("PodClique", "inf-0-fe", 1, 4));
    all.push(autoscaler("PodCliqueScalingGroup", GROUP, 2, 6));
    all.extend(cliques().iter().flat_map(|it| pods::of(version, it)));
    all.extend(maps::all(version));
    all
}

/// Metadata of an object that `owner` controls. Labels that are `null` are left out.
pub(crate) fn metadata(name: &str, owner: (&str, &str), component: &str, more: Value) -> Value {
    let mut labels = json!({
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "inf",
        "app.kubernetes.io/component": component,
    });
    for (key, value) in more.as_object().unwrap() {
        if !value.is_null() {
            labels[key] = value.clone();
        }
    }
    let (kind, owner) = owner;
    let api = if kind == "PodGang" { "scheduler.grove.io/v1alpha1" } else { "grove.io/v1alpha1" };
    json!({
        "name": name,
        "namespace": NAMESPACE,
        "labels": labels,
        "ownerReferences": [{
            "apiVersion": api, "kind": kind, "name": owner, "uid": format!("{kind}/{owner}"),
            "controller": true, "blockOwnerDeletion": true,
        }],
    })
}

pub(crate) fn condition(type_: &str, status: &str, reason: &str) -> Value {
    json!({ "type": type_, "status": status, "reason": reason, "message": "", "lastTransitionTime": TIME })
}

/// The hash of the set's template, as the version computes it.
pub(crate) fn generation_hash(version: Version) -> String {
    if version.is_ours() { "v1-c4d8f7b65d".to_owned() } else { GENERATION_HASH.to_owned() }
}

pub(crate) fn template_hash(version: Version, role: Role) -> String {
    if version.is_ours() { format!("v1-{}", role.hash) } else { role.hash.to_owned() }
}

/// The pod of a template, with the defaults of the webhook.
pub(crate) fn pod_spec(role: Role) -> Value {
    json!({
        "containers": [{ "name": "main", "image": format!("registry.example.com/{}:1", role.name) }],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
    })
}

fn set(version: Version) -> Value {
    let clique = |role: Role| {
        json!({
            "name": role.name,
            "spec": {
                "roleName": role.name, "replicas": role.pods, "minAvailable": role.minimum, "podSpec": pod_spec(role),
            },
        })
    };
    let mut cliques = [FE, PRE, DEC].map(clique);
    cliques[0]["spec"]["autoScalingConfig"] = json!({ "minReplicas": 1, "maxReplicas": 4 });
    let group = json!({
        "name": "pd", "cliqueNames": ["pre", "dec"], "replicas": 2, "minAvailable": 1,
        "scaleConfig": { "minReplicas": 2, "maxReplicas": 6 },
    });
    let mut set = json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": "inf", "namespace": NAMESPACE, "finalizers": ["grove.io/podcliqueset.grove.io"] },
        "spec": {
            "replicas": 1,
            "template": {
                "cliqueStartupType": "CliqueStartupTypeAnyOrder",
                "headlessServiceConfig": { "publishNotReadyAddresses": true },
                "terminationDelay": "4h0m0s",
                "cliques": cliques,
                "podCliqueScalingGroups": [group],
            },
        },
        "status": {
            "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1,
            "hpaPodSelector": "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=inf",
            "currentGenerationHash": generation_hash(version),
        },
    });
    if version == Version::Alpha13 {
        set["spec"]["updateStrategy"] = json!({ "type": "RollingRecreate" });
        set["status"]["conditions"] = json!([condition("UpdateInProgress", "False", "NoActiveUpdate")]);
    }
    set
}

fn group(version: Version) -> Value {
    let labels = json!({ "app.kubernetes.io/name": GROUP, "grove.io/podcliqueset-replica-index": "0" });
    let mut metadata = metadata(GROUP, ("PodCliqueSet", "inf"), "pcs-podcliquescalinggroup", labels);
    metadata["finalizers"] = json!(["grove.io/podcliquescalinggroup.grove.io"]);
    let selector = format!(
        "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=inf,grove.io/podcliquescalinggroup={GROUP}"
    );
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueScalingGroup",
        "metadata": metadata,
        "spec": { "replicas": GROUP_REPLICAS, "minAvailable": 1, "cliqueNames": ["pre", "dec"] },
        "status": {
            "observedGeneration": 1, "replicas": GROUP_REPLICAS, "scheduledReplicas": GROUP_REPLICAS,
            "availableReplicas": GROUP_REPLICAS, "updatedReplicas": GROUP_REPLICAS, "selector": selector,
            "currentPodCliqueSetGenerationHash": generation_hash(version),
            "conditions": [
                condition("MinAvailableBreached", "False", "SufficientAvailablePodCliqueScalingGroupReplicas"),
            ],
        },
    })
}

fn clique(version: Version, clique: &Clique) -> Value {
    let (role, gang) = (clique.role, gangs::of(version, clique.group_replica));
    let is_member = clique.group_replica.is_some();
    let (owner, component) = if is_member {
        (("PodCliqueScalingGroup", GROUP), "pcsg-podclique")
    } else {
        (("PodCliqueSet", "inf"), "pcs-podclique")
    };
    let mut labels = pods::place_labels(version, clique);
    if !is_member && !version.labels_standalone() {
        labels["grove.io/podgang"] = Value::Null;
    }
    labels["grove.io/base-podgang"] = json!(gang.base);
    let mut metadata = metadata(&clique.name, owner, component, labels);
    metadata["finalizers"] = json!(["grove.io/podclique.grove.io"]);
    if version.counts_group_pods() && is_member {
        let offset = if role.name == "dec" { "1" } else { "0" };
        metadata["annotations"] = json!({ "grove.io/podcliquescalinggroup-pod-index-offset": offset });
    }
    let mut pod_spec = pod_spec(role);
    if is_member {
        pod_spec["containers"][0]["env"] = json!(pods::group_environment(version));
    }
    let mut spec = json!({
        "roleName": role.name, "replicas": role.pods, "minAvailable": role.minimum, "podSpec": pod_spec,
    });
    let mut status = json!({
        "observedGeneration": 1, "replicas": role.pods, "readyReplicas": role.pods, "updatedReplicas": role.pods,
        "scheduleGatedReplicas": 0, "scheduledReplicas": role.pods,
        "currentPodCliqueSetGenerationHash": generation_hash(version),
        "currentPodTemplateHash": template_hash(version, role),
        "conditions": [
            condition("PodCliqueScheduled", "True", "SufficientScheduledPods"),
            condition("MinAvailableBreached", "False", "SufficientReadyPods"),
        ],
    });
    if !is_member {
        spec["autoScalingConfig"] = json!({ "minReplicas": 1, "maxReplicas": 4 });
        status["hpaPodSelector"] = json!(format!(
            "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=inf,grove.io/podclique={}",
            clique.name
        ));
    }
    json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": spec, "status": status,
    })
}

fn service() -> Value {
    let labels = json!({ "app.kubernetes.io/name": "inf-0", "grove.io/podcliqueset-replica-index": "0" });
    let selector = json!({
        "app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "inf",
        "grove.io/podcliqueset-replica-index": "0",
    });
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata("inf-0", ("PodCliqueSet", "inf"), "pcs-headless-service", labels),
        "spec": { "clusterIP": "None", "selector": selector, "publishNotReadyAddresses": true },
    })
}

/// It has the name of what it scales.
fn autoscaler(kind: &str, target: &str, least: u32, most: u32) -> Value {
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(target, ("PodCliqueSet", "inf"), "pcs-hpa", json!({ "app.kubernetes.io/name": target })),
        "spec": {
            "minReplicas": least, "maxReplicas": most,
            "scaleTargetRef": { "apiVersion": "grove.io/v1alpha1", "kind": kind, "name": target },
        },
    })
}
