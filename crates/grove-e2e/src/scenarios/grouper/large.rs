//! Ten thousand pods of a thousand owners: what KAI's pod grouper and ours ask and write, how long they take, and how much
//! memory they need.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{ListParams, PostParams},
};
use serde_json::{Value, json};

use super::{side_by_side::take_away, workloads};
use crate::{cluster::Scheduler, grouper, scenario::Context};

const OWNERS: usize = 1_000;
const PODS: usize = 10;
/// How long a grouper may take.
const DEADLINE: Duration = Duration::from_mins(30);

pub(super) async fn large(context: &mut Context) -> Result<()> {
    let kind = json!({ "apiVersion": "kubeflow.org/v1", "kind": "TFJob" });
    workloads::define_kinds(context, &[kind]).await?;
    create(context).await?;
    let ours = measure_ours(context).await?;
    context.cluster.stop_program(grouper::GROUPER).await?;
    take_away(context).await?;
    let theirs = measure_theirs(context).await?;
    eprintln!("  ours   {ours}");
    eprintln!("  theirs {theirs}");
    ensure!(ours.groups == OWNERS, "{} writes of groups for {OWNERS} groups", ours.groups);
    ensure!(ours.pods == OWNERS * PODS, "{} writes of pods for {} pods", ours.pods, OWNERS * PODS);
    // Lists, watches and what a start costs; no read for a pod.
    ensure!(ours.reads.is_some_and(|it| (1..100).contains(&it)), "{:?} reads", ours.reads);
    workloads::undefine(context).await
}

/// What a grouper needed.
struct Cost {
    seconds: f64,
    megabytes: u64,
    reads: Option<usize>,
    groups: usize,
    pods: usize,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seconds, megabytes, reads, groups, pods } = self;
        let reads = reads.map_or("?".to_owned(), |it| it.to_string());
        write!(
            f,
            "{seconds:.1} s, {megabytes} MB, {reads} reads, {groups} writes of groups, {pods} writes of pods"
        )
    }
}

async fn create(context: &Context) -> Result<()> {
    let client = context.client();
    let pods: Api<Pod> = Api::namespaced(client, &context.namespace);
    stream::iter(0..OWNERS)
        .map(|number| {
            let pods = pods.clone();
            async move {
                let object = json!({
                    "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": { "name": format!("tf-{number}") },
                    "spec": { "tfReplicaSpecs": { "Worker": { "replicas": PODS } } },
                });
                let owner = workloads::make(context, object).await?;
                for pod in 0..PODS {
                    let pod: Value = json!({
                        "metadata": { "name": format!("tf-{number}-{pod}"), "ownerReferences": [owner] },
                        "spec": {
                            "schedulerName": Scheduler::Kai.pod_name(),
                            "containers": [{ "name": "main", "image": "none" }],
                        },
                    });
                    pods.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
                }
                Ok::<(), anyhow::Error>(())
            }
        })
        .buffer_unordered(32)
        .try_collect::<Vec<()>>()
        .await?;
    Ok(())
}

async fn measure_ours(context: &mut Context) -> Result<Cost> {
    let before = context.cluster.requests_of(grouper::USER)?.len();
    let mut tail = context.cluster.tail()?;
    let started = Instant::now();
    grouper::start(&mut context.cluster, &[Scheduler::Kai.pod_name()]).await?;
    until_grouped(context).await?;
    let seconds = started.elapsed().as_secs_f64();
    let megabytes = context.cluster.resident_megabytes(grouper::GROUPER)?;
    let all = context.cluster.requests_of(grouper::USER)?;
    let reads =
        all.iter().skip(before).filter(|it| matches!(it.verb.as_str(), "get" | "list" | "watch")).count();
    let writes = tail.more()?;
    let by_us = writes.iter().filter(|it| it.user == grouper::USER && it.code < 400);
    let count = |resource: &str| by_us.clone().filter(|it| it.resource == resource).count();
    Ok(Cost { seconds, megabytes, reads: Some(reads), groups: count("podgroups"), pods: count("pods") })
}

async fn measure_theirs(context: &mut Context) -> Result<Cost> {
    let mut tail = context.cluster.tail()?;
    let started = Instant::now();
    context.cluster.run_companion("kai-podgrouper").await?;
    until_grouped(context).await?;
    let seconds = started.elapsed().as_secs_f64();
    let megabytes = context.cluster.resident_megabytes("kai-podgrouper")?;
    let writes = tail.more()?;
    let by_them = writes.iter().filter(|it| it.user_agent.contains("podgrouper") && it.code < 400);
    let count = |resource: &str| by_them.clone().filter(|it| it.resource == resource).count();
    // It is an admin here, like others, whose reads nobody notes.
    Ok(Cost { seconds, megabytes, reads: None, groups: count("podgroups"), pods: count("pods") })
}

async fn until_grouped(context: &Context) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    let asking = async {
        loop {
            let all = pods.list_metadata(&ListParams::default()).await?.items;
            let grouped = all.iter().filter(|it| it.annotations().contains_key("pod-group-name")).count();
            if grouped == OWNERS * PODS {
                return Ok::<(), kube::Error>(());
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::time::timeout(DEADLINE, asking).await.context("not all pods have a group")??;
    Ok(())
}
