//! Pods that are alike, and what is known of each node for them.

use std::fmt;

use crate::{
    cluster::{Cluster, RunningPod},
    pod::{PodRequirements, Rejection, reject},
    resources::{Resources, is_device},
};

/// Why a node is closed to pods, resources aside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Closed {
    /// By the node itself.
    Node(Rejection),
    /// By anti-affinity between the pod and pods that run already.
    AntiAffinity,
    /// By a port of the node that a running pod has.
    HostPort,
}

/// For a number of nodes: `3 nodes have ...`; the verb is that of the plural.
impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(rejection) => rejection.fmt(f),
            Self::AntiAffinity => f.write_str("have pods near them that anti-affinity excludes"),
            Self::HostPort => f.write_str("have another pod on the host port"),
        }
    }
}

/// Pods that are alike.
#[derive(Clone, Debug)]
pub(crate) struct Class<'a> {
    pub(crate) requirements: &'a PodRequirements,
    /// What one pod takes, in the order of the resources of the problem.
    pub(crate) requests: Vec<i64>,
    /// For every node: why it is closed to these pods.
    pub(crate) closed: Vec<Option<Closed>>,
    /// For every node: how much the pods prefer it.
    pub(crate) preference: Vec<i64>,
    /// For every node: how many kinds of devices it has that these pods do not use.
    pub(crate) idle_devices: Vec<usize>,
}

impl<'a> Class<'a> {
    pub(crate) fn new(cluster: &Cluster, pod: &'a PodRequirements, resources: &[String]) -> Self {
        let nodes = cluster.nodes();
        let by_pods = closed_by_pods(cluster, pod);
        let closed = nodes.iter().zip(by_pods);
        let closed = closed.map(|(node, pods)| reject(pod, node).map(Closed::Node).or(pods)).collect();
        let idle =
            |all: &Resources| all.iter().filter(|it| is_device(it.0) && pod.requests.get(it.0) == 0).count();
        Self {
            requirements: pod,
            requests: resources.iter().map(|it| pod.requests.get(it)).collect(),
            closed,
            preference: nodes.iter().map(|it| pod.preference(it)).collect(),
            idle_devices: nodes.iter().map(|it| idle(&it.allocatable)).collect(),
        }
    }

    pub(crate) fn is_open(&self, node: usize) -> bool {
        self.closed[node].is_none()
    }
}

/// What the pods that run already mean for a pod: this never changes while others are placed.
fn closed_by_pods(cluster: &Cluster, pod: &PodRequirements) -> Vec<Option<Closed>> {
    let nodes = cluster.nodes();
    let mut closed: Vec<Option<Closed>> = vec![None; nodes.len()];
    // Places, by label and value, that anti-affinity closes.
    let mut places: Vec<(&str, &str)> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        for running in &node.pods {
            if has_conflict(pod, running) {
                closed[at] = Some(Closed::HostPort);
            }
            let own = pod.anti_affinity.iter().filter(|it| it.matches(&running.namespace, &running.labels));
            let theirs = running.anti_affinity.iter().filter(|it| it.matches(&pod.namespace, &pod.labels));
            for term in own.chain(theirs) {
                if let Some(value) = node.label(&term.topology_key) {
                    places.push((&term.topology_key, value));
                }
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    for (at, node) in nodes.iter().enumerate() {
        if places.iter().any(|(key, value)| node.label(key) == Some(value)) {
            closed[at] = Some(Closed::AntiAffinity);
        }
    }
    closed
}

fn has_conflict(pod: &PodRequirements, running: &RunningPod) -> bool {
    pod.host_ports.iter().any(|own| running.host_ports.iter().any(|it| it.conflicts_with(own)))
}
