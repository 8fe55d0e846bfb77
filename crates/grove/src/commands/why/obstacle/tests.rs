use serde_json::json;

use super::*;
use crate::commands::why::fixture::{gpus, pod};

const RACK: &str = "topology.example.com/rack";

/// A node with 64 processors, so many GPUs and a rack.
fn node(name: &str, gpus: i64) -> Node {
    let allocatable = [("cpu", 64), ("nvidia.com/gpu", gpus)];
    Node {
        name: name.to_owned(),
        is_cordoned: false,
        labels: BTreeMap::from([(RACK.to_owned(), "r0".to_owned())]),
        allocatable: allocatable.iter().map(|it| (it.0.to_owned(), Amount::whole(it.1))).collect(),
    }
}

fn cordoned_node(name: &str, gpus: i64) -> Node {
    Node { is_cordoned: true, ..node(name, gpus) }
}

fn unlabelled(name: &str) -> Node {
    Node { labels: BTreeMap::new(), ..node(name, 8) }
}

/// Kind, text and fix of each obstacle of pods that ask for `gpus` and 2 processors each.
fn found(
    messages: &[&str],
    asked: u32,
    nodes: Option<&[Node]>,
) -> Vec<(&'static str, String, Option<String>)> {
    let pod = pod("a", "chat-0-a", "chat-0", &gpus(&[asked]));
    let question =
        Question { messages: messages.to_vec(), pods: vec![&pod], nodes, keys: BTreeSet::from([RACK]) };
    Obstacle::all(&question).iter().map(|it| (it.kind(), it.text(), it.fix())).collect()
}

/// Messages as kube-scheduler 1.37 writes them for nodes in that state.
#[test]
fn each_has_its_cause_and_its_fix_with_numbers() {
    let group = "pod group is unschedulable, minCount (3) cannot be satisfied: 1 scheduled, 1 remaining";
    let rows = [
        (
            "cordoned nodes",
            "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) were unschedulable.",
            8,
            vec![cordoned_node("n2", 8), node("n0", 8), cordoned_node("n1", 8)],
            ("cordoned", "2 of 3 nodes are cordoned", "uncordon nodes: `kubectl uncordon n1 n2`"),
        ),
        (
            "a request larger than any node",
            "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
            16,
            vec![node("n0", 4), node("n1", 8)],
            (
                "requestTooLarge",
                "each pod requests 16 nvidia.com/gpu and the largest node has 8",
                "request at most 8 nvidia.com/gpu per pod, or add nodes with at least 16",
            ),
        ),
        (
            "a resource that no node has",
            "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
            1,
            vec![node("n0", 0), node("n1", 0)],
            (
                "resourceAbsent",
                "no node offers nvidia.com/gpu",
                "install the device plugin that provides nvidia.com/gpu, or correct the resource name in the pod template",
            ),
        ),
        (
            "a label that no node has",
            "no feasible placements found",
            1,
            vec![unlabelled("n0"), unlabelled("n1")],
            (
                "missingLabel",
                "no node has the label topology.example.com/rack",
                "label the nodes with topology.example.com/rack, or correct the key of that level in the \
                 ClusterTopologyBinding (`grove topology` shows it)",
            ),
        ),
        (
            "a label that some nodes do not have",
            group,
            1,
            vec![unlabelled("n0"), node("n1", 8), unlabelled("n2")],
            (
                "missingLabel",
                "2 of 3 nodes do not have the label topology.example.com/rack",
                "label the other 2 nodes with topology.example.com/rack, if they are part of the topology",
            ),
        ),
        (
            "taints",
            "0/1 nodes are available: 1 node(s) had untolerated taint(s).",
            1,
            vec![node("n0", 8)],
            (
                "tainted",
                "1 node has taints that the pods do not tolerate",
                "add tolerations for the taints of the 1 node, or remove the taints",
            ),
        ),
        (
            "a selector",
            "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
            1,
            vec![node("n0", 8), node("n1", 8)],
            (
                "notSelected",
                "2 nodes do not match the pods' nodeSelector or affinity",
                "correct the nodeSelector or affinity in the pod template, or label nodes to match it",
            ),
        ),
    ];
    for (title, message, asked, nodes, (kind, text, fix)) in rows {
        let all = found(&[group, message], asked, Some(&nodes));
        assert_eq!(all[0], (kind, text.to_owned(), Some(fix.to_owned())), "{title}: {all:?}");
    }
}

#[test]
fn nodes_that_are_merely_full_have_no_fix_but_capacity() {
    let full = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.";
    let all = found(&[full], 8, Some(&[node("n0", 8), node("n1", 8)]));
    assert_eq!(all, [("insufficient", "2 nodes have too little free nvidia.com/gpu".to_owned(), None)]);
}

/// Each resource fits a node, but not all of them the same.
#[test]
fn requests_have_to_fit_one_node_together() {
    let mut small = node("n0", 8);
    small.allocatable.insert("cpu".to_owned(), Amount::whole(1));
    let all = found(&[""], 8, Some(&[small, node("n1", 4)]));
    assert_eq!(all[0].1, "each pod requests 2 cpu and 8 nvidia.com/gpu, and no node has all of that");
}

/// A cordoned node is worth naming only if the pods would fit on it.
#[test]
fn cordoned_nodes_that_would_not_help_are_left_out() {
    assert_eq!(found(&[""], 8, Some(&[node("n0", 8), cordoned_node("cpu-only", 0)])), []);
}

/// Resources that claims provide are on no node; kube-scheduler does not count them as insufficient.
#[test]
fn resources_that_the_scheduler_does_not_miss_are_not_missed() {
    let message = "0/1 nodes are available: 1 Insufficient cpu.";
    let all = found(&[message], 8, Some(&[node("n0", 0)]));
    assert_eq!(all, [("insufficient", "1 node has too little free cpu".to_owned(), None)]);
}

/// Users of one namespace may seldom read nodes: the scheduler's own numbers are used then.
#[test]
fn without_nodes_the_messages_count() {
    let messages = [
        "chat-0-a: no node has the label topology.example.com/rack of its required topology level",
        "0/3 nodes are available: 3 node(s) were unschedulable.",
    ];
    let texts: Vec<String> = found(&messages, 8, None).into_iter().map(|it| it.1).collect();
    assert_eq!(texts, ["no node has the label topology.example.com/rack", "3 nodes are cordoned"]);
}

#[test]
fn pods_of_one_size_are_told_once() {
    let pods = [0, 1].map(|it| pod(&format!("a-{it}"), "chat-0-a", "chat-0", &gpus(&[16])));
    let pods: Vec<&Pod> = pods.iter().collect();
    let nodes = [node("n0", 8)];
    let question = Question { messages: Vec::new(), pods, nodes: Some(&nodes), keys: BTreeSet::new() };
    assert_eq!(Obstacle::all(&question).len(), 1);
}

#[test]
fn many_names_have_an_end() {
    let nodes: Vec<Node> = (0..9).map(|it| cordoned_node(&format!("n{it}"), 8)).collect();
    let all = found(&[""], 8, Some(&nodes));
    assert_eq!(all[0].2.as_deref(), Some("uncordon nodes: `kubectl uncordon n0 n1 n2 …`"));
    assert_eq!(json!(all[0].1), json!("9 of 9 nodes are cordoned"));
}
