//! Puts everything together: caches that are filled for as long as the process lives, and controllers that work while
//! it leads.

use std::{fmt::Debug, sync::Arc, time::Duration};

use grove_api::constants::labels;
use grove_runtime::{
    Cached, Events, InformerMetrics, Outcome, Queue, QueueMetrics, Writer, inform, inform_guarded, work,
};
use k8s_openapi::jiff::Timestamp;
use kube::{Api, Client, runtime::watcher};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::{
    controllers::{Grove, Queues},
    error::Error,
    memory::Memory,
    schedulers::Schedulers,
    seen::{Seen, prune, prune_set},
};

/// Upper bound of one reconcile, so that no request that hangs holds a worker for ever.
const DEADLINE: Duration = Duration::from_mins(2);
/// Statuses are written few at a time: a server that is slow gets fewer and later ones, each of which says more.
const STATUS_WORKERS: usize = 4;
/// Likewise for sets.
const SET_STATUS_WORKERS: usize = 2;

/// How much each controller does at a time.
#[derive(Clone, Copy, Debug)]
pub struct Concurrency {
    /// Sets.
    pub sets: usize,
    /// Scaling groups.
    pub groups: usize,
    /// Cliques.
    pub cliques: usize,
    /// Gangs.
    pub gangs: usize,
}

/// What an operator is made with.
pub struct Settings {
    /// How much each controller does at a time.
    pub concurrency: Concurrency,
    /// The schedulers.
    pub schedulers: Schedulers,
    /// Image of the init container of pods that start in order.
    pub init_image: String,
    /// Whether placement by topology is on.
    pub topology_aware: bool,
    /// The wall clock.
    pub clock: fn() -> Timestamp,
}

/// Grove's operator.
pub struct Operator {
    client: Client,
    grove: Arc<Grove>,
    concurrency: Concurrency,
}

impl Operator {
    /// An operator that talks through `client` and tells through `events`.
    pub fn new(
        client: Client,
        events: Events,
        settings: Settings,
        informers: &InformerMetrics,
        queues: &QueueMetrics,
    ) -> Self {
        let grove = Arc::new(Grove {
            seen: Seen::new(informers),
            memory: Memory::default(),
            queues: Queues {
                sets: Queue::new("podcliqueset", queues),
                groups: Queue::new("podcliquescalinggroup", queues),
                cliques: Queue::new("podclique", queues),
                gangs: Queue::new("podgang", queues),
                status: Queue::new("status", queues),
                set_status: Queue::new("podcliqueset-status", queues),
            },
            writer: Writer::new(client.clone(), "grove-operator"),
            events,
            schedulers: settings.schedulers,
            init_image: settings.init_image,
            topology_aware: settings.topology_aware,
            clock: settings.clock,
        });
        grove.listen();
        Self { client, grove, concurrency: settings.concurrency }
    }

    /// What admission reads.
    pub(crate) fn grove(&self) -> Arc<Grove> {
        Arc::clone(&self.grove)
    }

    /// Fills the caches until `stop`; leaders and followers alike, so that a new leader need not wait.
    pub async fn watch(&self, stop: CancellationToken) {
        let seen = &self.grove.seen;
        let mut tasks = JoinSet::new();
        let ours = watcher::Config::default().labels(&format!(
            "{}={}",
            labels::MANAGED_BY,
            labels::MANAGED_BY_VALUE
        ));
        let all = watcher::Config::default();
        tasks.spawn(inform_guarded(self.api(), all.clone(), seen.sets.clone(), prune_set, stop.clone()));
        tasks.spawn(inform_guarded(self.api(), all.clone(), seen.groups.cache.clone(), prune, stop.clone()));
        tasks.spawn(inform_guarded(self.api(), all.clone(), seen.cliques.cache.clone(), prune, stop.clone()));
        tasks.spawn(inform_guarded(self.api(), all.clone(), seen.gangs.cache.clone(), prune, stop.clone()));
        tasks.spawn(inform_guarded(self.api(), all, seen.topologies.clone(), prune, stop.clone()));
        tasks.spawn(inform(self.api(), ours.clone(), seen.services.cache.clone(), prune, stop.clone()));
        tasks.spawn(inform(self.api(), ours.clone(), seen.autoscalers.cache.clone(), prune, stop.clone()));
        tasks.spawn(inform(self.api(), ours, seen.pods.clone(), prune, stop));
        while tasks.join_next().await.is_some() {}
    }

