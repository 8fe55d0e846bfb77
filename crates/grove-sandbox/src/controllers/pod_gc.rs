//! Pods that are bound to a node that does not exist: nobody will ever end them, so they are marked as failed and removed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_runtime::{Delete, Deleted, Outcome, Queue, Writer};
use k8s_openapi::{
    api::core::v1::{Pod, PodCondition},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Context, error::ControllerError, queue, serve};
use crate::{caches::node_name, clock::later, pod_key::PodKey};

const COMPONENT: &str = "pod-garbage-collector";

pub(super) struct PodGc {
    context: Context,
    writer: Writer,
    after: Duration,
    queue: Queue<PodKey>,
    /// Since when pods are without a node, by UID.
    seen: Arc<Mutex<BTreeMap<String, Timestamp>>>,
}

impl PodGc {
    pub(super) fn new(context: Context, after: Duration) -> Arc<Self> {
        let queue = queue::<PodKey>(COMPONENT);
        let seen = Arc::<Mutex<BTreeMap<String, Timestamp>>>::default();
        let (woken, nodes, forgotten) = (queue.clone(), context.caches.nodes.clone(), Arc::clone(&seen));
        context.caches.pods.listen(move |change| match (change.old, change.new) {
            (_, Some(pod)) if node_name(pod).is_some_and(|it| nodes.get("", it).is_none()) => {
                woken.add(PodKey::of(pod));
            }
            (Some(old), None) => {
                forgotten.lock().remove(old.metadata.uid.as_deref().unwrap_or_default());
            }
            _ => {}
        });
        let (woken, of_node) = (queue.clone(), context.caches.pods_by_node.clone());
        context.caches.nodes.listen(move |change| {
            if let (Some(old), None) = (change.old, change.new) {
                for pod in of_node.get(old.metadata.name.as_deref().unwrap_or_default()) {
                    woken.add(PodKey::of(&pod));
                }
            }
        });
        let writer = Writer::new(context.client.clone(), COMPONENT);
        Arc::new(Self { context, writer, after, queue, seen })
    }

    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        if stop.run_until_cancelled(self.context.caches.synced()).await.is_none() {
            return;
        }
        let pods = self.context.caches.pods.list();
        let pods = pods.iter().filter(|it| self.is_orphan(it)).map(|it| PodKey::of(it)).collect();
        let this = Arc::clone(&self);
        serve(&self.queue, &stop, pods, move |key| Arc::clone(&this).reconcile(key)).await;
    }

    fn is_orphan(&self, pod: &Pod) -> bool {
        node_name(pod).is_some_and(|it| self.context.caches.nodes.get("", it).is_none())
    }

    async fn reconcile(self: Arc<Self>, key: PodKey) -> Result<Outcome, ControllerError> {
        let caches = &self.context.caches;
        let Some(pod) = caches.pods.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        let uid = pod.metadata.uid.clone().unwrap_or_default();
        if !self.is_orphan(&pod) {
            self.seen.lock().remove(&uid);
            return Ok(Outcome::Done);
        }
        let since = *self.seen.lock().entry(uid.clone()).or_insert_with(|| self.context.clock.now());
        let remaining = self.context.clock.until(later(since, self.after));
        if !remaining.is_zero() {
            return Ok(Outcome::After(remaining));
        }
        let phase = pod.status.as_ref().and_then(|it| it.phase.as_deref());
        if !matches!(phase, Some("Succeeded" | "Failed")) {
            let message = "PodGC: node no longer exists";
            let patch =
                disruption(&pod, "DeletionByPodGC", message, Some("Failed"), self.context.clock.now());
            match self.writer.patch_status::<Pod>(&key.namespace, &key.name, &patch).await {
                Err(error) if error.is_not_found() => return Ok(Outcome::Done),
                result => drop(caches.pods.written(result?)),
            }
        }
        let at_once = Delete { grace: Some(0), ..Delete::default() };
        match self.writer.delete::<Pod>(&key.namespace, &key.name, &uid, at_once).await? {
            Deleted::Gone => caches.pods.gone(&key.namespace, &key.name, &uid),
            Deleted::Accepted(pod) => drop(caches.pods.written(pod)),
        }
        Ok(Outcome::Done)
    }
}

/// The patch that tells why a pod is disrupted.
pub(super) fn disruption(
    pod: &Pod,
    reason: &str,
    message: &str,
    phase: Option<&str>,
    now: Timestamp,
) -> Value {
    let status = pod.status.clone().unwrap_or_default();
    let mut conditions = status.conditions.unwrap_or_default();
    conditions.retain(|it| it.type_ != "DisruptionTarget");
    conditions.push(PodCondition {
        type_: "DisruptionTarget".to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_transition_time: Some(Time(now)),
        ..PodCondition::default()
    });
    let mut status = json!({ "conditions": conditions });
    if let Some(phase) = phase {
        status["phase"] = phase.into();
    }
    json!({ "metadata": { "resourceVersion": pod.metadata.resource_version }, "status": status })
}
