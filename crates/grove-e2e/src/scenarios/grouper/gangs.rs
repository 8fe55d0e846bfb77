//! With our grouper instead of KAI's, gangs of workloads are held back until there is room for all of them, and then placed
//! whole.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{side_by_side::no_refusals, workloads};
use crate::{
    cluster::Scheduler,
    grouper,
    nodes::Hall,
    scenario::{Context, PodState},
};

/// The node that is given away last.
const LAST: &str = "rack-0-node-2";
/// GPUs of a node.
const GPUS: u32 = 8;

/// A gang of three pods that ask for all GPUs of a node each.
pub(super) struct Gang {
    pub(super) object: Value,
    /// Labels of the pods that are made here; the others make theirs themselves.
    pods: Vec<Value>,
    /// Pods in all.
    count: usize,
}

/// One gang after the other: with a node less than it needs, no pod is placed; with as many as it needs, all are.
pub(super) async fn gangs(context: &mut Context) -> Result<()> {
    let scheduler = context.scheduler().pod_name();
    let gangs = all(scheduler);
    let kinds: Vec<Value> = gangs.iter().map(|it| it.object.clone()).collect();
    workloads::define_kinds(context, &kinds).await?;
    context.nodes(Hall::racks(1).nodes(3).gpus(GPUS as usize)).await?;
    grouper::start(&mut context.cluster, &[scheduler]).await?;
    for gang in gangs {
        held_back_and_placed(context, gang).await?;
    }
    no_refusals(context)?;
    workloads::undefine(context).await
}

/// The same for a Job alone, which every scheduler can hold back.
pub(super) async fn job(context: &mut Context) -> Result<()> {
    let scheduler = context.scheduler().pod_name();
    if context.scheduler() == Scheduler::Volcano {
        // Its controller makes a group of its own for every pod that names none, and may be faster.
        context.cluster.stop_program("volcano-controller-manager").await?;
    }
    context.nodes(Hall::racks(1).nodes(3).gpus(GPUS as usize)).await?;
    grouper::start(&mut context.cluster, &[scheduler]).await?;
    held_back_and_placed(context, real_job(scheduler)).await?;
    no_refusals(context)
}

async fn held_back_and_placed(context: &Context, gang: Gang) -> Result<()> {
    let name = gang.object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    context.cordon(LAST, true).await?;
    let owner = workloads::make(context, gang.object.clone()).await?;
    for (number, labels) in gang.pods.iter().enumerate() {
        let metadata = json!({ "labels": labels, "ownerReferences": [owner] });
        context.pod(&format!("{name}-{number}"), GPUS, json!({ "metadata": metadata })).await?;
    }
    let prefix = format!("{name}-");
    let is_one = |it: &&PodState| it.name.starts_with(&prefix);
    let there = |pods: &[PodState]| pods.iter().filter(is_one).count() == gang.count;
    context.expect(&format!("the {} pods of {name} exist", gang.count), there).await?;
    context.expect_none_bound(&prefix).await?;
    context.cordon(LAST, false).await?;
    let mut nodes = context.expect_all_bound(&prefix, gang.count).await?;
    nodes.sort();
    nodes.dedup();
    ensure!(nodes.len() == gang.count, "the pods of {name} are on {nodes:?}");
    // Its pods go with it.
    workloads::delete(context, gang.object).await?;
    context.expect(&format!("{name} is gone"), |pods| !pods.iter().any(|it| is_one(&it))).await?;
    Ok(())
}

/// One gang of each kind that is used most.
fn all(scheduler: &str) -> Vec<Gang> {
    let replicas = |count: u32| json!({ "replicas": count });
    let labels = |pairs: &[(&str, &str)]| -> Value {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect()
    };
    let role = |role: &str| labels(&[("training.kubeflow.org/replica-type", role)]);
    let ray = |group: &str| labels(&[("ray.io/group", group)]);
    let lws = |index: &str| {
        labels(&[
            ("leaderworkerset.sigs.k8s.io/group-index", "0"),
            ("leaderworkerset.sigs.k8s.io/worker-index", index),
        ])
    };
    let js = labels(&[("jobset.sigs.k8s.io/replicatedjob-name", "w"), ("jobset.sigs.k8s.io/job-index", "0")]);
    let gang = |api_version: &str, kind: &str, name: &str, spec: Value, pods: Vec<Value>| Gang {
        object: json!({
            "apiVersion": api_version, "kind": kind,
            "metadata": { "name": name, "labels": { "kai.scheduler/queue": "test" } }, "spec": spec,
        }),
        count: pods.len(),
        pods,
    };
    vec![
        real_job(scheduler),
        real_deployment(scheduler),
        gang(
            "kubeflow.org/v1",
            "PyTorchJob",
            "torch",
            json!({ "pytorchReplicaSpecs": { "Master": replicas(1), "Worker": replicas(2) } }),
            vec![role("master"), role("worker"), role("worker")],
        ),
        gang(
            "ray.io/v1",
            "RayCluster",
            "ray",
            json!({ "workerGroupSpecs": [{ "groupName": "w", "replicas": 2, "minReplicas": 2 }] }),
            vec![ray("headgroup"), ray("w"), ray("w")],
        ),
        gang(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            "lws",
            json!({ "leaderWorkerTemplate": { "size": 3 } }),
            vec![lws("0"), lws("1"), lws("2")],
        ),
        gang(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "js",
            json!({ "replicatedJobs": [{ "name": "w", "replicas": 1, "template": { "spec": { "parallelism": 3 } } }] }),
            vec![js.clone(), js.clone(), js],
        ),
    ]
}

/// A template whose pods ask for a whole node each.
fn template(scheduler: &str, labels: &Value) -> Value {
    json!({
        "metadata": { "labels": labels },
        "spec": {
            "schedulerName": scheduler,
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "main", "image": "none",
                "resources": {
                    "requests": { "cpu": "1", "nvidia.com/gpu": GPUS.to_string() },
                    "limits": { "nvidia.com/gpu": GPUS.to_string() },
                },
            }],
        },
    })
}

/// A Job that Kubernetes runs.
pub(super) fn real_job(scheduler: &str) -> Gang {
    let mut template =
        template(scheduler, &json!({ "kai.scheduler/queue": "test", "grove.io/pod-grouper": "enabled" }));
    template["spec"]["restartPolicy"] = "Never".into();
    let object = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": "job", "labels": { "kai.scheduler/queue": "test" },
            "annotations": { "kai.scheduler/batch-min-member": "3", "scheduling.volcano.sh/queue-name": "default" },
        },
        "spec": { "parallelism": 3, "completions": 3, "template": template },
    });
    Gang { object, pods: Vec::new(), count: 3 }
}

/// A Deployment that Kubernetes runs. Its pods are gangs of one; this one may run on the last node only.
fn real_deployment(scheduler: &str) -> Gang {
    let app = json!({ "app": "web" });
    let mut template = template(scheduler, &app);
    template["spec"]["nodeSelector"] = json!({ "kubernetes.io/hostname": LAST });
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "web", "labels": { "kai.scheduler/queue": "test" } },
        "spec": { "replicas": 1, "selector": { "matchLabels": app }, "template": template },
    });
    Gang { object, pods: Vec::new(), count: 1 }
}
