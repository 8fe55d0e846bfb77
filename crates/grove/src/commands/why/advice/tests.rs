use serde_json::{Value, json};

use super::*;
use crate::commands::why::{
    facts::Facts,
    fixture::{after, chat, gang, gpus, pod},
    room::size,
};

/// What is advised for a gang `chat-0` with these pods.
fn advised(cause: &Cause, pods: Vec<Pod>) -> Vec<String> {
    let facts = Facts { gangs: vec![gang("chat-0", &[])], pods, ..chat() };
    let around = Around { facts: &facts, gang: &facts.gangs[0] };
    of(cause, &around, &obstacles(cause, &around))
}

fn of_words(words: &str) -> Vec<String> {
    advised(&Cause::NoPlace(words.to_owned()), Vec::new())
}

fn decode(name: &str, spec: &Value) -> Pod {
    pod(name, "chat-0-decode", "chat-0", spec)
}

#[test]
fn what_is_missing_is_counted_in_pods_and_devices() {
    let words = "chat-0-decode: room for at most 1 of the 4 pods that are needed";
    let first = |pods: Vec<Pod>| advised(&Cause::NoPlace(words.to_owned()), pods).remove(0);
    let room = "free up, or add, capacity for 3 more pods of chat-0-decode";
    assert_eq!(first(Vec::new()), room);
    // All containers of a pod count, and a limit is not counted a second time.
    assert_eq!(first(vec![decode("a", &gpus(&[4, 2]))]), format!("{room} (each 6 nvidia.com/gpu)"));
    // Pods of other cliques, and those that have their place, say nothing of what is missing.
    let mut placed = gpus(&[1]);
    placed["nodeName"] = json!("n");
    let others = vec![
        pod("r", "chat-0-router", "chat-0", &gpus(&[2])),
        decode("b", &placed),
        decode("a", &gpus(&[8])),
    ];
    assert_eq!(first(others), format!("{room} (each 8 nvidia.com/gpu)"));
    let unlike = vec![decode("a", &gpus(&[8])), decode("b", &gpus(&[4]))];
    assert_eq!(first(unlike), room);
    assert_eq!(first(vec![decode("a", &json!({ "containers": [{ "name": "c" }] }))]), room);
}

#[test]
fn what_a_device_limit_says_is_a_request() {
    let limited =
        json!({ "containers": [{ "name": "c", "resources": { "limits": { "nvidia.com/gpu": "8" } } }] });
    assert_eq!(size(&decode("a", &limited)), "8 nvidia.com/gpu");
}

/// Where the selector matches no node, nothing else is of use; where it matches some, room on those is.
#[test]
fn capacity_is_not_advised_where_no_node_is_selected() {
    let none = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector";
    assert_eq!(of_words(none).len(), 1, "{:?}", of_words(none));
    let some = "0/3 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, 1 Insufficient nvidia.com/gpu";
    assert_eq!(of_words(some).last().map(String::as_str), Some("or free up, or add, capacity for its pods"));
}

#[test]
fn what_is_needed_together_is_joined_with_and() {
    let needed = |it: &str| Help::Needed(it.to_owned());
    let other = |it: &str| Help::Alternative(it.to_owned());
    assert_eq!(
        room::joined(vec![needed("a"), needed("b"), Help::Further("c".to_owned())]),
        ["a", "and b", "if that is not enough, c"]
    );
    assert_eq!(room::joined(vec![other("a"), other("b")]), ["a", "or b"]);
    // No node offers the device, and no node is selected: both have to change.
    let absent = Obstacle::ResourceAbsent { resource: "x/y".to_owned() };
    let selector = Obstacle::NotSelected { count: 2, all: true };
    let taints = Obstacle::Tainted { count: 1 };
    let shortage = Shortage { level: Some("rack"), ..Shortage::default() };
    let help = room::help(&shortage, &[absent, selector, taints], std::iter::empty());
    assert_eq!(help.iter().filter(|it| matches!(it, Help::Needed(_))).count(), 2);
    assert!(matches!(help.last(), Some(Help::Further(_))), "neither room nor another level: {help:?}");
}

/// In the form flat the PodGroup has the name of the gang, and counts the pods of all cliques.
#[test]
fn a_group_that_is_called_like_the_gang_is_the_gang() {
    let words = "chat-0: room for at most 2 of the 4 pods that are needed";
    assert_eq!(of_words(words), ["free up, or add, capacity for 2 more pods"]);
    let pods = vec![decode("a", &gpus(&[8])), pod("r", "chat-0-router", "chat-0", &gpus(&[8]))];
    let got = advised(&Cause::NoPlace(words.to_owned()), pods);
    assert_eq!(got, ["free up, or add, capacity for 2 more pods (each 8 nvidia.com/gpu)"]);
}

#[test]
fn feature_gates_are_those_of_kube_scheduler() {
    let help = |scheduler: &str| {
        let mut facts = Facts { gangs: vec![gang("chat-0", &[])], ..chat() };
        let labels = facts.gangs[0].metadata.labels.as_mut().unwrap();
        labels.insert("grove.io/scheduler-name".to_owned(), scheduler.to_owned());
        of(&Cause::NotHonoured(String::new()), &Around { facts: &facts, gang: &facts.gangs[0] }, &[])
    };
    assert!(help("default-scheduler")[0].contains("feature gates"));
    assert_eq!(help("volcano"), ["check that volcano is configured for gang scheduling (docs/backends)"]);
}

