//! Writes what the operator writes, and nothing else: no cache, no queue, no status, no limit.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use anyhow::{Context as _, Result};
use grove_api::wire::{PodClique, PodGang};
use http::{Method, Request, header::CONTENT_TYPE};
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::{Client, Resource};
use serde::Deserialize;
use serde_json::Value;
use tokio::task::JoinSet;

use super::{
    BenchOptions, Order,
    figures::{Figures, seconds, since},
    ground,
    machine::{self, Machine},
    pod_watch::{PodWatch, Stage},
    progress,
    replica::{self, NAMESPACE, Replica, SELECTOR, ungate},
    write_count,
};
use crate::cluster::Cluster;

/// How the audit log knows us.
const USER_AGENT: &str = "grove-bench-bare";

/// Runs the loop on a prepared cluster and deletes everything again.
pub(super) async fn measure(cluster: &Cluster, options: &BenchOptions, machine: Machine) -> Result<Figures> {
    let writer = Writer { client: ground::client(cluster, USER_AGENT).await? };
    // A client of its own, so that the watch does not count as ours and nothing waits behind it.
    let watch = PodWatch::open(&cluster.client, NAMESPACE).await?;
    let cpu_before = machine::cpu_time();

    let started = Instant::now();
    let writing = write_all(&writer, options);
    let following = progress::follow(
        watch.progress(),
        &[Stage::Created, Stage::Bound, Stage::Ready],
        options.pods,
        started,
    );
    tokio::try_join!(writing, following)?;
    let cpu = machine::cpu_time().saturating_sub(cpu_before);
    let progress = watch.progress().borrow().clone();

    let writes_by = write_count::exactly(cluster, USER_AGENT, &replica::writes(options.gangs())).await?;

    let deleting = Instant::now();
    let following = progress::follow(watch.progress(), &[Stage::Gone], options.pods, deleting);
    tokio::try_join!(delete_all(&writer), following)?;
    let gone = watch.progress().borrow().of(Stage::Gone).last;

    Ok(Figures {
        first_pod_s: since(started, progress.of(Stage::Created).first),
        created_s: since(started, progress.of(Stage::Created).last),
        bound_s: since(started, progress.of(Stage::Bound).last),
        ready_s: since(started, progress.of(Stage::Ready).last),
        gone_s: since(deleting, gone),
        scaled_s: None,
        writes: writes_by.values().sum(),
        writes_by,
        cpu_s: Some(seconds(cpu)),
        peak_mb: None,
        idle_writes_per_s: None,
        pods: options.pods,
        nodes: options.nodes,
        tasks: options.tasks,
        order: options.order,
        machine,
    })
}

/// Writes all replicas in the order asked for.
async fn write_all(writer: &Writer, options: &BenchOptions) -> Result<()> {
    let replicas = (0..u32::try_from(options.gangs())?).map(Replica);
    match options.order {
        Order::Gangs => {
            let write = |writer: Writer, replica| async move {
                writer.release(writer.create_all(replica).await?).await
            };
            each(writer, replicas, options.tasks, write).await?;
        }
        Order::Phases => {
            let create = |writer: Writer, replica| async move { writer.create_all(replica).await };
            let created = each(writer, replicas, options.tasks, create).await?;
            let release = |writer: Writer, gang| async move { writer.release(gang).await };
            each(writer, created.into_iter(), options.tasks, release).await?;
        }
    }
    Ok(())
}

