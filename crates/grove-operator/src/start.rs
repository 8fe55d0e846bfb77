//! Puts everything together: caches that are filled for as long as the process lives, and controllers that work while
//! it leads.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use grove_api::{config::SchedulerProfiles, constants::labels};
use grove_plan::{allotment::Caps, node_loss::Patience};
use grove_runtime::{
    Cached, Events, Handover, History, InformerMetrics, Outcome, OwnedWrites, Queue, QueueKey, QueueMetrics,
    Switch, Term, Writer,
    channel::{Receiver, channel},
    inform, inform_guarded, work,
};
use grove_scheduler::Registry;
use k8s_openapi::jiff::Timestamp;
use kube::{Api, Client, runtime::watcher};
use tokio::{sync::Mutex, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    backends::{Backends, Epochs, Surroundings, supervise},
    controllers::{Grove, Leftover, Queues},
    error::Error,
    kueue::Kueue,
    memory::Memory,
    metrics::OperatorMetrics,
    seen::{Seen, prune, prune_revision, prune_set},
    takeover::catch_up,
};

/// Upper bound of one reconcile, so that no request that hangs holds a worker for ever.
const DEADLINE: Duration = Duration::from_mins(2);
/// Statuses are written few at a time: a server that is slow gets fewer and later ones, each of which says more.
const STATUS_WORKERS: usize = 4;
/// Likewise for sets.
const SET_STATUS_WORKERS: usize = 2;
/// Sets whose units are restarted at a time.
const RECOVERY_WORKERS: usize = 2;
/// Nodes that are read at a time before they count as lost.
const NODE_READS: usize = 8;
/// How long reconciles may still take when the operator stops. None of them begins another write.
pub const RECONCILES_END: Duration = Duration::from_secs(10);
/// How long the writes of those may still take that did not end by then.
pub const WRITES_END: Duration = Duration::from_secs(10);
/// Deleted gangs that may wait to be cleared away.
const LEFTOVERS: usize = 1_024;

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
    /// The scheduler backends that were compiled in.
    pub registry: Registry,
    /// Those that are used.
    pub profiles: SchedulerProfiles,
    /// The operator's own namespace.
    pub namespace: String,
    /// Image of the init container of pods that start in order.
    pub init_image: String,
    /// Whether placement by topology is on.
    pub topology_aware: bool,
    /// How much one set may have. What admission takes is fixed ([`grove_api::limits`]); others than the default are for tests.
    pub caps: Caps,
    /// How long nodes may be in trouble; without it nobody looks at nodes.
    pub node_loss: Option<Patience>,
    /// The wall clock.
    pub clock: fn() -> Timestamp,
}

/// Grove's operator.
pub struct Operator {
    client: Client,
    grove: Arc<Grove>,
    concurrency: Concurrency,
    namespace: String,
    informers: InformerMetrics,
    /// What gangs leave behind.
    leftovers: Mutex<Receiver<Leftover>>,
}

