use serde_json::{Value, json};

use crate::commands::why::workload::{
    facts::Facts,
    fixture::{
        KAI, KUBE, VOLCANO, answer, facts, gated, in_kube, in_volcano, kai, kai_pods, over_limit, placed,
        pod, refused, with,
    },
    report::Report,
};

fn help(facts: &Facts) -> Vec<String> {
    Report::of(facts).groups.remove(0).help
}

fn waits(min: u64, said: &Value) -> Facts {
    let group = with(kai("pg", &json!({ "minMember": min })), said);
    facts(kai_pods(2, &json!({})), &[(KAI, group)])
}

fn said(reason: &str, message: &str) -> Value {
    answer(&json!([{ "reason": reason, "message": message }]))
}

/// Of a pod that was asked about, the owner makes the others.
#[test]
fn the_owner_of_a_pod_makes_the_others() {
    let mut facts = waits(3, &json!({}));
    (facts.asked.api_version, facts.asked.kind, facts.asked.name) =
        ("v1".to_owned(), "Pod".to_owned(), "train-0".to_owned());
    assert!(help(&facts)[0].starts_with("`kubectl describe job/train -n lab` says"), "{:?}", help(&facts));
    facts.members[0].pod.metadata.owner_references = None;
    assert!(help(&facts)[0].starts_with("`kubectl describe pod/train-0 -n lab` says"), "{:?}", help(&facts));
}

/// Each with what is to help.
fn check(rows: Vec<(&str, Facts, Vec<&str>)>) {
    for (what, facts, want) in rows {
        assert_eq!(help(&facts), want, "{what}");
    }
}

#[test]
fn pods_and_groups_that_are_not_as_they_should_be() {
    let describe = "`kubectl describe job/train -n lab` says why pods are not made: a quota of the namespace, or who makes them";
    check(vec![
        ("placed", facts(kai_pods(1, &placed()), &[]), vec![]),
        (
            "no pods",
            facts(vec![], &[]),
            vec!["if this lasts, `kubectl describe job/train -n lab` says why its pods are not made"],
        ),
        (
            "too few pods",
            waits(3, &json!({})),
            vec![describe, "or lower the minimum, where the kind of the workload has a setting for it"],
        ),
        (
            "no grouper for KAI",
            facts(vec![pod("p", KAI, &json!({}))], &[]),
            vec![
                "see whether a pod grouper runs for kai-scheduler, and whether its selectors take this namespace and these \
                 pods",
            ],
        ),
        (
            "no group for Volcano",
            facts(vec![pod("p", VOLCANO, &json!({}))], &[]),
            vec!["see whether Volcano's controllers run: they make groups for pods that have none"],
        ),
        (
            "kube's group is gone",
            facts(vec![pod("p", KUBE, &in_kube("pg"))], &[]),
            vec!["create podgroups.scheduling.k8s.io pg, or make the pods anew"],
        ),
        (
            "another's group is gone",
            facts(vec![pod("p", VOLCANO, &in_volcano("pg"))], &[]),
            vec![
                "see whether a pod grouper runs for volcano: it makes the group anew",
                "or create it, where the pods name a group of your own",
            ],
        ),
        (
            "a gate",
            facts(vec![pod("p", KUBE, &gated())], &[]),
            vec!["see to whoever set the gate example.com/wait and has to lift it"],
        ),
    ]);
    let volcano = json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1", "metadata": { "name": "pg" }, "spec": { "minMember": 1, "queue": "q" },
        "status": { "phase": "Pending" },
    });
    let queued = facts(vec![pod("p", VOLCANO, &in_volcano("pg"))], &[(VOLCANO, volcano)]);
    assert_eq!(help(&queued), ["wait, or free what others in the queue q use, or raise what it may have"]);
    let mut idle = facts(vec![], &[]);
    idle.asked.idle = Some("it is suspended");
    assert_eq!(help(&idle), ["let job/train go on, or ask for its pods"]);
}

#[test]
fn groups_that_are_refused() {
    let room = "Resources were found for 0 pods while 2 are required for gang scheduling. Additional pods cannot be \
                scheduled due to: no nodes with enough resources were found: 3 node(s) had untolerated taint(s).";
    let mut over_quota = over_limit();
    over_quota["status"]["schedulingConditions"][0]["reasons"][0]["reason"] =
        json!("NonPreemptibleOverQuota");
    check(vec![
        (
            "no queue",
            waits(2, &said("QueueDoesNotExist", "Queue 'team-a' does not exist")),
            vec![
                "create the queue team-a, or let the workload name one that kai-scheduler has (label kai.scheduler/queue)",
            ],
        ),
        (
            "beyond the limit",
            waits(2, &over_limit()),
            vec![
                "raise the limit of queue team-a by 4 nvidia.com/gpu, or free as much in it",
                "or put the workload into another queue, or let it ask for less",
            ],
        ),
        (
            "beyond the quota",
            waits(2, &over_quota),
            vec![
                "raise the quota of queue team-a by 6 nvidia.com/gpu, or free as much in it",
                "or let the workload be preemptible (label kai.scheduler/preemptibility: preemptible): only what is not has \
                 to stay within the quota",
                "or put the workload into another queue, or let it ask for less",
            ],
        ),
        (
            "beyond the limit, without details",
            waits(2, &said("OverLimit", "team-a quota has reached the allowable limit of GPUs.")),
            vec![
                "raise the quota of its queue, or free what others in it use",
                "or put the workload into another queue",
            ],
        ),
        (
            "no topology",
            waits(2, &said("PodSchedulingErrors", "Requested topology dc does not exist")),
            vec!["create the topology object that kai-scheduler looks for"],
        ),
        (
            "no room",
            waits(2, &said("PodSchedulingErrors", room)),
            vec![
                "free, or add nodes with, room for 2 more pods (each 8 nvidia.com/gpu)",
                "or let the pods tolerate the taints of the nodes that have room",
            ],
        ),
        (
            "silence",
            waits(2, &json!({})),
            vec!["if this lasts, see whether the scheduler kai-scheduler runs"],
        ),
        (
            "by itself",
            facts(
                vec![pod("p", KUBE, &refused("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."))],
                &[],
            ),
            vec!["free, or add nodes with, room for its pods (each 8 nvidia.com/gpu)"],
        ),
    ]);
}
