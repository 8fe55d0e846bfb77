//! Pods on a node with a taint of the effect NoExecute are deleted, each when its tolerations say.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_runtime::{Delete, Outcome, Queue, Writer};
use k8s_openapi::{
    api::core::v1::{Node, Pod, Taint, Toleration},
    jiff::Timestamp,
};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{
    Context,
    error::ControllerError,
    pod_gc::disruption,
    queue, serve,
    taints::{Tolerated, no_execute, tolerated},
};
use crate::{
    caches::node_name,
    clock::later,
    event_recorder::{NewEvent, about},
    pod_key::PodKey,
};

const COMPONENT: &str = "taint-eviction-controller";

pub(super) struct TaintEviction {
    context: Context,
    writer: Writer,
    queue: Queue<PodKey>,
    /// Since when pods are on a node with a taint that does not say its own time, by UID.
    seen: Arc<Mutex<BTreeMap<String, Timestamp>>>,
}

impl TaintEviction {
    pub(super) fn new(context: Context) -> Arc<Self> {
        let queue = queue::<PodKey>(COMPONENT);
        let seen = Arc::<Mutex<BTreeMap<String, Timestamp>>>::default();
        let (woken, nodes, forgotten) = (queue.clone(), context.caches.nodes.clone(), Arc::clone(&seen));
        context.caches.pods.listen(move |change| match (change.old, change.new) {
            (_, Some(pod)) => {
                let node = node_name(pod).and_then(|it| nodes.get("", it));
                if node.is_some_and(|it| no_execute(&it).next().is_some()) {
                    woken.add(PodKey::of(pod));
                }
            }
            (Some(old), None) => {
                forgotten.lock().remove(old.metadata.uid.as_deref().unwrap_or_default());
            }
            (None, None) => {}
        });
        let (woken, of_node) = (queue.clone(), context.caches.pods_by_node.clone());
        context.caches.nodes.listen(move |change| {
            let taints = |it: Option<&Arc<Node>>| {
                it.map(|it| no_execute(it).cloned().collect::<Vec<_>>()).unwrap_or_default()
            };
            let Some(node) = change.new.filter(|_| taints(change.old) != taints(change.new)) else { return };
            for pod in of_node.get(node.metadata.name.as_deref().unwrap_or_default()) {
                woken.add(PodKey::of(&pod));
            }
        });
        let writer = Writer::new(context.client.clone(), COMPONENT);
        Arc::new(Self { context, writer, queue, seen })
    }

    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        if stop.run_until_cancelled(self.context.caches.synced()).await.is_none() {
            return;
        }
        let nodes = self.context.caches.nodes.list();
        let tainted = nodes.iter().filter(|it| no_execute(it).next().is_some());
        let names = tainted.filter_map(|it| it.metadata.name.as_deref());
        let pods = names.flat_map(|it| self.context.caches.pods_by_node.get(it));
        let pods = pods.map(|it| PodKey::of(&it)).collect();
        let this = Arc::clone(&self);
        serve(&self.queue, &stop, pods, move |key| Arc::clone(&this).reconcile(key)).await;
    }

    async fn reconcile(self: Arc<Self>, key: PodKey) -> Result<Outcome, ControllerError> {
        let caches = &self.context.caches;
        let Some(pod) = caches.pods.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        let is_over = pod.status.as_ref().and_then(|it| it.phase.as_deref());
        if pod.metadata.deletion_timestamp.is_some() || matches!(is_over, Some("Succeeded" | "Failed")) {
            return Ok(Outcome::Done);
        }
        let Some(node) = node_name(&pod).and_then(|it| caches.nodes.get("", it)) else {
            return Ok(Outcome::Done);
        };
        let uid = pod.metadata.uid.clone().unwrap_or_default();
        let tolerations = pod.spec.as_ref().and_then(|it| it.tolerations.as_deref()).unwrap_or_default();
        match no_execute(&node).map(|it| self.end(&uid, it, tolerations)).min() {
            None => {
                self.seen.lock().remove(&uid);
                Ok(Outcome::Done)
            }
            Some(end) if end == Timestamp::MAX => Ok(Outcome::Done),
            Some(end) if self.context.clock.now() < end => {
                Ok(Outcome::After(self.context.clock.until(end).max(Duration::from_millis(1))))
            }
            Some(_) => self.evict(&key, &pod, &uid).await,
        }
    }

    /// When a pod has to go because of a taint.
    fn end(&self, uid: &str, taint: &Taint, tolerations: &[Toleration]) -> Timestamp {
        match tolerated(taint, tolerations) {
            None => Timestamp::MIN,
            Some(Tolerated::Forever) => Timestamp::MAX,
            Some(Tolerated::Seconds(seconds)) => {
                let now = || self.context.clock.now();
                let since = taint
                    .time_added
                    .as_ref()
                    .map_or_else(|| *self.seen.lock().entry(uid.to_owned()).or_insert_with(now), |it| it.0);
                later(since, Duration::from_secs(seconds.unsigned_abs()))
            }
        }
    }

    async fn evict(&self, key: &PodKey, pod: &Pod, uid: &str) -> Result<Outcome, ControllerError> {
        let message = "Taint manager: deleting due to NoExecute taint";
        let patch = disruption(pod, "DeletionByTaintManager", message, None, self.context.clock.now());
        match self.writer.patch_status::<Pod>(&key.namespace, &key.name, &patch).await {
            Err(error) if error.is_not_found() => return Ok(Outcome::Done),
            result => drop(self.context.caches.pods.written(result?)),
        }
        self.writer.delete::<Pod>(&key.namespace, &key.name, uid, Delete::default()).await?;
        self.context.recorder.record(NewEvent {
            about: about(pod),
            component: COMPONENT,
            host: None,
            is_warning: false,
            reason: "TaintManagerEviction",
            message: format!("Marking for deletion Pod {}/{}", key.namespace, key.name),
        });
        Ok(Outcome::Done)
    }
}
