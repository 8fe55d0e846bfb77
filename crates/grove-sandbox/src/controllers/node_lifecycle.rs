//! Nodes whose kubelets are silent: after a grace period they are Unknown and tainted, and their pods are not ready. Cordoned nodes are
//! tainted, too.
//!
//! A real controller notices that leases are not renewed. Here leases stand still, so that a quiet cluster is quiet; the annotation by
//! which a kubelet is silent is what tells.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_runtime::{Outcome, Queue, Writer};
use k8s_openapi::{
    api::core::v1::{Node, NodeCondition, Pod},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use parking_lot::Mutex;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Context, error::ControllerError, queue, serve, taints::wanted_taints};
use crate::{
    annotations::is_lost,
    clock::later,
    event_recorder::{NewEvent, about},
    kubelet::ready_condition,
};

const COMPONENT: &str = "node-controller";

pub(super) struct NodeLifecycle {
    context: Context,
    writer: Writer,
    grace_period: Duration,
    queue: Queue<String>,
    /// Since when kubelets are silent, by the UID of the node.
    silent_since: Mutex<BTreeMap<String, Timestamp>>,
}

impl NodeLifecycle {
    pub(super) fn new(context: Context, grace_period: Duration) -> Arc<Self> {
        let queue = queue::<String>(COMPONENT);
        let woken = queue.clone();
        context.caches.nodes.listen(move |change| {
            change.new.and_then(|it| it.metadata.name.clone()).into_iter().for_each(|it| woken.add(it));
        });
        let writer = Writer::new(context.client.clone(), COMPONENT);
        Arc::new(Self { context, writer, grace_period, queue, silent_since: Mutex::default() })
    }

    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        if stop.run_until_cancelled(self.context.caches.synced()).await.is_none() {
            return;
        }
        let nodes = self.context.caches.nodes.list();
        let names = nodes.iter().filter_map(|it| it.metadata.name.clone()).collect();
        let this = Arc::clone(&self);
        serve(&self.queue, &stop, names, move |name| Arc::clone(&this).reconcile(name)).await;
    }

    async fn reconcile(self: Arc<Self>, name: String) -> Result<Outcome, ControllerError> {
        let Some(mut node) = self.context.caches.nodes.get("", &name) else { return Ok(Outcome::Done) };
        let mut outcome = Outcome::Done;
        if let Some(remaining) = self.remaining_grace(&node) {
            outcome = Outcome::After(remaining);
        } else if is_lost(&node) && ready(&node) != Some("Unknown") {
            node = self.mark_unknown(&name, &node).await?;
        }
        if let Some(taints) = wanted_taints(&node, ready(&node), self.context.clock.now()) {
            let version = &node.metadata.resource_version;
            let patch = json!({ "metadata": { "resourceVersion": version }, "spec": { "taints": taints } });
            self.context.caches.nodes.written(self.writer.patch::<Node>("", &name, &patch).await?);
        }
        if ready(&node).is_some_and(|it| it != "True") {
            self.mark_pods(&name).await?;
        }
        Ok(outcome)
    }

    /// How long the node's silence goes on before anybody cares; nothing where it is not silent, or for too long.
    fn remaining_grace(&self, node: &Node) -> Option<Duration> {
        let uid = node.metadata.uid.clone().unwrap_or_default();
        let mut silent_since = self.silent_since.lock();
        if !is_lost(node) {
            silent_since.remove(&uid);
            return None;
        }
        let since = *silent_since.entry(uid).or_insert_with(|| self.context.clock.now());
        drop(silent_since);
        // One that was marked stays so, also for a controller that was restarted.
        let remaining = self.context.clock.until(later(since, self.grace_period));
        (ready(node) != Some("Unknown") && !remaining.is_zero()).then_some(remaining)
    }

    async fn mark_unknown(&self, name: &str, node: &Node) -> Result<Arc<Node>, ControllerError> {
        let now = Some(Time(self.context.clock.now()));
        let mut conditions = node.status.as_ref().and_then(|it| it.conditions.clone()).unwrap_or_default();
        if !conditions.iter().any(|it| it.type_ == "Ready") {
            conditions.push(NodeCondition { type_: "Ready".to_owned(), ..NodeCondition::default() });
        }
        for condition in &mut conditions {
            "Unknown".clone_into(&mut condition.status);
            condition.reason = Some("NodeStatusUnknown".to_owned());
            condition.message = Some("Kubelet stopped posting node status.".to_owned());
            condition.last_transition_time.clone_from(&now);
        }
        let version = &node.metadata.resource_version;
        let patch =
            json!({ "metadata": { "resourceVersion": version }, "status": { "conditions": conditions } });
        let written = self.writer.patch_status::<Node>("", name, &patch).await?;
        self.context.recorder.record(NewEvent {
            about: about(node),
            component: COMPONENT,
            host: None,
            is_warning: false,
            reason: "NodeNotReady",
            message: format!("Node {name} status is now: NodeNotReady"),
        });
        Ok(self.context.caches.nodes.written(written))
    }

    /// Nobody can say any more that the node's pods are ready.
    async fn mark_pods(&self, node: &str) -> Result<(), ControllerError> {
        for pod in self.context.caches.pods_by_node.get(node) {
            let metadata = &pod.metadata;
            let mut conditions = pod.status.as_ref().and_then(|it| it.conditions.clone()).unwrap_or_default();
            let ready = conditions.iter_mut().find(|it| it.type_ == "Ready" && it.status == "True");
            let Some(ready) = ready else { continue };
            "False".clone_into(&mut ready.status);
            ready.last_transition_time = Some(Time(self.context.clock.now()));
            let version = &metadata.resource_version;
            let patch =
                json!({ "metadata": { "resourceVersion": version }, "status": { "conditions": conditions } });
            let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
            let (namespace, name) = (namespace.unwrap_or_default(), name.unwrap_or_default());
            match self.writer.patch_status::<Pod>(namespace, name, &patch).await {
                Ok(written) => drop(self.context.caches.pods.written(written)),
                Err(error) if error.is_not_found() => continue,
                Err(error) => return Err(error.into()),
            }
            self.context.recorder.record(NewEvent {
                about: about(&*pod),
                component: COMPONENT,
                host: None,
                is_warning: true,
                reason: "NodeNotReady",
                message: "Node is not ready".to_owned(),
            });
        }
        Ok(())
    }
}

/// The status of the condition Ready.
fn ready(node: &Node) -> Option<&str> {
    ready_condition(node).map(|it| it.status.as_str())
}
