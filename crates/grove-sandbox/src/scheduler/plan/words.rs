//! What is said of pods and groups without a place: as kube-scheduler words it, and what it lacks besides.

use std::collections::BTreeMap;

use grove_placement::{
    Cluster, Node, PodRequirements,
    pod::{Rejection, reject},
    resources::PODS,
};

use super::attempt::Refusal;

/// Longest message.
const MAX_MESSAGE: usize = 1_000;

/// What kube-scheduler 1.37 begins with where it gives up on a group.
const UNSCHEDULABLE: &str = "pod group is unschedulable";

/// Nodes that would do for the pod, but not for all that has to be placed with it.
const NOT_FOR_ALL: &str = "node(s) didn't have room for the whole pod group";

/// Nodes that are not where the other pods of the group are.
const NOT_THERE: &str = "node(s) didn't match the topology domain of the pod group";

/// Nodes on which other pods keep the pod away.
const OTHER_PODS: &str = "node(s) didn't match the pod's affinity, spread or host ports with other pods";

/// What keeps a pod from a node that has room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// It is placed alone: other pods on the nodes do.
    Alone,
    /// Those that are placed together with it do.
    Gang,
    /// Its group is placed already, in a domain of its topology level.
    Extra,
}

/// `0/16 nodes are available: 13 Insufficient nvidia.com/gpu, 3 node(s) were unschedulable.`
pub(crate) fn nodes(cluster: &Cluster, pod: &PodRequirements, scope: Scope) -> String {
    let all = cluster.nodes();
    if all.is_empty() {
        return "0/0 nodes are available: no nodes.".to_owned();
    }
    let rest = match scope {
        Scope::Alone => OTHER_PODS,
        Scope::Gang => NOT_FOR_ALL,
        Scope::Extra => NOT_THERE,
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for node in all {
        for cause in causes(pod, node, rest) {
            *counts.entry(cause).or_default() += 1;
        }
    }
    let mut causes: Vec<String> =
        counts.into_iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    causes.sort();
    format!("0/{} nodes are available: {}.", all.len(), causes.join(", "))
}

fn causes(pod: &PodRequirements, node: &Node, rest: &str) -> Vec<String> {
    match reject(pod, node) {
        Some(Rejection::Unschedulable) => return vec!["node(s) were unschedulable".to_owned()],
        Some(Rejection::Taint(_)) => return vec!["node(s) had untolerated taint(s)".to_owned()],
        Some(_) => return vec!["node(s) didn't match Pod's node affinity/selector".to_owned()],
        None => {}
    }
    let short = pod.requests.iter().filter(|it| node.free(it.0) < it.1);
    let short: Vec<String> = short
        .map(
            |(name, _)| {
                if name == PODS { "Too many pods".to_owned() } else { format!("Insufficient {name}") }
            },
        )
        .collect();
    if short.is_empty() { vec![rest.to_owned()] } else { short }
}

/// Of a pod: the nodes, and where it is placed with others, what these lack.
pub(crate) fn of_pod(nodes: &str, refusal: &Refusal, is_gang: bool) -> String {
    if is_gang {
        cut(format!("{nodes} {}: {}.", refusal.group, refusal.message))
    } else {
        cut(nodes.to_owned())
    }
}

/// Of a PodGroup.
pub(crate) fn of_group(name: &str, refusal: &Refusal) -> String {
    let whose = if refusal.group == name { String::new() } else { format!("{}: ", refusal.group) };
    cut(format!("{UNSCHEDULABLE}, {whose}{}", refusal.message))
}

/// Added to what is said of a PodGroup that others make room for.
pub(crate) fn preempting(pods: usize) -> String {
    format!(", pod group preemption: found a placement for podgroup, preempting {pods} victims")
}

/// Of a victim.
pub(crate) fn preempted_by(preemptor: &impl std::fmt::Display) -> String {
    format!("preempted by {preemptor}")
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_MESSAGE {
        text.truncate(text.floor_char_boundary(MAX_MESSAGE));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use grove_placement::{cluster::Taint, topology};

    use super::*;

    #[test]
    fn nodes_are_counted_in_the_words_of_kube_scheduler() {
        let mut cluster = topology::parse("hosts=6,gpus=8").unwrap();
        cluster.node_mut("node-0").unwrap().unschedulable = true;
        cluster.node_mut("node-1").unwrap().taints.push(Taint {
            key: "gpu".into(),
            value: String::new(),
            effect: "NoSchedule".into(),
        });
        cluster.node_mut("node-2").unwrap().labels.clear();
        for name in ["node-3", "node-4"] {
            cluster.node_mut(name).unwrap().used.set("nvidia.com/gpu", 6);
        }
        cluster.node_mut("node-4").unwrap().used.set("pods", 110);
        let mut pod = PodRequirements::default();
        pod.requests.set("nvidia.com/gpu", 4);
        pod.requests.set("pods", 1);
        pod.node_selector.insert("kubernetes.io/os".to_owned(), "linux".to_owned());
        assert_eq!(
            nodes(&cluster, &pod, Scope::Gang),
            "0/6 nodes are available: 1 Too many pods, 1 node(s) didn't have room for the whole pod group, 1 node(s) \
             didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, \
             2 Insufficient nvidia.com/gpu."
        );
        let none = topology::parse("hosts=1").unwrap();
        assert_eq!(
            nodes(&none, &pod, Scope::Alone),
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
        );
    }

    #[test]
    fn groups_are_told_what_they_lack() {
        let refusal = Refusal {
            group: "web-0-a".to_owned(),
            message: "needs 8 nvidia.com/gpu in one rack; the best rack, r2, has 6 free".to_owned(),
            is_certain: true,
        };
        let lacks = "needs 8 nvidia.com/gpu in one rack; the best rack, r2, has 6 free";
        assert_eq!(of_group("web-0-a", &refusal), format!("pod group is unschedulable, {lacks}"));
        assert_eq!(of_group("web-0-b", &refusal), format!("pod group is unschedulable, web-0-a: {lacks}"));
        assert_eq!(
            of_pod("0/1 nodes are available: x.", &refusal, true),
            format!("0/1 nodes are available: x. web-0-a: {lacks}.")
        );
        let long = Refusal { message: "é".repeat(2_000), ..refusal };
        assert!(of_group("web-0-a", &long).len() < MAX_MESSAGE + 4);
    }
}
