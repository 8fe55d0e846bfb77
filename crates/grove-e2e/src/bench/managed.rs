//! The operator does the same work: it is given a set, scaled, left alone, and the set is deleted.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::PodCliqueSet;
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use super::{
    Backend, BenchOptions,
    figures::{Figures, seconds, since},
    machine::{self, Machine},
    pod_watch::{PodWatch, Stage},
    progress,
    replica::{self, NAMESPACE, SET},
    write_count,
};
use crate::{
    cluster::Cluster,
    operator::{Operator, OperatorOptions},
};

/// How the audit log knows it.
const USER_AGENT: &str = "grove-operator/";
/// Replicas that are added while all others run.
const MORE: usize = 10;
/// How long it is looked at while there is nothing to do.
const IDLE: Duration = Duration::from_secs(30);
/// After so long without a write it has nothing more to write.
const QUIET: Duration = Duration::from_secs(5);
/// Nothing takes that long.
const DEADLINE: Duration = Duration::from_mins(5);

/// Measures on a prepared cluster.
pub(super) async fn measure(
    cluster: &Cluster,
    options: &BenchOptions,
    machine: Machine,
    backend: Backend,
) -> Result<Figures> {
    // It is not to lose its lease because the machine is busy.
    let lease = ["60s", "40s", "5s"];
    let gang_scheduling = backend != Backend::Plain;
    let told = OperatorOptions { lease, gang_scheduling, ..OperatorOptions::on(backend.scheduler()) };
    let mut operator = Operator::start(cluster, told).await?;
    let pid = operator.pid().context("the operator does not run")?;
    let sets: Api<PodCliqueSet> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    let watch = PodWatch::open(&cluster.client, NAMESPACE).await?;
    let cpu_before = machine::cpu_time_of(pid);

    let started = Instant::now();
    let set = serde_json::from_value(replica::set(options.gangs()))?;
    let creating = async {
        sets.create(&PostParams::default(), &set).await?;
        Ok(())
    };
    let stages = [Stage::Created, Stage::Released, Stage::Bound, Stage::Ready];
    let following = progress::follow(watch.progress(), &stages, options.pods, started);
    tokio::try_join!(creating, following)?;
    let cpu = machine::cpu_time_of(pid).saturating_sub(cpu_before);
    let writes_by = write_count::by_verb_and_resource(&cluster.writes()?, USER_AGENT);
    let progress = watch.progress().borrow().clone();

    let idle = idle_writes(cluster).await?;
    let scaled = scale_out(&cluster.client, &sets, options.gangs()).await?;
    let gone = delete(&cluster.client, &sets, options.pods).await?;
    let peak = machine::peak_memory_of(pid);
    operator.stop().await?;
    Ok(Figures {
        first_pod_s: since(started, progress.of(Stage::Created).first),
        created_s: since(started, progress.of(Stage::Created).last),
        bound_s: since(started, progress.of(Stage::Bound).last),
        ready_s: since(started, progress.of(Stage::Ready).last),
        gone_s: gone,
        scaled_s: Some(scaled),
        writes: writes_by.values().sum(),
        writes_by,
        cpu_s: Some(seconds(cpu)),
        peak_mb: peak,
        idle_writes_per_s: Some(idle),
        pods: options.pods,
        nodes: options.nodes,
        tasks: options.tasks,
        order: options.order,
        machine,
    })
}

/// Writes each second when all is written that there was to write.
async fn idle_writes(cluster: &Cluster) -> Result<f64> {
    let mut tail = cluster.tail()?;
    let mut ours = || {
        let writes = tail.more()?.into_iter().filter(|it| it.user_agent.starts_with(USER_AGENT));
        Ok::<usize, anyhow::Error>(writes.count())
    };
    let (started, mut last) = (Instant::now(), Instant::now());
    while last.elapsed() < QUIET && started.elapsed() < IDLE {
        if ours()? > 0 {
            last = Instant::now();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(IDLE).await;
    let writes = u32::try_from(ours()?)?;
    Ok(f64::from(writes) / IDLE.as_secs_f64())
}

/// How long it takes until the pods of a few more replicas are let go. They go again.
async fn scale_out(client: &Client, sets: &Api<PodCliqueSet>, replicas: usize) -> Result<f64> {
    let watch = PodWatch::open(client, NAMESPACE).await?;
    let more = MORE * replica::PODS;
    let started = Instant::now();
    scale(sets, replicas + MORE).await?;
    progress::follow(watch.progress(), &[Stage::Released], more, started).await?;
    let released = since(started, watch.progress().borrow().of(Stage::Released).last);
    progress::follow(watch.progress(), &[Stage::Ready], more, started).await?;
    let started = Instant::now();
    scale(sets, replicas).await?;
    progress::follow(watch.progress(), &[Stage::Gone], more, started).await?;
    Ok(released)
}

async fn scale(sets: &Api<PodCliqueSet>, replicas: usize) -> Result<()> {
    let patch = json!({ "spec": { "replicas": replicas } });
    sets.patch_scale(SET, &PatchParams::default(), &Patch::Merge(&patch)).await?;
    Ok(())
}

/// How long it takes until all pods are gone. Waits for the set too.
async fn delete(client: &Client, sets: &Api<PodCliqueSet>, pods: usize) -> Result<f64> {
    let watch = PodWatch::open(client, NAMESPACE).await?;
    let started = Instant::now();
    sets.delete(SET, &DeleteParams::default()).await?;
    progress::follow(watch.progress(), &[Stage::Gone], pods, started).await?;
    let gone = since(started, watch.progress().borrow().of(Stage::Gone).last);
    while sets.get_opt(SET).await?.is_some() {
        ensure!(started.elapsed() < DEADLINE, "the set does not go");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(gone)
}
