use serde_json::json;

use super::*;
use crate::{
    amount::Amount,
    commands::why::{
        fixture::{RUNS, backend, chat, gang, gated, gpus, pod},
        nodes::Node,
    },
};

const OURS: &str = "grove.io/podgang-pending-creation";
type Said = (&'static str, &'static str, &'static str, &'static str);

/// The first gang of a set that is only this gang.
fn said(facts: &Facts) -> GangSaid {
    Report::of(facts).gangs.remove(0)
}

fn with(conditions: &[Said]) -> Facts {
    Facts { gangs: vec![gang("chat-0", conditions)], pods: Vec::new(), ..chat() }
}

fn waits(reason: &'static str, message: &'static str) -> Said {
    ("Scheduled", "False", reason, message)
}

#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn each_condition_has_its_cause_and_sentence() {
    let lost = ("Unhealthy", "True", "PodsLost", "chat-0-a: 0 pods scheduled, at least 1 needed");
    let rows: Vec<(Vec<Said>, State, &str, &str)> = vec![
        (RUNS.to_vec(), State::Running, "none", "running"),
        (vec![], State::Waiting, "unseen", "the operator has not reconciled it yet"),
        (
            vec![
                ("ReplicaFailure", "True", "FailedCreate", "chat-0-a: exceeded quota: q"),
                waits("PodsNotCreated", "x"),
            ],
            State::Waiting,
            "podsRefused",
            "the API server rejects its pods: chat-0-a: exceeded quota: q",
        ),
        (
            vec![(
                "ReplicaFailure",
                "True",
                "FailedCreate",
                "chat-0-a: the scheduler backend changed the pod's owners",
            )],
            State::Waiting,
            "podsRefused",
            "its pods cannot be created: chat-0-a: the scheduler backend changed the pod's owners",
        ),
        (
            vec![
                ("Initialized", "False", "PodsNotCreated", "not all pods of the gang are created yet"),
                waits("PodsNotCreated", "waiting for all pods of the gang to be created"),
            ],
            State::Waiting,
            "podsMissing",
            "not all pods of the gang are created yet",
        ),
        (
            vec![("Initialized", "False", "PodGangPodsCreationPending", "pending")],
            State::Waiting,
            "silent",
            "default-scheduler has not answered yet: pending",
        ),
        (
            vec![waits("SchedulerBackendNotReady", "scheduler backend \"x\" is not ready: no CRD")],
            State::Waiting,
            "backendNotReady",
            "scheduler backend \"x\" is not ready: no CRD",
        ),
        (
            vec![waits("ClusterTopologyNotFound", "pods stay gated: a level of topology \"dc\" is required")],
            State::Waiting,
            "topologyNotFound",
            "pods stay gated: a level of topology \"dc\" is required",
        ),
        (
            vec![waits("SchedulerBackendFailed", "no queue")],
            State::Waiting,
            "backendFailed",
            "its pods stay gated, because the backend of default-scheduler failed: no queue",
        ),
        (
            vec![waits("WaitingForBaseGang", "")],
            State::Waiting,
            "waitingForBase",
            "waiting for its base gang to be scheduled",
        ),
        (
            vec![waits("Unschedulable", "0/2 nodes are available")],
            State::Waiting,
            "noPlace",
            "default-scheduler cannot place it: 0/2 nodes are available",
        ),
        (vec![waits("GangNotHonoured", "one by one")], State::Waiting, "notHonoured", "one by one"),
        (
            vec![waits("WaitingForScheduler", "")],
            State::Waiting,
            "silent",
            "default-scheduler has not answered yet",
        ),
        (
            vec![
                ("Scheduled", "True", "MinimumBound", ""),
                ("Ready", "False", "PodsNotReady", "a: 0 pods ready, at least 1 needed"),
            ],
            State::Starting,
            "notReady",
            "scheduled, but not ready: a: 0 pods ready, at least 1 needed",
        ),
        (
            vec![
                ("Scheduled", "True", "MinimumBound", ""),
                ("Unhealthy", "True", "PodsFailing", "a: 0 pods healthy, at least 1 needed"),
            ],
            State::Unhealthy,
            "unhealthy",
            "below minAvailable: a: 0 pods healthy, at least 1 needed",
        ),
        // What was lost is looked for again: why it is not found says more.
        (
            vec![lost, waits("Unschedulable", "no room")],
            State::Unhealthy,
            "noPlace",
            "default-scheduler cannot place it: no room",
        ),
    ];
    for (conditions, state, cause, why) in rows {
        let got = said(&with(&conditions));
        assert_eq!((got.state, got.cause, got.why.as_str()), (state, cause, why), "{conditions:?}");
        assert!(!got.help.is_empty() || ["none", "waitingForBase"].contains(&cause), "{cause} has no advice");
    }
}

