//! What is noted of nodes and which pods go, row by row.

use grove_api::constants::taints::{NOT_READY, OUT_OF_SERVICE, UNREACHABLE};

use super::*;
use crate::{
    fixture::{at, pod},
    nodes::{NodeFact, Taint, Toleration},
};

const AFTER: SignedDuration = SignedDuration::from_secs(10);

/// A node with a taint since then.
fn tainted(key: &str, since: Option<i64>) -> NodeFact {
    NodeFact { taints: vec![Taint { key: key.to_owned(), value: String::new(), since: since.map(at) }] }
}

/// Pods as `node:pod`; without a time they have been there since the beginning.
fn pods(text: &str) -> Vec<PodFact> {
    let on = |text: &str| {
        let (node, text) = text.split_once(':').unwrap();
        let pod = pod(text);
        let created = if text.contains('@') { pod.created } else { at(0) };
        PodFact { node: node.to_owned(), created, ..pod }
    };
    text.split_whitespace().map(on).collect()
}

/// A clique over time: what was noted stays noted. A node that is not among `nodes` is gone.
struct Life {
    pods: Vec<PodFact>,
    nodes: BTreeMap<&'static str, NodeFact>,
    noted: Vec<LostNode>,
    /// Nodes of which nothing is known.
    unknown: Vec<&'static str>,
    /// Nodes that the API server has not confirmed.
    unconfirmed: Vec<&'static str>,
}

