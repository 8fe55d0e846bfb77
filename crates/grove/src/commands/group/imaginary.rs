//! Pods of workloads that have none in the input, as their controllers would make them: one of each sort.

use std::collections::BTreeSet;

use grove_api::field::{Path, Warning};
use grove_podgrouper::{Hub, Kind};
use serde_json::{Map, Value, json};

use super::{
    objects::{Key, Object, Objects, UID, text},
    owners::reference,
};
use crate::findings::Report;

/// Sorts of pods of one workload that are shown.
const MOST: usize = 64;
const RANDOM: &str = "<random>";

/// Adds pods to workloads that nobody in the input says to be owned by.
pub(super) fn add(objects: &mut Objects<'_>, hub: &Hub, report: &mut Report) {
    let mut imagined = Vec::new();
    let owners = owners(objects);
    for leaf in objects.all().filter(|it| is_workload(it, hub) && !owners.contains(&it.key())) {
        let made = made_by(&leaf.value);
        if made.is_empty()
            && let Some((source, document)) = &leaf.place
        {
            let kind = text(&leaf.value["kind"]);
            let text = format!("what pods a {kind} makes is not known: add one of them to the input");
            report.warnings(source, document, vec![Warning { path: Path::of(&["kind"]), text }]);
        }
        imagined.extend(made);
    }
    for object in objects.all_mut() {
        note_cluster(&mut object.value, &imagined);
    }
    for object in imagined {
        objects.imagine(object);
    }
}

fn is_workload(object: &Object<'_>, hub: &Hub) -> bool {
    let Kind { group, version, kind } = Kind::of(&object.value);
    let is_known =
        |it: Kind<'_>| (it.group, it.kind) == (group, kind) && (it.version == version || it.version == "*");
    !object.is_pod()
        && (hub.kinds().any(is_known) || object.value["spec"]["template"]["spec"]["containers"].is_array())
}

/// The objects that others say to be owned by.
fn owners(objects: &Objects<'_>) -> BTreeSet<Key> {
    let of_one = |owned: &Object<'_>| {
        let namespace = owned.namespace().to_owned();
        let references = owned.value["metadata"]["ownerReferences"].as_array().cloned();
        references.into_iter().flatten().map(move |it| {
            Key::new(&namespace, text(&it["apiVersion"]), text(&it["kind"]), text(&it["name"]))
        })
    };
    objects.all().flat_map(of_one).collect()
}

/// What a workload makes: its pods, and objects in between.
fn made_by(owner: &Value) -> Vec<Value> {
    let name = text(&owner["metadata"]["name"]);
    let spec = &owner["spec"];
    let one = |template: &Value, name: String| pod(owner, template, name, &[]).into_iter().collect();
    let Kind { group, kind, .. } = Kind::of(owner);
    match (group, kind) {
        ("apps", "StatefulSet") => one(&spec["template"], format!("{name}-0")),
        ("apps", "Deployment") => between(owner, "apps/v1", "ReplicaSet", &format!("{name}-<hash>"), spec),
        ("batch", "CronJob") => {
            between(owner, "batch/v1", "Job", &format!("{name}-<time>"), &spec["jobTemplate"]["spec"])
        }
        ("kubeflow.org", "TFJob") => roles(owner, "tfReplicaSpecs"),
        ("kubeflow.org", "PyTorchJob") => roles(owner, "pytorchReplicaSpecs"),
        ("kubeflow.org", "XGBoostJob") => roles(owner, "xgbReplicaSpecs"),
        ("kubeflow.org", "JAXJob") => roles(owner, "jaxReplicaSpecs"),
        ("kubeflow.org", "MPIJob") => roles(owner, "mpiReplicaSpecs"),
        ("ray.io", "RayCluster") => ray_cluster(owner),
        ("ray.io", "RayJob") => ray(owner, &spec["rayClusterSpec"]),
        ("ray.io", "RayService") => ray(owner, &spec["rayClusterConfig"]),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => leader_and_worker(owner),
        ("jobset.x-k8s.io", "JobSet") => replicated_jobs(owner),
        ("serving.knative.dev", "Service") => revision(owner),
        _ => one(&spec["template"], format!("{name}-{RANDOM}")),
    }
}

/// An object that an owner makes.
fn object(owner: &Value, api_version: &str, kind: &str, name: impl Into<String>, template: &Value) -> Value {
    let metadata = &template["metadata"];
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "namespace": owner["metadata"]["namespace"],
            "name": name.into(),
            "uid": UID,
            "labels": metadata["labels"],
            "annotations": metadata["annotations"],
            "ownerReferences": reference(owner),
        },
        "spec": template["spec"],
    })
}