/// Runs `write` for all of `items` from so many tasks; each takes the next item when it has finished one.
async fn each<I, O, F>(
    writer: &Writer,
    items: impl Iterator<Item = I> + Send + 'static,
    tasks: usize,
    write: impl Fn(Writer, I) -> F + Copy + Send + 'static,
) -> Result<Vec<O>>
where
    I: Send + 'static,
    O: Send + 'static,
    F: Future<Output = Result<O>> + Send + 'static,
{
    let items = Arc::new(Mutex::new(items));
    let mut running = JoinSet::new();
    for _ in 0..tasks {
        let (writer, items) = (writer.clone(), Arc::clone(&items));
        running.spawn(async move {
            let mut written = Vec::new();
            loop {
                let Some(item) = items.lock().unwrap_or_else(PoisonError::into_inner).next() else {
                    return Ok::<_, anyhow::Error>(written);
                };
                written.push(write(writer.clone(), item).await?);
            }
        });
    }
    let mut all = Vec::new();
    while let Some(ended) = running.join_next().await {
        all.extend(ended??);
    }
    Ok(all)
}

/// Pods first and their cliques when all of them are terminating, so that the garbage collector finds nothing to do;
/// the rest meanwhile.
async fn delete_all(writer: &Writer) -> Result<()> {
    let pods_then_cliques = async {
        writer.delete_all::<Pod>().await?;
        writer.delete_all::<PodClique>().await
    };
    tokio::try_join!(pods_then_cliques, writer.delete_all::<PodGang>(), writer.delete_all::<Service>())?;
    Ok(())
}

/// What we need to know of an object that was created.
#[derive(Deserialize)]
struct Created {
    metadata: CreatedMetadata,
}

#[derive(Deserialize)]
struct CreatedMetadata {
    name: String,
    uid: String,
}

/// A gang whose pods wait behind their gates.
struct Gang {
    replica: Replica,
    /// Their names.
    pods: Vec<String>,
}

#[derive(Clone)]
struct Writer {
    client: Client,
}

impl Writer {
    /// The first five writes of a replica: all its objects, the pods gated.
    async fn create_all(&self, replica: Replica) -> Result<Gang> {
        let clique = self.create::<PodClique>(&replica.clique()).await?;
        self.create::<Service>(&replica.service()).await?;
        self.create::<PodGang>(&replica.gang()).await?;
        let mut pods = Vec::with_capacity(replica::PODS);
        for index in 0..replica::PODS {
            let pod = self.create::<Pod>(&replica.pod(index, &clique.metadata.uid)).await?;
            pods.push(pod.metadata.name);
        }
        Ok(Gang { replica, pods })
    }

    /// The last three: the gang gets to know its pods, and they lose their gates.
    async fn release(&self, gang: Gang) -> Result<()> {
        let Gang { replica, pods } = gang;
        self.patch::<PodGang>(&replica.gang_name(), &replica.references(&pods)).await?;
        for pod in &pods {
            self.patch::<Pod>(pod, &ungate()).await?;
        }
        Ok(())
    }

    async fn create<K: Resource<DynamicType = ()>>(&self, object: &Value) -> Result<Created> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(collection::<K>())
            .header(CONTENT_TYPE, "application/json")
            .body(serde_json::to_vec(object)?)?;
        self.client.request(request).await.with_context(|| format!("create {}", K::kind(&())))
    }

    async fn patch<K: Resource<DynamicType = ()>>(&self, name: &str, patch: &Value) -> Result<()> {
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(format!("{}/{name}", collection::<K>()))
            .header(CONTENT_TYPE, "application/merge-patch+json")
            .body(serde_json::to_vec(patch)?)?;
        self.client.request_text(request).await.with_context(|| format!("patch {} {name}", K::kind(&())))?;
        Ok(())
    }

    async fn delete_all<K: Resource<DynamicType = ()>>(&self) -> Result<()> {
        let (key, value) = SELECTOR;
        let selector = format!("{}%3D{value}", key.replace('/', "%2F"));
        let request =
            Request::delete(format!("{}?labelSelector={selector}", collection::<K>())).body(Vec::new())?;
        self.client.request_text(request).await.with_context(|| format!("delete every {}", K::kind(&())))?;
        Ok(())
    }
}

fn collection<K: Resource<DynamicType = ()>>() -> String {
    K::url_path(&(), Some(NAMESPACE))
}
