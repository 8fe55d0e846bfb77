//! Pods as a version of Grove stores them: bound, running and ready.

use serde_json::{Value, json};

use super::{
    gangs,
    objects::{Clique, GROUP, TIME, metadata, pod_spec, template_hash},
    version::Version,
};

/// Pods of a PodClique.
pub(crate) fn of(version: Version, clique: &Clique) -> Vec<Value> {
    (0..clique.role.pods).map(|index| pod(version, clique, index)).collect()
}

/// Labels that a PodClique and its pods have in common: where they belong, and of which template they are.
pub(crate) fn place_labels(version: Version, clique: &Clique) -> Value {
    let member = clique.group_replica.map(|_| GROUP);
    let group_replica = clique.group_replica.map(|it| it.to_string());
    json!({
        "app.kubernetes.io/name": clique.name,
        "grove.io/podgang": gangs::of(version, clique.group_replica).name,
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/pod-template-hash": template_hash(version, clique.role),
        "grove.io/podcliquescalinggroup": member,
        "grove.io/podcliquescalinggroup-replica-index": group_replica,
    })
}

/// Variables of the members of a scaling group.
pub(crate) fn group_environment(version: Version) -> Vec<Value> {
    let mut all = vec![
        from_label("GROVE_PCSG_NAME", "grove.io/podcliquescalinggroup"),
        json!({ "name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": "3" }),
        from_label("GROVE_PCSG_INDEX", "grove.io/podcliquescalinggroup-replica-index"),
    ];
    if version.counts_group_pods() {
        all.push(from_label("GROVE_PCSG_POD_INDEX", "grove.io/podcliquescalinggroup-pod-index"));
    }
    all
}

fn from_label(name: &str, label: &str) -> Value {
    let path = format!("metadata.labels['{label}']");
    json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": path } } })
}

fn pod(version: Version, clique: &Clique, index: u32) -> Value {
    let is_member = clique.group_replica.is_some();
    // Random in a cluster; here every pod has its own.
    let name = format!("{}-x7k2{index}", clique.name);
    let mut labels = place_labels(version, clique);
    labels["grove.io/podclique"] = json!(clique.name);
    labels["grove.io/podclique-pod-index"] = json!(index.to_string());
    labels["grove.io/base-podgang"] = json!(gangs::of(version, clique.group_replica).base);
    if version.counts_group_pods() && is_member {
        let offset = u32::from(clique.role.name == "dec");
        labels["grove.io/podcliquescalinggroup-pod-index"] = json!((offset + index).to_string());
    }
    let component = if is_member { "pcsg-podclique" } else { "pcs-podclique" };
    let mut environment = vec![
        json!({ "name": "GROVE_PCS_NAME", "value": "inf" }),
        json!({ "name": "GROVE_PCS_INDEX", "value": "0" }),
        json!({ "name": "GROVE_PCLQ_NAME", "value": clique.name }),
        json!({ "name": "GROVE_HEADLESS_SERVICE", "value": "inf-0.ml.svc.cluster.local" }),
        from_label("GROVE_PCLQ_POD_INDEX", "grove.io/podclique-pod-index"),
    ];
    if is_member {
        environment.extend(group_environment(version));
    }
    let mut spec = pod_spec(clique.role);
    spec["containers"][0]["env"] = json!(environment);
    spec["hostname"] = json!(format!("{}-{index}", clique.name));
    spec["subdomain"] = json!("inf-0");
    spec["schedulerName"] = json!("default-scheduler");
    spec["nodeName"] = json!("node");
    let condition = |type_: &str| json!({ "type": type_, "status": "True", "lastTransitionTime": TIME });
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(&name, ("PodClique", &clique.name), component, labels),
        "spec": spec,
        "status": { "phase": "Running", "conditions": [condition("Ready"), condition("PodScheduled")] },
    })
}
