//! Stories of a small cluster.

use super::*;
use crate::follow::fixture::{gang, node, pod};

/// Applies a change and says what is new.
struct Stage {
    snapshot: Snapshot,
    events: Events,
}

impl Stage {
    /// Three nodes and the gang `g-0` of a leader and two workers, of which one is above the minimum.
    fn new() -> Self {
        let pods = vec![pod("g-0", "g-0-lead", 0), pod("g-0", "g-0-work", 0), pod("g-0", "g-0-work", 1)];
        let snapshot = Snapshot {
            nodes: ["n0", "n1", "n2"].map(node).into(),
            pods: pods.into_iter().map(|it| Pod { gated: true, ..it }).collect(),
            gangs: vec![gang("g-0", &[("g-0-lead", 1), ("g-0-work", 1)])],
        };
        Self { snapshot, events: Events::default() }
    }

    /// The same, with all pods ready on the first two nodes, and all of it said.
    fn ready() -> Self {
        let mut stage = Self::new();
        stage.snapshot.gangs[0].initialized = true;
        for (pod, node) in stage.snapshot.pods.iter_mut().zip(["n0", "n1", "n1"]) {
            (pod.gated, pod.ready, pod.node) = (false, true, Some(node.to_owned()));
        }
        stage.new_lines();
        stage
    }

    fn new_lines(&mut self) -> Vec<String> {
        let lines = self.events.update(&self.snapshot, Duration::ZERO);
        assert!(self.events.update(&self.snapshot, Duration::ZERO).is_empty(), "said twice");
        lines.into_iter().map(|it| it.text).collect()
    }

    fn after(&mut self, change: impl FnOnce(&mut Snapshot)) -> Vec<String> {
        change(&mut self.snapshot);
        self.new_lines()
    }
}

#[test]
fn from_creation_to_ready() {
    let mut stage = Stage::new();
    assert!(stage.new_lines().is_empty(), "not all pods exist");
    assert_eq!(
        stage.after(|it| it.gangs[0].initialized = true),
        ["gang g-0: 3 pods created, each with a scheduling gate until the gang is complete"]
    );
    assert!(stage.after(|it| it.pods[0].gated = false).is_empty(), "not the whole minimum");
    assert_eq!(
        stage.after(|it| it.pods[1].gated = false),
        ["gang g-0 is complete: scheduling gates of 2 pods removed"]
    );
    let unschedulable = |it: &mut Snapshot| {
        (it.gangs[0].unschedulable, it.gangs[0].scheduling) = (true, "needs 2 GPUs".to_owned());
    };
    assert_eq!(stage.after(unschedulable), ["gang g-0 does not fit: needs 2 GPUs"]);
    assert!(stage.after(|it| it.gangs[0].scheduling = "needs 1 GPU".to_owned()).is_empty(), "once");
    assert!(stage.after(|it| it.pods[0].node = Some("n0".to_owned())).is_empty());
    assert_eq!(
        stage.after(|it| it.pods[1].node = Some("n1".to_owned())),
        ["gang g-0 is scheduled"],
        "the status of the gang may be older"
    );
    assert_eq!(stage.after(|it| it.pods[0].ready = true), ["g-0-lead is ready"]);
    assert!(stage.after(|it| it.pods[1].ready = true).is_empty(), "a pod of the clique is gated");
    assert_eq!(
        stage.after(|it| it.pods[2].gated = false),
        ["gang g-0: scheduling gates of 1 more pod removed"]
    );
    assert_eq!(stage.after(|it| it.pods[2].ready = true), ["g-0-work is ready", "all 3 pods of g are ready"]);
}

#[test]
fn pods_are_counted_when_all_that_the_gang_lists_are_known() {
    let mut stage = Stage::new();
    let last = stage.snapshot.pods.pop().unwrap();
    let complete = |it: &mut Snapshot| (it.gangs[0].initialized, it.gangs[0].pods) = (true, 3);
    assert!(stage.after(complete).is_empty(), "one of three is not known");
    assert_eq!(
        stage.after(|it| it.pods.push(last)),
        ["gang g-0: 3 pods created, each with a scheduling gate until the gang is complete"]
    );
}

#[test]
fn much_at_once_is_said_in_order() {
    let mut stage = Stage::new();
    let lines = stage.after(|it| {
        for pod in &mut it.pods {
            (pod.gated, pod.ready, pod.node) = (false, true, Some("n0".to_owned()));
        }
    });
    assert_eq!(
        lines,
        [
            "gang g-0: 3 pods created, each with a scheduling gate until the gang is complete",
            "gang g-0 is complete: scheduling gates of 3 pods removed",
            "gang g-0 is scheduled",
            "g-0-lead is ready",
            "g-0-work is ready",
            "all 3 pods of g are ready",
        ]
    );
}

