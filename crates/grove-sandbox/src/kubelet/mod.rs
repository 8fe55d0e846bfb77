//! The kubelets of all nodes, in one event loop: changes and timers put pods and nodes into work queues, and a few workers take them
//! out. There is no task and no timer for a single node or pod.

mod address;
mod node;
mod node_status;
mod options;
mod pod;
mod work_count;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_runtime::{Cached, Queue, QueueMetrics, Switch as _, Writer, work};
use k8s_openapi::api::core::v1::Node;
use kube::Client;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use self::{address::Addresses, work_count::Counters};
use crate::{
    annotations::{self, Behaviour},
    caches::{Caches, node_name},
    clock::Clock,
    event_recorder::Recorder,
    lifecycle::Memory,
    pod_key::PodKey,
};

pub(crate) use self::node_status::ready_condition;
pub use self::{options::KubeletOptions, work_count::WorkCount};

/// Upper bound of the work for one pod or node at a time.
const DEADLINE: Duration = Duration::from_mins(1);
/// Nodes that are worked on at a time.
const NODES_AT_A_TIME: usize = 4;

/// What kubelets know of a pod besides the cluster's state.
#[derive(Debug, Default)]
struct PodRecord {
    memory: Memory,
    /// What the pod's user was told about its annotations.
    warnings: BTreeSet<String>,
}

/// Records by UID.
type Records = Arc<Mutex<BTreeMap<String, PodRecord>>>;

/// The kubelets of all nodes.
pub(crate) struct Kubelet {
    caches: Caches,
    writer: Writer,
    recorder: Recorder,
    clock: Clock,
    options: KubeletOptions,
    defaults: Behaviour,
    pods: Queue<PodKey>,
    nodes: Queue<String>,
    records: Records,
    addresses: Addresses,
    counters: Arc<Counters>,
}

impl Kubelet {
    pub(crate) fn new(
        client: Client,
        caches: Caches,
        recorder: Recorder,
        clock: Clock,
        options: KubeletOptions,
    ) -> Arc<Self> {
        let metrics = QueueMetrics::default();
        let this = Arc::new(Self {
            writer: Writer::new(client, "kubelet"),
            recorder,
            clock,
            defaults: options.behaviour(),
            options,
            pods: Queue::new("kubelet-pods", &metrics),
            nodes: Queue::new("kubelet-nodes", &metrics),
            records: Records::default(),
            addresses: Addresses::default(),
            counters: Arc::default(),
            caches,
        });
        // Nothing gathers in the queues before the kubelets run.
        this.close();
        this.listen();
        this
    }

    /// Changes wake the pods and nodes that they concern.
    fn listen(&self) {
        let (queue, records) = (self.pods.clone(), Arc::clone(&self.records));
        self.caches.pods.listen(move |change| match (change.old, change.new) {
            (_, Some(pod)) if node_name(pod).is_some() => queue.add(PodKey::of(pod)),
            (Some(old), None) => drop(records.lock().remove(old.metadata.uid.as_deref().unwrap_or_default())),
            _ => {}
        });
        let (queue, pods) = (self.nodes.clone(), self.pods.clone());
        let (of_node, counters) = (self.caches.pods_by_node.clone(), Arc::clone(&self.counters));
        self.caches.nodes.listen(move |change| {
            let Some(name) = change.new.or(change.old).and_then(|it| it.metadata.name.clone()) else {
                return;
            };
            if !is_up(change.old) && is_up(change.new) {
                let found = of_node.get(&name);
                counters.found(found.len());
                for pod in &found {
                    pods.add(PodKey::of(pod));
                }
            }
            queue.add(name);
        });
        let queue = self.nodes.clone();
        self.caches.leases.listen(move |change| {
            if let (Some(old), None) = (change.old, change.new) {
                old.metadata.name.iter().for_each(|name| queue.add(name.clone()));
            }
        });
    }

    /// Plays the kubelets until `stop`. May be called again after that: it begins with what the cluster says.
    pub(crate) async fn run(self: Arc<Self>, stop: CancellationToken) {
        if stop.run_until_cancelled(self.caches.synced()).await.is_none() {
            return;
        }
        self.records.lock().clear();
        self.pods.open();
        self.nodes.open();
        let named = |it: &Arc<Node>| it.metadata.name.clone();
        self.caches.nodes.list().iter().filter_map(named).for_each(|it| self.nodes.add(it));
        for pod in self.caches.pods.list().iter().filter(|it| node_name(it).is_some()) {
            self.pods.add_background(PodKey::of(pod));
        }
        let (pods, nodes) = (Arc::clone(&self), Arc::clone(&self));
        tokio::join!(
            work(self.pods.clone(), self.options.concurrency, DEADLINE, move |key| {
                Arc::clone(&pods).reconcile_pod(key)
            }),
            work(self.nodes.clone(), NODES_AT_A_TIME, DEADLINE, move |name| {
                Arc::clone(&nodes).reconcile_node(name)
            }),
            async {
                stop.cancelled().await;
                self.close();
            },
        );
    }

    fn close(&self) {
        self.pods.close();
        self.nodes.close();
    }

    /// The kubelet's node, if its kubelet is not silent.
    fn node(&self, name: &str) -> Option<Arc<Node>> {
        self.caches.nodes.get("", name).filter(|it| is_up(Some(it)))
    }

    pub(crate) fn work_count(&self) -> WorkCount {
        self.counters.read()
    }
}

/// Whether there is a node with a kubelet that works.
fn is_up(node: Option<&Arc<Node>>) -> bool {
    node.is_some_and(|it| !annotations::is_lost(it))
}

/// The version that an object has.
fn version<K: Cached>(object: &K) -> Option<&str> {
    object.meta().resource_version.as_deref()
}
