//! The nodes die and come back, and the node controller says so.

use std::{sync::Arc, time::Duration};

use grove_apiserver::Object;
use serde_json::{Value, json};

use super::{Hall, NODES, PODS, hall::Act, text, users::now};
use crate::random::choose;

/// How long after its death the pods of a node are told to go.
const EVICTION: Duration = Duration::from_secs(20);

impl Hall {
    /// A node dies, and its pods are told to go or are not.
    pub(crate) fn lose(&self, pick: u64, back: Duration, evicts: bool) {
        let node = {
            let mut state = self.state.lock();
            let alive: Vec<usize> = (0..state.alive.len()).filter(|it| state.alive[*it]).collect();
            let Some(node) = choose(pick, &alive).copied() else { return };
            state.alive[node] = false;
            if evicts {
                state.agenda.after(EVICTION, Act::Evict(node));
            }
            state.agenda.after(EVICTION + back, Act::Return(node));
            node
        };
        self.say_health(node, false);
        // The node controller, not the kubelet, says that they are not ready.
        self.pods_on(node).iter().for_each(|pod| self.say_unready(pod));
    }

    pub(super) fn bring_back(&self, node: usize) {
        if self.is_alive(&name(node)) {
            return;
        }
        if let Some(alive) = self.state.lock().alive.get_mut(node) {
            *alive = true;
        }
        self.say_health(node, true);
        self.pods_on(node).iter().for_each(|pod| self.look(pod));
        self.try_waiting();
    }

    /// The pods of a node that is still dead are told to go.
    pub(super) fn evict(&self, node: usize) {
        if !self.is_alive(&name(node)) {
            for pod in self.pods_on(node) {
                self.cluster.delete("node-controller", PODS, pod.name(), None);
            }
        }
    }

    fn pods_on(&self, node: usize) -> Vec<Arc<Object>> {
        let node = name(node);
        let mut pods = self.cluster.list(PODS);
        pods.retain(|it| text(it, "/spec/nodeName") == node);
        pods
    }

    /// The node controller's word on a pod whose kubelet is silent.
    fn say_unready(&self, pod: &Object) {
        if text(pod, "/status/phase") == "Running" {
            let unready = json!({ "type": "Ready", "status": "False", "lastTransitionTime": now() });
            self.say_condition("node-controller", pod, unready);
        }
    }

    pub(super) fn say_health(&self, node: usize, alive: bool) {
        let status = if alive { "True" } else { "Unknown" };
        let ready = json!({ "type": "Ready", "status": status, "lastTransitionTime": now() });
        let taint =
            json!([{ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": now() }]);
        let taints = if alive { Value::Null } else { taint };
        self.cluster.patch(
            "node-controller",
            NODES,
            &name(node),
            json!({ "status": { "conditions": [ready] } }),
        );
        self.cluster.patch("node-controller", NODES, &name(node), json!({ "spec": { "taints": taints } }));
    }
}

pub(super) fn name(node: usize) -> String {
    format!("node-{node}")
}
