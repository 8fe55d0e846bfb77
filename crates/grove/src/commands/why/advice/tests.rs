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
    of(cause, &Around { facts: &facts, gang: &facts.gangs[0] })
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
    let room = "free, or add nodes with, room for 3 more pods of chat-0-decode";
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

/// In the form flat the PodGroup has the name of the gang, and counts the pods of all cliques.
#[test]
fn a_group_that_is_called_like_the_gang_is_the_gang() {
    let words = "chat-0: room for at most 2 of the 4 pods that are needed";
    assert_eq!(of_words(words), ["free, or add nodes with, room for 2 more pods"]);
    let pods = vec![decode("a", &gpus(&[8])), pod("r", "chat-0-router", "chat-0", &gpus(&[8]))];
    let got = advised(&Cause::NoPlace(words.to_owned()), pods);
    assert_eq!(got, ["free, or add nodes with, room for 2 more pods (each 8 nvidia.com/gpu)"]);
}

#[test]
fn feature_gates_are_those_of_kube_scheduler() {
    let help = |scheduler: &str| {
        let mut facts = Facts { gangs: vec![gang("chat-0", &[])], ..chat() };
        let labels = facts.gangs[0].metadata.labels.as_mut().unwrap();
        labels.insert("grove.io/scheduler-name".to_owned(), scheduler.to_owned());
        of(&Cause::NotHonoured(String::new()), &Around { facts: &facts, gang: &facts.gangs[0] })
    };
    assert!(help("default-scheduler")[0].contains("feature gates"));
    assert_eq!(
        help("volcano"),
        ["see whether volcano is configured to place gangs: docs/backends says what it needs"]
    );
}

#[test]
fn each_obstacle_has_its_cure() {
    let queue = "create the queue, or let the set name one that default-scheduler has";
    let rows: [(&str, &[&str]); 9] = [
        ("0/2 nodes are available", &["free, or add nodes with, room for its pods"]),
        ("3 of 4 pods find no place: no nodes", &["free, or add nodes with, room for 3 more pods"]),
        (
            "resources for 2 pods were found, the gang requires 3: 2 node(s) had untolerated taint",
            &[
                "free, or add nodes with, room for 1 more pod",
                "or let the pods tolerate the taints of the nodes that have room",
            ],
        ),
        (
            "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector",
            &[
                "free, or add nodes with, room for its pods",
                "or see whether any node has the labels that the pods select",
            ],
        ),
        (
            "no rack of topology dc has enough resources for sub-group chat-0-b: r1",
            &[
                "free, or add nodes with, room for its pods of chat-0-b in one domain of rack",
                "or require a wider level of the topology than rack",
                "or make chat anew with a smaller minAvailable for chat-0-b: it cannot be changed later",
            ],
        ),
        ("queue 'x' does not exist", &[queue]),
        (
            "Requested topology dc does not exist",
            &["create the topology object that default-scheduler looks for"],
        ),
        (
            "Workload requested 4 GPUs, but team-a quota is 2 GPUs",
            &[
                "raise the quota of the gang's queue, or free what others in it use",
                "or put the set into another queue",
            ],
        ),
        ("", &["free, or add nodes with, room for its pods"]),
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
        (Cause::Unseen, "see whether Grove's operator runs"),
        (Cause::PodsRefused(words(quota)), "raise the ResourceQuota gpus of namespace default"),
        (
            Cause::PodsRefused(words("pods \"a\" is forbidden: hostNetwork is not allowed")),
            "change the pod template",
        ),
        (
            Cause::PodsRefused(words("the scheduler backend changed the pod's owners")),
            "mend what these words are about",
        ),
        (Cause::PodsMissing(words("")), "`grove status chat` says which pods are missing"),
        (Cause::BackendNotConfigured, "add a profile default-scheduler to scheduler.profiles"),
        (
            Cause::BackendNotReady(words("")),
            "put in place what is missing (`grove backends default-scheduler`)",
        ),
        (Cause::BackendFailed(words("no queue: label the PodCliqueSet")), "create the queue"),
        (Cause::BackendFailed(words(no_right)), "give the operator the right"),
        (Cause::BackendFailed(words("no HyperNode has the tierName")), "mend what these words are about"),
        (Cause::TopologyNotFound(words("")), "create the ClusterTopologyBinding"),
        (Cause::HeldByOthers(words("example.com/q")), "see to whoever set the gate example.com/q"),
        (Cause::NotLetGo, "if this lasts, `kubectl describe podgang chat-0`"),
        (Cause::Silent(words("")), "if this lasts, see whether the scheduler default-scheduler runs"),
        (Cause::NotHonoured(words("")), "switch on in the scheduler what the API server has switched on"),
        (
            Cause::MinimaFirst { pods: 1, until: words("") },
            "`grove why chat` says what the other gangs wait for",
        ),
        (Cause::NotReady(words("")), "`grove status chat` says what its pods wait for"),
        (Cause::Unhealthy(words("")), "`grove status chat` says what became of its pods"),
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
        ["`grove why podgang/chat-base` says what that one waits for"]
    );
    assert_eq!(advised(&Cause::WaitingForBase, Vec::new()), Vec::<String>::new());
}