    fn api<K: Cached>(&self) -> Api<K> {
        Api::all_with(self.client.clone(), &())
    }

    /// Whether every cache has been filled once; else the kind that is missing.
    pub fn synced(&self) -> Result<(), String> {
        let seen = &self.grove.seen;
        let missing = [
            ("PodCliqueSet", seen.sets.is_synced()),
            ("PodCliqueScalingGroup", seen.groups.cache.is_synced()),
            ("PodClique", seen.cliques.cache.is_synced()),
            ("PodGang", seen.gangs.cache.is_synced()),
            ("Service", seen.services.cache.is_synced()),
            ("HorizontalPodAutoscaler", seen.autoscalers.cache.is_synced()),
            ("Pod", seen.pods.is_synced()),
            ("ClusterTopologyBinding", seen.topologies.is_synced()),
        ];
        match missing.iter().find(|(_, synced)| !synced) {
            None => Ok(()),
            Some((kind, _)) => Err(format!("the cache of kind {kind} is not filled yet")),
        }
    }

    /// Works until `stop`, and then ends what is under way.
    pub async fn work(&self, stop: CancellationToken) {
        if stop.run_until_cancelled(self.all_synced()).await.is_none() {
            return;
        }
        info!("the caches are filled");
        // What the listeners queued while the caches were filled is the start: every object was seen as new.
        let (grove, queues) = (&self.grove, &self.grove.queues);
        let mut tasks = JoinSet::new();
        let Concurrency { sets, groups, cliques, gangs } = self.concurrency;
        let run = &mut tasks;
        attend(run, grove, &queues.sets, sets, |it, key| async move { it.reconcile_set(key).await });
        attend(run, grove, &queues.groups, groups, |it, key| async move { it.reconcile_group(key).await });
        attend(run, grove, &queues.cliques, cliques, |it, key| async move { it.reconcile_clique(key).await });
        attend(run, grove, &queues.gangs, gangs, |it, key| async move { it.reconcile_gang(key).await });
        for (queue, workers) in [(&queues.status, STATUS_WORKERS), (&queues.set_status, SET_STATUS_WORKERS)] {
            attend(run, grove, queue, workers, |it, key| async move { it.reconcile_status(key).await });
        }
        stop.cancelled().await;
        queues.sets.close();
        queues.groups.close();
        queues.cliques.close();
        queues.gangs.close();
        queues.status.close();
        queues.set_status.close();
        while tasks.join_next().await.is_some() {}
    }

    async fn all_synced(&self) {
        let seen = &self.grove.seen;
        seen.sets.synced().await;
        seen.groups.cache.synced().await;
        seen.cliques.cache.synced().await;
        seen.gangs.cache.synced().await;
        seen.services.cache.synced().await;
        seen.autoscalers.cache.synced().await;
        seen.pods.synced().await;
        seen.topologies.synced().await;
    }
}

/// Sets workers on a queue.
fn attend<T, F, Fut>(
    tasks: &mut JoinSet<()>,
    grove: &Arc<Grove>,
    queue: &Queue<T>,
    workers: usize,
    reconcile: F,
) where
    T: Ord + Clone + Debug + Send + 'static,
    F: Fn(Arc<Grove>, T) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Outcome, Error>> + Send + 'static,
{
    let grove = Arc::clone(grove);
    tasks.spawn(work(queue.clone(), workers, DEADLINE, move |key| reconcile(Arc::clone(&grove), key)));
}
