//! One decision after the other, each against everything that is known: what the caches show, what is about to be bound, and what
//! others make room for.
//!
//! All decisions are made in one task, so that two gangs never get the same place, and a decision is complete before its first
//! binding is sent. Writes are made beside it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering},
};

use grove_placement::{Node, PodRequirements};
use grove_runtime::{Events, Writer};
use kube::Client;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{
    Counters, SchedulerOptions,
    act::{
        FIELD_MANAGER,
        binder::{Binder, Bound},
        evictor::Evictor,
        notices::Notices,
        reports::Reports,
    },
    in_flight::{Decided, Nomination, Retries},
    observe::{
        Caches,
        changes::Changed,
        pod_view::{PodKey, PodView},
        snapshot::{PlacedPod, Snapshot},
    },
    plan::{attempt::Refusal, order::SchedulingQueue, unit::UnitKey},
};

/// The scheduler at work.
pub(super) struct Engine {
    pub(super) options: SchedulerOptions,
    pub(super) counters: Arc<Counters>,
    client: Client,
    pub(super) caches: Arc<Caches>,
    pub(super) snapshot: Snapshot,
    pub(super) queue: SchedulingQueue,
    pub(super) nominations: BTreeMap<UnitKey, Nomination>,
    /// Pods for which there was no room, and has not become more since: what is true of one is true of all that are alike.
    pub(super) refused: BTreeMap<(i32, PodRequirements), Refusal>,
    pub(super) decided: BTreeMap<UnitKey, Decided>,
    pub(super) retries: Retries,
    results: mpsc::UnboundedReceiver<Bound>,
    pub(super) binder: Arc<Binder>,
    pub(super) reports: Arc<Reports>,
    pub(super) evictor: Arc<Evictor>,
    writer: Writer,
    pub(super) notices: Notices,
}

impl Engine {
    pub(super) fn new(client: Client, options: SchedulerOptions, counters: Arc<Counters>) -> Self {
        let caches = Arc::new(Caches::new());
        let writer = Writer::new(client.clone(), FIELD_MANAGER);
        let (sender, results) = mpsc::unbounded_channel();
        let clock = || Arc::clone(&options.clock);
        Self {
            binder: Arc::new(Binder::new(client.clone(), caches.nodes.clone(), sender)),
            reports: Arc::new(Reports::new(Arc::clone(&caches), writer.clone(), clock())),
            evictor: Arc::new(Evictor::new(Arc::clone(&caches), writer.clone(), clock())),
            snapshot: Snapshot::new(options.levels.clone()),
            options,
            counters,
            client,
            caches,
            queue: SchedulingQueue::default(),
            nominations: BTreeMap::new(),
            refused: BTreeMap::new(),
            decided: BTreeMap::new(),
            retries: Retries::default(),
            results,
            writer,
            notices: Notices::new(Events::none()),
        }
    }

    pub(super) async fn run(mut self, stop: CancellationToken) {
        let instance = format!("{}-sandbox", self.options.name);
        let events = Events::start(&self.writer, self.options.name.clone(), instance, stop.clone());
        self.notices = Notices::new(events);
        let mut tasks = JoinSet::new();
        let (caches, client, token) = (Arc::clone(&self.caches), self.client.clone(), stop.clone());
        tasks.spawn(async move { Box::pin(caches.watch(&client, &token)).await });
        tasks.spawn(Arc::clone(&self.binder).run());
        tasks.spawn(Arc::clone(&self.reports).run());
        tasks.spawn(Arc::clone(&self.evictor).run());
        let working = async {
            // Decided on a part of the cluster, a gang would be told that it does not fit.
            self.caches.synced().await;
            loop {
                self.step().await;
            }
        };
        stop.run_until_cancelled(working).await;
        // Writes under way end with their tasks.
        tasks.shutdown().await;
    }