#[test]
fn a_scaled_gang_says_which_base_gang_it_follows() {
    let got = said(&with(&[waits("WaitingForOtherGangs", "chat-1 first")]));
    assert_eq!((got.cause, got.why.as_str(), got.help.len()), ("waitingForOthers", "chat-1 first", 1));
}

#[test]
fn a_backend_that_cannot_be_used_is_the_cause_of_what_is_missing() {
    let cause = |reason: &'static str, status: &str, backend_reason: &str| {
        let backend = backend("default-scheduler", status, backend_reason, "install it");
        said(&Facts {
            backends: Some(vec![backend]),
            ..with(&[waits(reason, "waiting for all pods of the gang to be created")])
        })
    };
    for reason in ["PodsNotCreated", "WaitingForScheduler", "SchedulerBackendNotReady"] {
        let got = cause(reason, "False", "BackendInitializationFailed");
        let why = "the scheduler backend default-scheduler is not ready: install it";
        assert_eq!((got.cause, got.why.as_str()), ("backendNotReady", why), "{reason}");
        assert_eq!(
            cause(reason, "Unknown", "BackendNotConfigured").cause,
            "backendNotConfigured",
            "{reason}"
        );
    }
    assert_eq!(cause("PodsNotCreated", "True", "BackendInitialized").cause, "podsMissing");
    // The scheduler has answered since.
    assert_eq!(cause("Unschedulable", "False", "BackendInitializationFailed").cause, "noPlace");
    // Another scheduler's trouble is none of this gang.
    let other = backend("kai-scheduler", "False", "BackendInitializationFailed", "no CRD");
    let got = said(&Facts { backends: Some(vec![other]), ..with(&[waits("PodsNotCreated", "")]) });
    assert_eq!(got.cause, "podsMissing");
}

