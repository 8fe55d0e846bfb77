//! Nodes of their own, one pod to each: nodes that are lost, and a scheduler that keeps what belongs together in one rack.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use grove_apiserver::{Action, DeleteOptions, Object, PatchBody, Subresource};
use serde_json::{Value, json};

use crate::world::{NAMESPACE, World, now};

/// The nodes of a world. Without any, there is one that has room for everything and is no object.
#[derive(Default)]
pub(crate) struct Hosts {
    /// Names such as `r0-h1`; what is before the dash is the rack.
    names: Vec<String>,
    /// Those whose kubelets are silent.
    silent: Vec<String>,
    /// Whether all pods have to be in one rack.
    pub(crate) packed: bool,
}

impl Hosts {
    /// Whether nobody ends pods there.
    pub(crate) fn is_silent(&self, pod: &Object) -> bool {
        node_of(pod).is_some_and(|it| self.silent.iter().any(|name| name == it))
    }
}

pub(crate) fn node_of(pod: &Object) -> Option<&str> {
    pod.field("/spec/nodeName").and_then(Value::as_str)
}

fn is_leaving(pod: &Object) -> bool {
    pod.field("/metadata/deletionTimestamp").is_some()
}

pub(crate) fn rack(host: &str) -> &str {
    host.split('-').next().unwrap()
}

impl World {
    /// Makes so many racks of so many nodes.
    pub(crate) fn build(&mut self, racks: usize, hosts: usize) {
        self.build_racks(0..racks, hosts);
    }

    /// Makes these racks.
    pub(crate) fn build_racks(&mut self, racks: Range<usize>, hosts: usize) {
        for name in racks.flat_map(|rack| (0..hosts).map(move |host| format!("r{rack}-h{host}"))) {
            self.join(&name);
            self.hosts.names.push(name);
        }
    }

    /// A node is there.
    pub(crate) fn join(&self, name: &str) {
        let labels = json!({ "example.com/rack": rack(name), "example.com/host": name });
        let node =
            json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": labels } });
        self.write("nodes", "", "", None, Action::Create(node)).unwrap();
    }

    /// A node has this taint, and no other.
    pub(crate) fn taint(&self, node: &str, key: &str) {
        let taint = json!({ "key": key, "effect": "NoExecute", "timeAdded": now().to_string() });
        self.put_taints(node, json!([taint]));
    }

    pub(crate) fn put_taints(&self, node: &str, taints: Value) {
        let patch = Action::Patch(PatchBody::Merge(json!({ "spec": { "taints": taints } })));
        self.write("nodes", "", node, None, patch).unwrap();
    }

    /// Its kubelet is silent.
    pub(crate) fn silence(&mut self, node: &str) {
        self.hosts.silent.push(node.to_owned());
        self.taint(node, "node.kubernetes.io/unreachable");
    }

    /// There is no such node any more.
    pub(crate) fn unplug(&mut self, node: &str) {
        self.hosts.silent.push(node.to_owned());
        let action = Action::Delete(DeleteOptions::default());
        self.write("nodes", "", node, None, action).unwrap();
    }

    /// All is well with a node.
    pub(crate) fn heal(&mut self, node: &str) {
        self.hosts.silent.retain(|it| it != node);
        self.put_taints(node, json!([]));
    }

    /// One turn of the scheduler: what waits is bound, where there is room.
    pub(crate) fn schedule(&self, waiting: &[Arc<Object>]) {
        if self.hosts.names.is_empty() {
            for pod in waiting {
                self.bind(pod, "node");
            }
            return;
        }
        let pods = self.list("pods");
        let is_free = |host: &&String| {
            let taken = pods.iter().any(|it| node_of(it) == Some(host.as_str()));
            let node = self.server.store().get("nodes", "", host);
            let is_tainted = |it: &Arc<Object>| {
                it.field("/spec/taints").and_then(Value::as_array).is_some_and(|it| !it.is_empty())
            };
            !taken && node.is_some_and(|it| !is_tainted(&it))
        };
        let free: Vec<&String> = self.hosts.names.iter().filter(is_free).collect();
        let places: Vec<&String> = if self.hosts.packed {
            let mut racks: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
            for host in free {
                racks.entry(rack(host)).or_default().push(host);
            }
            let theirs =
                pods.iter().filter(|it| !is_leaving(it)).filter_map(|it| node_of(it)).map(rack).next();
            let fits = |(rack, hosts): &(&str, Vec<&String>)| {
                theirs.is_none_or(|it| it == *rack) && hosts.len() >= waiting.len()
            };
            racks.into_iter().find(fits).map(|(_, hosts)| hosts).unwrap_or_default()
        } else {
            free
        };
        let mut places = places;
        for pod in waiting {
            if let Some(index) = places.iter().position(|it| self.is_selected(pod, it)) {
                self.bind(pod, places.remove(index));
            }
        }
    }

    /// Whether a node has the labels that a pod asks for.
    fn is_selected(&self, pod: &Object, host: &str) -> bool {
        let node = self.server.store().get("nodes", "", host);
        let labels = node.and_then(|it| it.field("/metadata/labels").cloned()).unwrap_or_default();
        let wanted = pod.field("/spec/nodeSelector").and_then(Value::as_object);
        wanted.into_iter().flatten().all(|(key, value)| labels[key] == *value)
    }

    fn bind(&self, pod: &Object, node: &str) {
        let body = json!({ "target": { "kind": "Node", "name": node } });
        let action = Action::Create(body);
        self.write("pods", NAMESPACE, pod.name(), Some(Subresource::Binding), action).unwrap();
    }
}