    /// Takes in what is new, and decides about one unit; where there is none, waits for news.
    async fn step(&mut self) {
        self.take_changes();
        while let Ok(bound) = self.results.try_recv() {
            self.finished(bound);
        }
        for unit in self.retries.take(Instant::now()) {
            self.enqueue(&unit);
        }
        if let Some(unit) = self.queue.pop() {
            self.look_at(&unit);
            self.counters.nodes_summed.store(self.snapshot.nodes_summed, Ordering::Relaxed);
            // Others on this thread get their turn between two decisions.
            tokio::task::yield_now().await;
            return;
        }
        let retry = self.retries.next();
        tokio::select! {
            biased;
            () = self.caches.changes.wait() => {}
            Some(bound) = self.results.recv() => self.finished(bound),
            () = async { tokio::time::sleep_until(retry.unwrap_or_else(Instant::now)).await }, if retry.is_some() => {}
        }
    }

    fn take_changes(&mut self) {
        let (mut nodes, mut units) = (BTreeSet::new(), Vec::new());
        for changed in self.caches.changes.take() {
            match changed {
                Changed::Node(name) => {
                    let node = self.node(&name);
                    if self.snapshot.set_node(&name, node) {
                        nodes.insert(name);
                    }
                }
                Changed::Pod(key) => {
                    nodes.extend(self.pod_changed(&key));
                    units.push(UnitKey::Pod(key));
                }
                Changed::Group(key) => {
                    let root = self.caches.path(&key).and_then(|mut it| Some(it.pop()?.key));
                    units.extend(root.filter(|it| *it != key).map(UnitKey::Gang));
                    units.push(UnitKey::Gang(key));
                }
            }
        }
        let mut seen = BTreeSet::new();
        for unit in units.into_iter().filter(|it| seen.insert(it.clone())) {
            self.enqueue(&unit);
        }
        self.nodes_changed(&nodes);
    }

    fn node(&self, name: &str) -> Option<Node> {
        let node = Node::from_object(&*self.caches.nodes.get("", name)?);
        node.inspect_err(|error| warn!(%error, "node is not used")).ok()
    }

    /// Where a pod is now, as the caches show it, or as was decided.
    fn pod_changed(&mut self, key: &PodKey) -> BTreeSet<String> {
        let pod = self.caches.pod(key);
        let placed = pod.and_then(|pod| {
            if let Some(node) = pod.node_name.clone() {
                return Some(PlacedPod { pod, node, is_assumed: false });
            }
            let assumed =
                self.snapshot.placed(key).filter(|it| it.is_assumed && it.pod.uid() == pod.uid())?;
            Some(PlacedPod { pod, ..assumed.clone() })
        });
        self.snapshot.set_pod(key, placed)
    }

    /// Something may fit that did not before.
    pub(super) fn nodes_changed(&mut self, names: &BTreeSet<String>) {
        if names.is_empty() {
            return;
        }
        self.refused.clear();
        let cluster = self.snapshot.cluster();
        let positions = names.iter().filter_map(|it| cluster.position(it));
        let nodes: Vec<&Node> = positions.map(|it| &cluster.nodes()[it]).collect();
        self.queue.wake(&nodes);
    }

    /// A unit changed, appeared or went away.
    fn enqueue(&mut self, unit: &UnitKey) {
        let rank = match unit {
            UnitKey::Pod(key) => {
                let pod = self.caches.pod(key).filter(|it| it.group.is_none());
                pod.filter(|it| self.is_ours(it)).map(|it| (it.priority, it.created()))
            }
            UnitKey::Gang(key) => self.caches.group(key).map(|root| {
                let priority = root.priority().or_else(|| self.caches.priority_below(key));
                (priority.unwrap_or_default(), root.created)
            }),
        };
        match rank {
            Some((priority, created)) => self.queue.add(unit.clone(), priority, created),
            None => self.forget(unit),
        }
    }

    pub(super) fn is_ours(&self, pod: &PodView) -> bool {
        pod.scheduler_name == self.options.name
    }

    /// The unit waits for nothing.
    pub(super) fn forget(&mut self, unit: &UnitKey) {
        self.queue.remove(unit);
        self.retries.forget(unit);
        self.give_back(unit);
    }

    /// Others do not make room for the unit any more, or did.
    pub(super) fn give_back(&mut self, unit: &UnitKey) {
        if let Some(nomination) = self.nominations.remove(unit) {
            let nodes = nomination.places.into_iter().map(|it| it.0).collect();
            self.nodes_changed(&nodes);
        }
    }
}