/// A pod of a template, with labels that the controller adds; `None` where there is no template.
fn pod(owner: &Value, template: &Value, name: impl Into<String>, labels: &[(&str, &str)]) -> Option<Value> {
    template["spec"].as_object()?;
    let mut pod = object(owner, "v1", "Pod", name, template);
    let own = pod["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    let added = labels.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value)));
    pod["metadata"]["labels"] = own.into_iter().chain(added).collect::<Map<_, _>>().into();
    Some(pod)
}

/// An object with a pod template, and a pod of it.
fn between(owner: &Value, api_version: &str, kind: &str, name: &str, spec: &Value) -> Vec<Value> {
    let template = &spec["template"];
    let metadata = match kind {
        "Job" => &owner["spec"]["jobTemplate"]["metadata"],
        _ => &template["metadata"],
    };
    let between = object(owner, api_version, kind, name, &json!({ "metadata": metadata, "spec": spec }));
    match pod(&between, template, format!("{name}-{RANDOM}"), &[]) {
        Some(pod) => vec![between, pod],
        None => Vec::new(),
    }
}

/// The first pod of each role of a job of Kubeflow.
fn roles(owner: &Value, field: &str) -> Vec<Value> {
    let name = text(&owner["metadata"]["name"]);
    let roles = owner["spec"][field].as_object();
    let pods = roles.into_iter().flatten().take(MOST).filter_map(|(role, spec)| {
        let role = role.to_ascii_lowercase();
        let labels = [
            ("training.kubeflow.org/job-name", name),
            ("training.kubeflow.org/job-role", &role),
            ("training.kubeflow.org/replica-type", &role),
            ("training.kubeflow.org/replica-index", "0"),
        ];
        pod(owner, &spec["template"], format!("{name}-{role}-0"), &labels)
    });
    pods.collect()
}

/// The cluster of a RayJob or a RayService.
fn ray(owner: &Value, spec: &Value) -> Vec<Value> {
    let name = format!("{}-{RANDOM}", text(&owner["metadata"]["name"]));
    let cluster = object(owner, text(&owner["apiVersion"]), "RayCluster", name, &json!({ "spec": spec }));
    let pods = ray_cluster(&cluster);
    if pods.is_empty() { pods } else { [vec![cluster], pods].concat() }
}

/// Notes the imagined cluster in the status of its RayJob or RayService, as the Ray operator would.
fn note_cluster(owner: &mut Value, imagined: &[Value]) {
    let is_its =
        |it: &&Value| it["kind"] == "RayCluster" && it["metadata"]["ownerReferences"] == reference(owner);
    let Some(cluster) = imagined.iter().find(is_its).map(|it| it["metadata"]["name"].clone()) else { return };
    owner["status"] = match text(&owner["kind"]) {
        "RayJob" => json!({ "rayClusterName": cluster }),
        _ => json!({ "pendingServiceStatus": { "rayClusterName": cluster } }),
    };
}

/// The head, and the first pod of each group of workers.
fn ray_cluster(owner: &Value) -> Vec<Value> {
    let name = text(&owner["metadata"]["name"]);
    let spec = &owner["spec"];
    let one = |group: &Value, part: &str| {
        let labels = [("ray.io/cluster", name), ("ray.io/group", part)];
        pod(owner, &group["template"], format!("{name}-{part}-{RANDOM}"), &labels)
    };
    let head = one(&spec["headGroupSpec"], "headgroup");
    let groups = spec["workerGroupSpecs"].as_array().into_iter().flatten().enumerate().take(MOST);
    let workers = groups.filter_map(|(index, group)| match text(&group["groupName"]) {
        "" => one(group, &format!("worker-group-{index}")),
        part => one(group, part),
    });
    head.into_iter().chain(workers).collect()
}

/// Leader and first worker of the first replica.
fn leader_and_worker(owner: &Value) -> Vec<Value> {
    let name = text(&owner["metadata"]["name"]);
    let template = &owner["spec"]["leaderWorkerTemplate"];
    let worker = &template["workerTemplate"];
    let leader = if template["leaderTemplate"].is_object() { &template["leaderTemplate"] } else { worker };
    let one = |template: &Value, index: &str, name: String| {
        let labels = [
            ("leaderworkerset.sigs.k8s.io/name", text(&owner["metadata"]["name"])),
            ("leaderworkerset.sigs.k8s.io/group-index", "0"),
            ("leaderworkerset.sigs.k8s.io/worker-index", index),
        ];
        pod(owner, template, name, &labels)
    };
    let has_workers = template["size"].as_u64().is_some_and(|it| it > 1);
    let workers = has_workers.then(|| one(worker, "1", format!("{name}-0-1"))).flatten();
    one(leader, "0", format!("{name}-0")).into_iter().chain(workers).collect()
}

/// The first Job of each replicated job, and a pod of it.
fn replicated_jobs(owner: &Value) -> Vec<Value> {
    let set = text(&owner["metadata"]["name"]);
    let jobs = owner["spec"]["replicatedJobs"].as_array().into_iter().flatten().take(MOST);
    let made = jobs.filter(|it| it["replicas"] != 0).flat_map(|replicated| {
        let name = text(&replicated["name"]);
        let job = object(owner, "batch/v1", "Job", format!("{set}-{name}-0"), &replicated["template"]);
        let labels = [
            ("jobset.sigs.k8s.io/jobset-name", set),
            ("jobset.sigs.k8s.io/replicatedjob-name", name),
            ("jobset.sigs.k8s.io/job-index", "0"),
        ];
        let template = &replicated["template"]["spec"]["template"];
        let pod = pod(&job, template, format!("{set}-{name}-0-0-{RANDOM}"), &labels);
        pod.map(|pod| vec![job, pod]).unwrap_or_default()
    });
    made.collect()
}

/// The first revision of a service of Knative, and a pod of it.
fn revision(owner: &Value) -> Vec<Value> {
    let template = &owner["spec"]["template"];
    let name = format!("{}-00001", text(&owner["metadata"]["name"]));
    let revision = object(owner, "serving.knative.dev/v1", "Revision", name.clone(), template);
    let labels = [("serving.knative.dev/revision", name.as_str())];
    match pod(&revision, template, format!("{name}-deployment-{RANDOM}"), &labels) {
        Some(pod) => vec![revision, pod],
        None => Vec::new(),
    }
}