impl Life {
    fn new(text: &str, nodes: &[(&'static str, NodeFact)]) -> Self {
        let nodes = nodes.iter().cloned().collect();
        Self { pods: pods(text), nodes, noted: Vec::new(), unknown: Vec::new(), unconfirmed: Vec::new() }
    }

    fn seen(&self, now: i64) -> Seen<'_> {
        let names = || self.pods.iter().map(|it| it.node.as_str()).filter(|it| !self.unknown.contains(it));
        let known = |name| self.nodes.get(name).map_or(NodeKnowledge::ConfirmedGone, NodeKnowledge::Present);
        Seen {
            pods: self.pods.iter().collect(),
            nodes: names().map(|it| (it, known(it))).collect(),
            confirmed: names().filter(|it| !self.unconfirmed.contains(it)).collect(),
            noted: &self.noted,
            after: AFTER,
            now: at(now),
        }
    }

    /// Notes what is to be noted, and says it: `a Unreachable 5 15`, `next 15`.
    fn note(&mut self, now: i64) -> String {
        let watch = self.seen(now).watch();
        let node = |it: &LostNode| {
            let lost = it.lost_at.as_ref().map_or("-".to_owned(), |it| it.0.as_second().to_string());
            format!("{} {} {} {lost}", it.name, it.reason.as_str(), it.since.0.as_second())
        };
        let next = watch.next.map(|it| format!("next {}", it.as_second()));
        let asked = watch.unconfirmed.iter().map(|it| format!("ask {it}"));
        let said: Vec<String> = watch.nodes.iter().map(node).chain(next).chain(asked).collect();
        self.noted = watch.nodes;
        said.join("; ")
    }

    fn gone(&self, now: i64) -> String {
        let GonePods { uids, unconfirmed } = self.seen(now).gone();
        let asked = unconfirmed.into_iter().map(|it| format!("ask {it}"));
        uids.into_iter().chain(asked).collect::<Vec<_>>().join(" ")
    }

    fn stuck(&self, now: i64) -> String {
        let Stuck { pods, next, unconfirmed } = self.seen(now).stuck();
        let next = next.map(|it| format!("next {}", it.as_second()));
        let asked = unconfirmed.into_iter().map(|it| format!("ask {it}"));
        pods.into_iter().map(|it| it.name).chain(next).chain(asked).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn pods_go_when_their_node_is_noted_as_lost_and_not_before() {
    let mut life =
        Life::new("a:0r b:1r :2p", &[("a", tainted(UNREACHABLE, Some(5))), ("b", NodeFact::default())]);
    assert_eq!(life.note(6), "a Unreachable 5 -; next 15");
    assert_eq!(life.note(14), "a Unreachable 5 -; next 15");
    assert_eq!((life.gone(14), life.gone(15)), (String::new(), String::new()), "nothing is noted yet");
    assert_eq!(life.note(16), "a Unreachable 5 16");
    assert_eq!(life.gone(16), "uid-0r", "and nobody on the node that is well");
    assert_eq!(life.note(20), "a Unreachable 5 16", "what is noted stays as it is");
}

#[test]
fn a_node_that_is_gone_or_tainted_without_a_time_is_so_since_it_was_noticed() {
    for (what, nodes) in [("Gone", vec![]), ("Tainted", vec![("a", tainted("drain", None))])] {
        let mut life = Life::new("a:0r", &nodes);
        assert_eq!(life.note(100), format!("a {what} 100 -; next 110"));
        assert_eq!(
            life.note(105),
            format!("a {what} 100 -; next 110"),
            "an operator that starts anew counts on"
        );
        assert_eq!(life.note(110), format!("a {what} 100 110"));
        assert_eq!(life.gone(110), "uid-0r");
    }
}

/// One that tolerates everything is bound to a lost node again. It has the time that others had: else it would be made and
/// deleted without end.
#[test]
fn a_pod_that_comes_to_a_lost_node_has_the_whole_time() {
    let mut life = Life::new("a:0r", &[("a", tainted(UNREACHABLE, Some(5)))]);
    assert_eq!(life.note(20), "a Unreachable 5 20");
    assert_eq!(life.gone(20), "uid-0r");
    life.pods = pods("a:0b@200");
    assert_eq!(life.note(201), "a Unreachable 5 20", "the node is as it was");
    assert_eq!((life.gone(205).as_str(), life.stuck(205).as_str()), ("", "next 210"));
    assert_eq!(life.gone(210), "uid-0b@200");
    // Also where nobody noted the node before.
    life.noted.clear();
    assert_eq!(life.note(201), "a Unreachable 5 -; next 210");
}

#[test]
fn a_node_that_comes_back_in_time_loses_nothing() {
    let mut life = Life::new("a:0r", &[("a", tainted(UNREACHABLE, Some(5)))]);
    life.note(6);
    life.nodes.insert("a", NodeFact::default());
    assert_eq!(life.note(12), "");
    assert_eq!(life.gone(60), "");
    // Nor does one that came back between the note and the deed.
    let mut life = Life::new("a:0r", &[("a", tainted(UNREACHABLE, Some(5)))]);
    life.note(20);
    assert_eq!(life.gone(20), "uid-0r");
    life.nodes.insert("a", NodeFact::default());
    assert_eq!(life.gone(21), "");
    // If it is lost again it has the whole time again, also if nobody saw it come back.
    life.nodes.insert("a", tainted(UNREACHABLE, Some(30)));
    assert_eq!(life.gone(31), "");
    assert_eq!(life.note(31), "a Unreachable 30 -; next 40");
}

#[test]
fn a_node_that_goes_while_it_is_silent_is_lost_since_it_is_silent() {
    let mut life = Life::new("a:0r", &[("a", tainted(UNREACHABLE, Some(5)))]);
    life.note(6);
    life.nodes.remove("a");
    assert_eq!(life.note(12), "a Gone 5 -; next 15");
}

#[test]
fn what_a_pod_tolerates_for_longer_counts() {
    let mut life = Life::new("a:0r a:1r", &[("a", tainted(UNREACHABLE, Some(0)))]);
    let seconds = Some(60);
    life.pods[0].tolerations = vec![Toleration { key: UNREACHABLE.to_owned(), value: None, seconds }];
    assert_eq!(life.note(10), "a Unreachable 0 10");
    assert_eq!((life.gone(10).as_str(), life.stuck(10).as_str()), ("uid-1r", "next 60"));
    assert_eq!(life.gone(60), "uid-0r uid-1r");
    life.pods[0].tolerations[0].seconds = None;
    assert_eq!(life.gone(9_000), "uid-1r");
    life.pods[0].tolerations[0].seconds = Some(1);
    assert_eq!(life.gone(9), "", "less than the time that is set is not");
}

/// Its work is not done twice.
#[test]
fn a_pod_that_has_ended_does_not_need_its_node() {
    let mut life = Life::new("a:0S a:1F", &[]);
    assert_eq!(life.note(100), "");
    assert_eq!(life.gone(900), "");
}

#[test]
fn a_stuck_pod_is_removed_by_force_only_where_nobody_else_can() {
    // Made and deleted at 100, with 30 seconds of grace.
    for (key, removed) in [(UNREACHABLE, true), (OUT_OF_SERVICE, true), (NOT_READY, false), ("drain", false)]
    {
        let mut life = Life::new("a:0r!@100", &[("a", tainted(key, Some(90)))]);
        assert_eq!(life.stuck(900), "", "{key}: not before it is noted");
        life.note(109);
        assert_eq!(life.stuck(900), "", "{key}: not before the node is lost");
        life.note(110);
        assert_eq!(life.gone(900), "", "{key}: it is deleted already");
        let (soon, now) = if removed { ("next 160", "0r!@100") } else { ("", "") };
        assert_eq!((life.stuck(159).as_str(), life.stuck(160).as_str()), (soon, now), "{key}");
        life.nodes.insert("a", NodeFact::default());
        assert_eq!(life.stuck(900), "", "{key}: its node is back");
    }
    let mut gone = Life::new("a:0r!@100 a:1r", &[]);
    gone.note(100);
    gone.note(110);
    assert_eq!(gone.stuck(160), "0r!@100", "and nobody who is not being deleted");
}

#[test]
fn of_very_many_nodes_those_that_are_lost_the_longest_are_noted() {
    let text: Vec<String> = (0..MAX_LOST_NODES + 9).map(|it| format!("n{it}:{it}r")).collect();
    let mut life = Life::new(&text.join(" "), &[("n5", tainted(UNREACHABLE, Some(1)))]);
    life.note(100);
    assert_eq!(life.noted.len(), MAX_LOST_NODES);
    assert_eq!(life.noted[0].name, "n5");
    assert_eq!(life.seen(100).gone().uids, ["uid-5r"]);
}

/// The cache may be blind: it starts the clock, and the API server has the last word.
#[test]
fn nothing_is_lost_that_is_not_confirmed() {
    for nodes in [vec![], vec![("a", tainted(UNREACHABLE, Some(100)))]] {
        let reason = if nodes.is_empty() { "Gone" } else { "Unreachable" };
        let mut life = Life::new("a:0r b:1r", &nodes);
        life.nodes.insert("b", NodeFact::default());
        life.unconfirmed = vec!["a"];
        assert_eq!(life.note(100), format!("a {reason} 100 -; next 110"));
        assert_eq!(life.note(115), format!("a {reason} 100 -; ask a"), "it is due, and asked for");
        life.unconfirmed.clear();
        assert_eq!(life.note(116), format!("a {reason} 100 116"));
        life.unconfirmed = vec!["a"];
        assert_eq!(life.gone(117), "ask a", "confirmed for the note is not confirmed for the deletion");
        life.unconfirmed.clear();
        assert_eq!(life.gone(117), "uid-0r");
        // And once more before it is removed by force.
        life.pods[0].terminating = true;
        life.pods[0].goes_by = Some(at(150));
        life.unconfirmed = vec!["a"];
        assert_eq!((life.stuck(179), life.stuck(180)), ("next 180".to_owned(), "ask a".to_owned()));
        life.unconfirmed.clear();
        assert_eq!(life.stuck(180), "0r");
    }
}

#[test]
fn what_is_noted_of_a_node_stays_while_nothing_is_known_of_it() {
    let mut life = Life::new("a:0r b:1r c:2r", &[]);
    life.unknown = vec!["a", "b", "c"];
    assert_eq!((life.note(100), life.gone(900), life.stuck(900)), Default::default(), "nothing is noted");
    life.unknown.clear();
    life.nodes.insert("c", NodeFact::default());
    assert_eq!(life.note(100), "a Gone 100 -; b Gone 100 -; next 110");
    life.unknown = vec!["b", "c"];
    assert_eq!(life.note(110), "a Gone 100 110; b Gone 100 -; next 170", "one of them is looked at again");
    life.unknown = vec!["a", "b", "c"];
    assert_eq!(life.note(900), "a Gone 100 110; b Gone 100 -; next 960");
    assert_eq!((life.gone(900).as_str(), life.stuck(900).as_str()), ("", "next 960"));
    life.unknown.clear();
    assert_eq!(life.note(901), "a Gone 100 110; b Gone 100 901");
    assert_eq!(life.gone(901), "uid-0r uid-1r");
    life.unknown = vec!["a", "b"];
    life.pods = pods("c:2r");
    assert_eq!(life.note(902), "", "no pod is there any more");
}