#[test]
fn each_obstacle_has_its_cure() {
    let queue = "create the queue, or set another queue on the set that default-scheduler has";
    let rows: [(&str, &[&str]); 9] = [
        ("0/2 nodes are available", &["free up, or add, capacity for its pods"]),
        ("3 of 4 pods cannot be placed: no nodes", &["free up, or add, capacity for 3 more pods"]),
        (
            "resources for 2 pods were found, the gang requires 3: 2 node(s) had untolerated taint",
            &[
                "add tolerations for the taints of the 2 nodes, or remove the taints",
                "or free up, or add, capacity for 1 more pod",
            ],
        ),
        (
            "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector",
            &["correct the nodeSelector or affinity in the pod template, or label nodes to match it"],
        ),
        (
            "no rack of topology dc has enough resources for sub-group chat-0-b: r1",
            &[
                "free up, or add, capacity for its pods of chat-0-b in one domain of rack",
                "or require a wider topology level than rack",
                "or recreate chat with a smaller minAvailable for chat-0-b (it is immutable)",
            ],
        ),
        ("queue 'x' does not exist", &[queue]),
        (
            "Requested topology dc does not exist",
            &["create the topology object named above for default-scheduler"],
        ),
        (
            "Workload requested 4 GPUs, but team-a quota is 2 GPUs",
            &[
                "raise the quota of the gang's queue, or free up capacity in it",
                "or move the set to another queue",
            ],
        ),
        ("", &["free up, or add, capacity for its pods"]),
    ];
    for (words, want) in rows {
        let got = of_words(words);
        let got: Vec<&str> = got.iter().map(String::as_str).take(want.len()).collect();
        assert_eq!(got, want, "{words}");
    }
    assert_eq!(of_words("queue 'x' does not exist").len(), 2, "no room is advised where a queue is missing");
}

#[test]
fn each_cause_has_its_advice() {
    let words = |text: &str| text.to_owned();
    let quota =
        "pods \"a\" is forbidden: exceeded quota: gpus, requested: pods=1, used: pods=2, limited: pods=2";
    let no_right =
        "podgroups.scheduling.run.ai is forbidden: User \"x\" cannot create resource \"podgroups\"";
    let rows: Vec<(Cause, &str)> = vec![
        (Cause::Unseen, "check that the Grove operator is running"),
        (Cause::PodsRefused(words(quota)), "raise the ResourceQuota gpus of namespace default"),
        (
            Cause::PodsRefused(words("chat-0-a: waiting for quota: gang old-0 is older")),
            "raise the ResourceQuotas of namespace default, or free what others use of them",
        ),
        (
            Cause::PodsRefused(words("pods \"a\" is forbidden: hostNetwork is not allowed")),
            "change the pod template",
        ),
        (
            Cause::PodsRefused(words("the scheduler backend changed the pod's owners")),
            "fix the cause named above",
        ),
        (Cause::PodsMissing(words("")), "`grove status chat` shows which pods are missing"),
        (Cause::BackendNotConfigured, "add a profile default-scheduler to scheduler.profiles"),
        (
            Cause::BackendNotReady(words("")),
            "install what is missing (`grove backends default-scheduler` shows it)",
        ),
        (Cause::BackendFailed(words("no queue: label the PodCliqueSet")), "create the queue"),
        (Cause::BackendFailed(words(no_right)), "grant the operator that permission"),
        (Cause::BackendFailed(words("no HyperNode has the tierName")), "fix the cause named above"),
        (Cause::TopologyNotFound(words("")), "create the ClusterTopologyBinding"),
        (Cause::HeldByOthers(words("example.com/q")), "find the controller that set the gate example.com/q"),
        (Cause::NotLetGo, "if this does not change, look at `kubectl describe podgang chat-0`"),
        (
            Cause::Silent(words("")),
            "if this does not change, check that the scheduler default-scheduler is running",
        ),
        (Cause::NotHonoured(words("")), "enable the feature gates of the API server in kube-scheduler too"),
        (
            Cause::MinimaFirst { pods: 1, until: words("") },
            "`grove why chat` shows what the other gangs wait for",
        ),
        (Cause::NotReady(words("")), "`grove status chat` shows what its pods wait for"),
        (Cause::Unhealthy(words("")), "`grove status chat` shows its pods"),
    ];
    for (cause, start) in rows {
        let got = advised(&cause, Vec::new());
        assert!(got.first().is_some_and(|it| it.starts_with(start)), "{cause:?}: {got:?}");
    }
    assert_eq!(advised(&Cause::None, Vec::new()), Vec::<String>::new());
}

#[test]
fn who_waits_for_another_gang_is_sent_there() {
    let scaled = vec![after(decode("a", &json!({})), "chat-base")];
    assert_eq!(
        advised(&Cause::WaitingForBase, scaled),
        ["`grove why podgang/chat-base` shows what that gang waits for"]
    );
    assert_eq!(advised(&Cause::WaitingForBase, Vec::new()), Vec::<String>::new());
}