#[test]
fn a_lost_node_and_its_pods() {
    let mut stage = Stage::ready();
    let lost = |it: &mut Snapshot| {
        it.nodes[1].ready = false;
        it.pods[1].ready = false;
        it.pods[2].ready = false;
    };
    assert_eq!(stage.after(lost), ["node n1 is lost: its kubelet does not answer; 2 pods ran there"]);
    let unhealthy = |it: &mut Snapshot| it.gangs[0].unhealthy = Some("g-0-work: 0 of 1".to_owned());
    assert_eq!(stage.after(unhealthy), ["gang g-0 is below its minimum: g-0-work: 0 of 1"]);
    let deleted = |it: &mut Snapshot| it.pods[1].terminating = true;
    assert_eq!(stage.after(deleted), ["2 pods of gang g-0 on node n1 are being replaced"]);
    assert!(stage.after(|it| it.pods[2].terminating = true).is_empty(), "once for each gang");
    let replaced = |it: &mut Snapshot| {
        for (number, pod) in it.pods[1..].iter_mut().enumerate() {
            (pod.uid, pod.terminating) = (format!("new-{number}"), false);
            (pod.ready, pod.node) = (true, Some("n2".to_owned()));
        }
        it.gangs[0].unhealthy = None;
    };
    assert_eq!(
        stage.after(replaced),
        ["gang g-0 is scheduled again", "g-0-work is ready again", "all 3 pods of g are ready"]
    );
    assert_eq!(stage.after(|it| it.nodes[1].ready = true), ["node n1 is back"]);
    assert_eq!(
        stage.after(|it| it.nodes[1].ready = false),
        ["node n1 is lost: its kubelet does not answer"],
        "its pods are elsewhere"
    );
}

#[test]
fn a_node_that_is_deleted() {
    let mut stage = Stage::ready();
    let node = stage.snapshot.nodes.remove(0);
    assert_eq!(stage.new_lines(), ["node n0 was deleted; 1 pod ran there"]);
    assert_eq!(
        stage.after(|it| it.pods[0].terminating = true),
        ["1 pod of gang g-0 on node n0 is being replaced"]
    );
    assert!(stage.after(|it| it.nodes.push(node)).is_empty(), "another node of that name");
}

#[test]
fn deletion() {
    let mut stage = Stage::ready();
    let ending = |it: &mut Snapshot| it.pods.iter_mut().for_each(|it| it.terminating = true);
    assert!(stage.after(ending).is_empty());
    let gone = |it: &mut Snapshot| {
        it.gangs.clear();
        it.pods.clear();
    };
    assert_eq!(stage.after(gone), ["gang g-0 was deleted"]);
    let mut second = Stage::ready();
    second.snapshot.gangs[0].uid = "other".to_owned();
    assert_eq!(
        second.new_lines()[..2],
        [
            "gang g-0 was deleted",
            "gang g-0: 3 pods created, each with a scheduling gate until the gang is complete",
        ]
    );
}

#[test]
fn pods_of_a_deleted_gang_are_not_replaced() {
    let mut stage = Stage::ready();
    stage.after(|it| it.nodes[1].ready = false);
    let gone = |it: &mut Snapshot| {
        it.gangs.clear();
        it.pods.clear();
    };
    assert_eq!(stage.after(gone), ["gang g-0 was deleted"]);
}

#[test]
fn a_clique_that_keeps_its_minimum_is_ready_once() {
    let mut stage = Stage::ready();
    assert!(stage.after(|it| it.pods[2].ready = false).is_empty());
    assert_eq!(stage.after(|it| it.pods[2].ready = true), ["all 3 pods of g are ready"]);
}

#[test]
fn what_is_there_already_is_no_event() {
    let stage = Stage::ready();
    let mut events = Events::since(&stage.snapshot);
    assert!(events.update(&stage.snapshot, Duration::ZERO).is_empty());
    let mut scene = Scene::default();
    events.fill(&mut scene);
    assert!(scene.story.is_empty());
}

#[test]
fn many_cliques_are_not_mentioned_one_by_one() {
    let names: Vec<String> = (0..=20).map(|it| format!("c{it}")).collect();
    let minimum: Vec<(&str, usize)> = names.iter().map(|it| (it.as_str(), 1)).collect();
    let ready = |clique: &String| Pod { ready: true, node: Some("n".to_owned()), ..pod("g-0", clique, 0) };
    let snapshot = Snapshot {
        pods: names.iter().map(ready).collect(),
        gangs: vec![gang("g-0", &minimum)],
        ..Snapshot::default()
    };
    assert_eq!(Events::default().update(&snapshot, Duration::ZERO).len(), 4);
}

#[test]
fn the_oldest_lines_are_left_out() {
    let mut events = Events::default();
    for number in 0..MAX_LINES + 2 {
        events.add(StoryLine { text: number.to_string(), ..StoryLine::default() });
    }
    let mut scene = Scene::default();
    events.fill(&mut scene);
    assert_eq!((scene.story.len(), scene.story_left_out), (MAX_LINES, 2));
    assert_eq!(scene.story[0].text, "2");
}