#[test]
fn without_words_of_the_scheduler_the_pods_tell() {
    let facts = |spec| Facts {
        pods: vec![pod("p", "chat-0-a", "chat-0", &spec)],
        ..with(&[waits("WaitingForScheduler", "chat-0-a: 0 pods scheduled, at least 1 needed")])
    };
    let got = said(&facts(gated(&["example.com/quota", OURS])));
    let why = "its pods have the scheduling gate example.com/quota, which Grove does not manage";
    assert_eq!((got.cause, got.why.as_str()), ("heldByOthers", why));
    assert_eq!(said(&facts(gated(&[OURS]))).cause, "notLetGo");
    assert_eq!(said(&facts(json!({}))).cause, "silent");
    // The minimum was let go; what is above it waits for the scheduler too.
    let mut part = facts(gated(&[OURS]));
    part.pods.push(pod("q", "chat-0-a", "chat-0", &json!({})));
    assert_eq!(said(&part).cause, "silent");
    let mut refused = facts(json!({}));
    refused.pods[0].status = serde_json::from_value(json!({ "conditions": [
        { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available" },
    ] }))
    .unwrap();
    assert_eq!(said(&refused).why, "default-scheduler cannot place it: 0/2 nodes are available");
    // Before the operator has read the PodGroup, what kube-scheduler 1.37 says of a pod is read as well.
    let whole = "pod group is unschedulable, pod group is unschedulable, 0/1 placements are available, first placement status: \
                 minCount (3) cannot be satisfied: 2 scheduled, 0 remaining, pod group preemption: No preemption victims \
                 found for incoming preemptor";
    let conditions = refused.pods[0].status.as_mut().and_then(|it| it.conditions.as_mut()).unwrap();
    conditions[0].message = Some(whole.to_owned());
    let few = "room for at most 2 of the 3 that are needed";
    assert_eq!(said(&refused).why, format!("default-scheduler cannot place it: {few}"));
    let of_pod = Report::of(&Facts { pod: Some("p".to_owned()), ..refused.clone() }).pod.unwrap();
    assert_eq!(of_pod.why, format!("the scheduler cannot place it: {few}"));
    // A gated pod is not unschedulable, and a pod that goes says nothing.
    refused.pods[0].metadata.deletion_timestamp =
        serde_json::from_value(json!("2027-01-01T00:00:00Z")).unwrap();
    assert_eq!(said(&refused).cause, "silent");
}

#[test]
fn a_gang_without_a_label_has_the_scheduler_of_its_pods() {
    let mut facts = with(&[waits("Unschedulable", "no")]);
    facts.gangs[0].metadata.labels = None;
    facts.pods = vec![pod("p", "chat-0-a", "chat-0", &json!({ "schedulerName": "volcano" }))];
    assert_eq!(said(&facts).scheduler, "volcano");
    facts.pods.clear();
    assert_eq!(said(&facts).why, "the scheduler cannot place it: no");
}

#[test]
fn a_sentence_has_an_end() {
    let mut facts = with(&[waits("Unschedulable", "")]);
    facts.gangs[0].status.as_mut().unwrap().conditions[0].message = format!("a\nb {}", "x".repeat(2000));
    let why = said(&facts).why;
    assert_eq!(why.chars().count(), MAX_SENTENCE + 1);
    assert!(!why.contains('\n'), "{why}");
}

#[test]
fn what_needs_attention_comes_first_and_only_what_was_asked_about() {
    let names = |facts: &Facts| Report::of(facts).gangs.into_iter().map(|it| it.name).collect::<Vec<_>>();
    assert_eq!(names(&chat()), ["chat-0", "chat-0-decode-0", "chat-1"]);
    let one = Facts { gang: Some("chat-0-decode-0".to_owned()), ..chat() };
    assert_eq!(names(&one), ["chat-0-decode-0"]);
}

#[test]
fn a_pod_is_told_apart_from_its_gang() {
    let why = |spec| {
        let mut facts = chat();
        facts.pods = vec![pod("p", "chat-0-a", "chat-0", &spec)];
        (facts.pod, facts.gang) = (Some("p".to_owned()), Some("chat-0".to_owned()));
        let report = Report::of(&facts);
        assert_eq!(report.gangs.len(), 1);
        report.pod.unwrap().why
    };
    assert_eq!(why(json!({ "nodeName": "n1" })), "scheduled on node n1");
    assert_eq!(why(gated(&[OURS])), "its scheduling gate is removed when its gang is complete");
    assert_eq!(
        why(gated(&["example.com/quota"])),
        "it has the scheduling gate example.com/quota, which Grove does not manage"
    );
    assert_eq!(why(json!({})), "the scheduler has not answered yet");
}

/// A set of a gang with two pods of which one is gated, and of others with these conditions.
fn growing(others: &[&[Said]]) -> Facts {
    let mut facts = with(RUNS);
    for (number, conditions) in others.iter().enumerate() {
        facts.gangs.push(gang(&format!("chat-{}", number + 1), conditions));
    }
    facts.pods = vec![
        pod("p", "chat-0-a", "chat-0", &json!({ "nodeName": "n1" })),
        pod("q", "chat-0-a", "chat-0", &gated(&[OURS])),
    ];
    (facts.pod, facts.gang) = (Some("q".to_owned()), Some("chat-0".to_owned()));
    facts
}

#[test]
fn pods_above_the_minimum_let_the_minima_of_others_go_first() {
    let waiting: &[Said] = &[waits("Unschedulable", "no")];
    let report = Report::of(&growing(&[waiting]));
    let until = "until gang chat-1 is scheduled, for five minutes at most";
    let got = &report.gangs[0];
    assert_eq!((got.state, got.cause), (State::Running, "minimaFirst"));
    assert_eq!(got.why, format!("running; 1 pod above minAvailable stays gated {until}"));
    assert_eq!(report.pod.unwrap().why, format!("it is above minAvailable and stays gated {until}"));
    let several = said(&growing(&[waiting, RUNS, waiting, waiting]));
    assert!(several.why.contains(" until gang chat-1 and 2 more are scheduled, "), "{}", several.why);
    // Nobody is before it: it goes at once.
    let alone = Report::of(&growing(&[RUNS]));
    assert_eq!(alone.gangs[0].cause, "none");
    assert_eq!(alone.pod.unwrap().why, "its scheduling gate is about to be removed");
    // A gang that is all there holds nobody back.
    let mut whole = growing(&[waiting]);
    whole.pods.remove(1);
    assert_eq!(said(&whole).cause, "none");
}

/// It does not go before its gang has its minimum, however long that takes.
#[test]
fn a_pod_above_the_minimum_of_a_waiting_gang_waits_for_the_minimum() {
    let why = |index: &str, initialized: &str| {
        let mut facts = chat();
        let mut waiting =
            gang("g", &[("Initialized", initialized, "", ""), ("Scheduled", "False", "Unschedulable", "no")]);
        waiting.spec.pod_groups = serde_json::from_value(json!([
            { "name": "c", "podReferences": [], "minReplicas": 1 } ]))
        .unwrap();
        let mut held = pod("p", "c", "g", &gated(&[OURS]));
        let labels = held.metadata.labels.get_or_insert_default();
        labels.insert("grove.io/podclique-pod-index".to_owned(), index.to_owned());
        (facts.gangs, facts.pods) = (vec![waiting], vec![held]);
        (facts.pod, facts.gang) = (Some("p".to_owned()), Some("g".to_owned()));
        Report::of(&facts).pod.unwrap().why
    };
    let above = "it is above minAvailable and stays gated until the minimum of its gang is scheduled";
    assert_eq!(why("1", "True"), above);
    let complete = "its scheduling gate is removed when its gang is complete";
    assert_eq!(why("0", "True"), complete);
    assert_eq!(why("1", "False"), complete);
}

#[test]
fn gangs_are_in_natural_order() {
    let waits: &[Said] = &[waits("Unschedulable", "no")];
    let gangs = ["g-10", "g-9", "g-1"].map(|it| gang(it, waits)).into();
    let names: Vec<String> =
        Report::of(&Facts { gangs, ..chat() }).gangs.into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["g-1", "g-9", "g-10"]);
}

