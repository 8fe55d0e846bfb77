//! One pod: what the lifecycle plans is written.

use std::{sync::Arc, time::Duration};

use grove_runtime::{Delete, Deleted, Outcome, WriteError};
use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::json;
use tracing::warn;

use super::{Kubelet, node_status::address, version};
use crate::{
    annotations::Behaviour,
    caches::node_name,
    event_recorder::{NewEvent, about},
    lifecycle::{Input, Next, Plan, plan},
    pod_key::PodKey,
    status_patch,
};

/// Shortest wait, so that rounding does not make the loop spin.
const SHORTEST: Duration = Duration::from_millis(1);

impl Kubelet {
    pub(super) async fn reconcile_pod(self: Arc<Self>, key: PodKey) -> Result<Outcome, WriteError> {
        self.counters.reconciled();
        let Some(pod) = self.caches.pods.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        // Nothing happens on a node that is not there or does not answer.
        let Some(node) = node_name(&pod).and_then(|it| self.node(it)) else { return Ok(Outcome::Done) };
        let Some(host_address) = address(&node) else {
            // The first status of the node wakes its pods.
            return Ok(Outcome::Done);
        };
        let uid = pod.metadata.uid.clone().unwrap_or_default();
        let (behaviour, invalid) = Behaviour::of(&pod, &self.defaults);
        let mut fresh: Vec<String> = Vec::new();
        let memory = {
            let mut records = self.records.lock();
            let record = records.entry(uid.clone()).or_default();
            fresh.extend(
                invalid.into_iter().map(|it| it.message).filter(|it| record.warnings.insert(it.clone())),
            );
            record.memory.clone()
        };
        for message in fresh {
            self.record(&pod, &node, true, "InvalidAnnotation", message);
        }
        let has_address = pod.status.as_ref().is_some_and(|it| it.pod_ip.is_some());
        let pod_address = if has_address { String::new() } else { self.free_address() };
        let input = Input {
            pod: &pod,
            behaviour: &behaviour,
            host_address,
            pod_address: &pod_address,
            now: self.clock.now(),
        };
        let plan = plan(input, memory);
        match self.carry_out(&pod, &node, &uid, &behaviour, plan).await {
            // It went meanwhile.
            Err(error) if error.is_not_found() => Ok(Outcome::Done),
            result => result,
        }
    }

    async fn carry_out(
        &self,
        pod: &Arc<Pod>,
        node: &Node,
        uid: &str,
        behaviour: &Behaviour,
        plan: Plan,
    ) -> Result<Outcome, WriteError> {
        let key = PodKey::of(pod);
        if pod.status.as_ref() != Some(&plan.status) {
            match status_patch(version(&**pod), pod.status.as_ref(), &plan.status) {
                Ok(patch) => {
                    let written = self.writer.patch_status::<Pod>(&key.namespace, &key.name, &patch).await?;
                    self.caches.pods.written(written);
                }
                Err(error) => warn!(pod = ?key, %error, "status cannot be written"),
            }
        }
        if let Some(record) = self.records.lock().get_mut(uid) {
            record.memory = plan.memory;
        }
        for event in plan.events {
            self.record(pod, node, event.is_warning, event.reason, event.message);
        }
        if let (true, Some(annotation)) = (plan.has_crashed, &behaviour.crash) {
            let patch = json!({ "metadata": { "uid": uid, "annotations": { annotation: null } } });
            self.caches.pods.written(self.writer.patch::<Pod>(&key.namespace, &key.name, &patch).await?);
        }
        match plan.next {
            Next::Rest => Ok(Outcome::Done),
            Next::Wait(at) => Ok(Outcome::After(self.clock.until(at).max(SHORTEST))),
            Next::Delete => {
                let at_once = Delete { grace: Some(0), ..Delete::default() };
                match self.writer.delete::<Pod>(&key.namespace, &key.name, uid, at_once).await? {
                    Deleted::Gone => self.caches.pods.gone(&key.namespace, &key.name, uid),
                    Deleted::Accepted(pod) => drop(self.caches.pods.written(pod)),
                }
                Ok(Outcome::Done)
            }
        }
    }

    fn free_address(&self) -> String {
        self.addresses.next_pod(|it| self.caches.pods_by_address.count(it) > 0)
    }

    fn record(&self, pod: &Pod, node: &Node, is_warning: bool, reason: &'static str, message: String) {
        self.recorder.record(NewEvent {
            about: about(pod),
            component: "kubelet",
            host: node.metadata.name.clone(),
            is_warning,
            reason,
            message,
        });
    }
}