impl Operator {
    /// An operator that talks through `client` and tells through `events`.
    pub fn new(
        client: Client,
        events: Events,
        settings: Settings,
        informers: &InformerMetrics,
        queues: &QueueMetrics,
        metrics: OperatorMetrics,
    ) -> Self {
        let (leave, leftovers) = channel(LEFTOVERS);
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
                recovery: Queue::new("recovery", queues),
                backends: Queue::new("schedulerbackend", queues),
                bindings: Queue::new("clustertopologybinding", queues),
                topologies: Queue::new("topology", queues),
                nodes: Queue::new("node", queues),
                quotas: Queue::new("resourcequota", queues),
            },
            writer: Writer::new(client.clone(), "grove-operator"),
            writes: OwnedWrites::new(),
            stopping: AtomicBool::new(false),
            events,
            backends: Arc::new(Backends::new(&settings.registry, &settings.profiles)),
            metrics,
            leftovers: leave,
            init_image: settings.init_image,
            topology_aware: settings.topology_aware,
            caps: settings.caps,
            node_loss: settings.node_loss,
            clock: settings.clock,
            history: History::default(),
        });
        // A follower keeps nothing: it looks at everything when it begins to lead.
        grove.queues.all().into_iter().for_each(Switch::close);
        grove.listen();
        Self {
            client,
            grove,
            concurrency: settings.concurrency,
            namespace: settings.namespace,
            informers: informers.clone(),
            leftovers: Mutex::new(leftovers),
        }
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
        tasks.spawn(inform_guarded(self.api(), all.clone(), seen.topologies.clone(), prune, stop.clone()));
        tasks.spawn(inform_guarded(self.api(), all.clone(), seen.backends.clone(), prune, stop.clone()));
        tasks.spawn(inform(self.api(), all.clone(), seen.quotas.clone(), prune, stop.clone()));
        if self.grove.looks_at_nodes() {
            tasks.spawn(inform(self.api(), all, seen.nodes.clone(), prune, stop.clone()));
        }
        tasks.spawn(inform(self.api(), ours.clone(), seen.services.cache.clone(), prune, stop.clone()));
        tasks.spawn(inform(self.api(), ours.clone(), seen.autoscalers.cache.clone(), prune, stop.clone()));
        let revisions = seen.revisions.cache.clone();
        tasks.spawn(inform(self.api(), ours.clone(), revisions, prune_revision, stop.clone()));
        tasks.spawn(inform(self.api(), ours, seen.pods.clone(), prune, stop.clone()));
        let (grove, weak) = (Arc::downgrade(&self.grove), Arc::downgrade(&self.grove));
        let around = Surroundings {
            client: self.client.clone(),
            namespace: self.namespace.clone(),
            informers: self.informers.clone(),
            metrics: self.grove.metrics.backends.clone(),
            backends: Arc::clone(&self.grove.backends),
            changed: Arc::new(move |owner, what| {
                if let Some(grove) = grove.upgrade() {
                    grove.scheduler_object_changed(owner, what);
                }
            }),
            also: vec![(BTreeSet::from([Kueue::definition()]), Arc::clone(&seen.kueue.doubt))],
            topology_changed: Arc::new(move || {
                if let Some(grove) = weak.upgrade() {
                    grove.look_at_topologies();
                }
            }),
        };
        let (kueue, client, ended) = (seen.kueue.clone(), self.client.clone(), stop.clone());
        tasks.spawn(async move { kueue.watch(client, ended).await });
        tasks.spawn(supervise(around, stop.clone()));
        tasks.spawn(follow_backends(Arc::clone(&self.grove), stop.clone()));
        tasks.spawn(Arc::clone(&self.grove).follow_reports(stop));
        while tasks.join_next().await.is_some() {}
    }

    fn api<K: Cached>(&self) -> Api<K> {
        Api::all_with(self.client.clone(), &())
    }

    /// Whether every cache has been filled once, and every scheduler was looked for; else what is missing.
    pub fn synced(&self) -> Result<(), String> {
        let seen = &self.grove.seen;
        let missing = [
            ("PodCliqueSet", seen.sets.is_synced()),
            ("PodCliqueScalingGroup", seen.groups.cache.is_synced()),
            ("PodClique", seen.cliques.cache.is_synced()),
            ("PodGang", seen.gangs.cache.is_synced()),
            ("Service", seen.services.cache.is_synced()),
            ("HorizontalPodAutoscaler", seen.autoscalers.cache.is_synced()),
            ("ControllerRevision", seen.revisions.cache.is_synced()),
            ("Pod", seen.pods.is_synced()),
            ("ClusterTopologyBinding", seen.topologies.is_synced()),
            ("Topology", seen.kueue.topologies.is_synced()),
            ("Node", !self.grove.looks_at_nodes() || seen.nodes.is_synced() || seen.nodes.is_denied()),
        ];
        if let Some((kind, _)) = missing.iter().find(|(_, synced)| !synced) {
            return Err(format!("the cache of kind {kind} is not filled yet"));
        }
        // Until then, admission refuses new sets.
        let looked_at = self.grove.backends.all_looked_at();
        looked_at.map_err(|name| format!("scheduler backend {name:?} is being initialised"))
    }

    /// Works until the term ends. From then on nothing new begins; what is under way has [`RECONCILES_END`] to end, and the
    /// writes of what has not ended by then have [`WRITES_END`]. Together that is less than the grace period of a pod, 30
    /// seconds. Where the term is lost, what is under way is dropped. May be called for one term after the other.
    pub async fn work(&self, term: Term) -> Handover {
        self.grove.stopping.store(false, Ordering::Relaxed);
        if term.run(self.all_synced()).await.is_none() {
            return Handover::Idle;
        }
        if term.run(catch_up(&self.grove.writer, &self.grove.seen.pods)).await.is_none() {
            return Handover::Idle;
        }
        info!("the caches are filled");
        if self.grove.looks_at_nodes() && self.grove.seen.nodes.is_denied() {
            warn!(
                "the operator may not list nodes: lost nodes are not noticed, scaled gangs do not follow their base gang, and \
                 topologies cannot be held against node labels; grant list and watch on nodes to its service account"
            );
        }
        let (grove, queues) = (&self.grove, &self.grove.queues);
        grove.begin_term();
        let mut tasks = JoinSet::new();
        let Concurrency { sets, groups, cliques, gangs } = self.concurrency;
        let run = &mut tasks;
        attend(run, grove, &queues.sets, sets, |it, key| async move { it.reconcile_set(key).await });
        attend(run, grove, &queues.groups, groups, |it, key| async move { it.reconcile_group(key).await });
        attend(run, grove, &queues.cliques, cliques, |it, key| async move { it.reconcile_clique(key).await });
        attend(run, grove, &queues.gangs, gangs, |it, key| async move { it.reconcile_gang(key).await });
        attend(run, grove, &queues.backends, 1, |it, name| async move { it.reconcile_backend(name).await });
        attend(run, grove, &queues.bindings, 1, |it, name| async move { it.reconcile_binding(name).await });
        attend(
            run,
            grove,
            &queues.topologies,
            1,
            |it, name| async move { it.reconcile_topology(name).await },
        );
        attend(run, grove, &queues.recovery, RECOVERY_WORKERS, |it, key| async move {
            it.reconcile_recovery(key).await
        });
        attend(run, grove, &queues.quotas, 1, |it, name| async move { it.reconcile_quota(name).await });
        attend(
            run,
            grove,
            &queues.nodes,
            NODE_READS,
            |it, name| async move { it.reconcile_node(name).await },
        );
        for (queue, workers) in [(&queues.status, STATUS_WORKERS), (&queues.set_status, SET_STATUS_WORKERS)] {
            attend(run, grove, queue, workers, |it, key| async move { it.reconcile_status(key).await });
        }
        let clearing = async {
            let mut leftovers = self.leftovers.lock().await;
            // What came while another operator led, that one has cleared away.
            leftovers.clear();
            while let Some(left) = leftovers.recv().await {
                grove.clear_away(left).await;
            }
        };
        term.run(clearing).await;
        term.ended().await;
        grove.stopping.store(true, Ordering::Relaxed);
        queues.all().into_iter().for_each(Switch::close);
        // The lease may be lost while the last reconciles end.
        let ending = timeout(RECONCILES_END, async { while tasks.join_next().await.is_some() {} });
        match term.lost().run_until_cancelled(ending).await {
            Some(Ok(())) => {}
            Some(Err(_)) => {
                warn!("some reconciles did not end in time and are dropped; their writes go on");
                tasks.shutdown().await;
            }
            None => {
                queues.all().into_iter().for_each(Switch::abort);
                while tasks.join_next().await.is_some() {}
            }
        }
        if timeout(WRITES_END, grove.writes.drained()).await.is_err() {
            warn!("some writes have no answer yet");
            return Handover::WritesUnderWay;
        }
        Handover::Idle
    }

    async fn all_synced(&self) {
        let seen = &self.grove.seen;
        seen.sets.synced().await;
        seen.groups.cache.synced().await;
        seen.cliques.cache.synced().await;
        seen.gangs.cache.synced().await;
        seen.services.cache.synced().await;
        seen.autoscalers.cache.synced().await;
        seen.revisions.cache.synced().await;
        seen.pods.synced().await;
        seen.topologies.synced().await;
        seen.kueue.topologies.synced().await;
        // A node that is not known yet would look as if it were gone. Where nodes may not be listed, the rest works without.
        if self.grove.looks_at_nodes() {
            seen.nodes.synced_or_denied().await;
        }
    }
}

/// Wakes whoever is concerned when a backend becomes ready, or is not any more.
async fn follow_backends(grove: Arc<Grove>, stop: CancellationToken) {
    let mut changes = grove.backends.changes();
    let following = async {
        let mut known = Epochs::new();
        while changes.changed().await.is_ok() {
            let now = changes.borrow_and_update().clone();
            now.iter().filter(|(name, epoch)| known.get(*name) != Some(*epoch)).for_each(|(name, _)| {
                grove.scheduler_changed(name);
            });
            known = now;
        }
    };
    stop.run_until_cancelled(following).await;
}

/// Sets workers on a queue.
fn attend<T, F, Fut>(
    tasks: &mut JoinSet<()>,
    grove: &Arc<Grove>,
    queue: &Queue<T>,
    workers: usize,
    reconcile: F,
) where
    T: QueueKey,
    F: Fn(Arc<Grove>, T) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Outcome, Error>> + Send + 'static,
{
    let grove = Arc::clone(grove);
    tasks.spawn(work(queue.clone(), workers, DEADLINE, move |key| reconcile(Arc::clone(&grove), key)));
}