#[test]
fn machines_get_all_of_it() {
    let json =
        serde_json::to_value(Report::of(&Facts { gang: Some("chat-0-decode-0".to_owned()), ..chat() }))
            .unwrap();
    assert_eq!(
        json,
        json!({
            "namespace": "default", "set": "chat", "backendsRead": true,
            "gangs": [{
                "name": "chat-0-decode-0", "state": "waiting", "scheduler": "default-scheduler", "cause": "waitingForBase",
                "why": "waiting for its base gang chat-0 to be scheduled",
                "help": ["`grove why podgang/chat-0` shows what that gang waits for"],
            }],
        })
    );
}

/// The words about the group count pods only; what kept them off nodes is on the pods, and the nodes have the numbers.
#[test]
fn what_keeps_pods_off_nodes_is_told_with_its_fix() {
    let words = "chat-0-a: room for at most 0 of the 1 pods that are needed";
    let refused = "0/2 nodes are available: 2 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is \
                   not helpful for scheduling.";
    let mut waiting = pod("p", "chat-0-a", "chat-0", &gpus(&[8]));
    let condition =
        json!([{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": refused }]);
    waiting.status.as_mut().unwrap().conditions = serde_json::from_value(condition).unwrap();
    let allocatable = ["cpu", "nvidia.com/gpu"].map(|it| (it.to_owned(), Amount::whole(8)));
    let node = |name: &str| Node {
        name: name.to_owned(),
        is_cordoned: true,
        allocatable: allocatable.clone().into(),
        ..Node::default()
    };
    let facts =
        |nodes| Facts { pods: vec![waiting.clone()], nodes, ..with(&[waits("Unschedulable", words)]) };
    let got = said(&facts(Some(vec![node("n0"), node("n1")])));
    assert_eq!(got.why, format!("default-scheduler cannot place it: {words}; 2 of 2 nodes are cordoned"));
    assert_eq!(got.help[0], "uncordon nodes: `kubectl uncordon n0 n1`");
    let json = serde_json::to_value(&got.obstacles).unwrap();
    assert_eq!(json, json!([{ "kind": "cordoned", "text": "2 of 2 nodes are cordoned" }]));
    // Without nodes the scheduler's own count is all there is.
    let got = said(&facts(None));
    assert_eq!(got.why, format!("default-scheduler cannot place it: {words}; 2 nodes are cordoned"));
    // What the scheduler says of the gang itself is not said twice.
    let got = said(&Facts {
        nodes: None,
        ..with(&[waits("Unschedulable", "0/2 nodes are available: 2 node(s) were unschedulable")])
    });
    assert_eq!(got.why.matches("cordoned").count(), 0, "{}", got.why);
    assert_eq!(got.obstacles.len(), 1);
}

/// Where a request fits no node, neither free capacity nor a smaller gang would help.
#[test]
fn no_capacity_is_advised_where_it_would_not_help() {
    let words = "chat-0-a: room for at most 0 of the 1 pods that are needed";
    let node = Node { allocatable: [("cpu".to_owned(), Amount::whole(8))].into(), ..Node::default() };
    let got = said(&Facts {
        pods: vec![pod("p", "chat-0-a", "chat-0", &gpus(&[8]))],
        nodes: Some(vec![node]),
        ..with(&[waits("Unschedulable", words)])
    });
    let fix = "install the device plugin that provides nvidia.com/gpu, or correct the resource name in the pod template";
    assert_eq!(got.help, [fix]);
}

/// Of a required level, the label that nodes have to have.
#[test]
fn labels_of_required_levels_are_looked_for() {
    let key = "topology.example.com/rack";
    let mut facts =
        with(&[waits("Unschedulable", "chat-0-a: no node has the label of a required topology level")]);
    let constraint = json!({ "packConstraint": { "required": key } });
    facts.gangs[0].spec.topology_constraint = serde_json::from_value(constraint).unwrap();
    facts.nodes = Some(vec![Node::default(), Node::default()]);
    let got = said(&facts);
    assert!(got.why.ends_with("; no node has the label topology.example.com/rack"), "{}", got.why);
    assert!(got.help[0].starts_with("label the nodes with topology.example.com/rack"), "{:?}", got.help);
}

#[test]
fn who_preempted_a_gang_is_said_when_its_pods_are_gone() {
    let preempted = |gangs: &[Said]| {
        let key = ("default".to_owned(), "chat-0".to_owned());
        Facts { preemptions: [(key, "preempted by default/high".to_owned())].into(), ..with(gangs) }
    };
    let said_of = |conditions: &[Said]| said(&preempted(conditions)).why;
    let waiting = said_of(&[waits("Unschedulable", "no room")]);
    assert_eq!(waiting, "default-scheduler cannot place it: no room; it was preempted by default/high");
    let lost = ("Unhealthy", "True", "PodsLost", "chat-0-a: 0 pods scheduled, at least 1 needed");
    assert_eq!(said_of(&[waits("Unschedulable", "no room"), lost]), waiting);
    assert_eq!(said_of(RUNS), "running", "it came back");
}
