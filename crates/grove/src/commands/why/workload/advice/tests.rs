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
    assert!(help(&facts)[0].starts_with("`kubectl describe job/train -n lab` shows"), "{:?}", help(&facts));
    facts.members[0].pod.metadata.owner_references = None;
    assert!(help(&facts)[0].starts_with("`kubectl describe pod/train-0 -n lab` shows"), "{:?}", help(&facts));
}

/// Each with what is to help.
fn check(rows: Vec<(&str, Facts, Vec<&str>)>) {
    for (what, facts, want) in rows {
        assert_eq!(help(&facts), want, "{what}");
    }
}

#[test]
fn pods_and_groups_that_are_not_as_they_should_be() {
    let describe = "`kubectl describe job/train -n lab` shows why pods are not created, for instance a quota of the namespace";
    check(vec![
        ("placed", facts(kai_pods(1, &placed()), &[]), vec![]),
        (
            "no pods",
            facts(vec![], &[]),
            vec![
                "if this does not change, `kubectl describe job/train -n lab` shows why its pods are not created",
            ],
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
                "check that a pod grouper is running for kai-scheduler and that its selectors match this namespace and \
                 these pods",
            ],
        ),
        (
            "no group for Volcano",
            facts(vec![pod("p", VOLCANO, &json!({}))], &[]),
            vec!["check that Volcano's controllers are running: they create groups for pods that have none"],
        ),
        (
            "kube's group is gone",
            facts(vec![pod("p", KUBE, &in_kube("pg"))], &[]),
            vec!["create podgroups.scheduling.k8s.io pg, or recreate the pods"],
        ),
        (
            "another's group is gone",
            facts(vec![pod("p", VOLCANO, &in_volcano("pg"))], &[]),
            vec![
                "check that a pod grouper is running for volcano: it recreates the group",
                "or create it, if the pods refer to a group of your own",
            ],
        ),
        (
            "a gate",
            facts(vec![pod("p", KUBE, &gated())], &[]),
            vec!["find the controller that set the gate example.com/wait: it has to remove it"],
        ),
    ]);
    let volcano = json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1", "metadata": { "name": "pg" }, "spec": { "minMember": 1, "queue": "q" },
        "status": { "phase": "Pending" },
    });
    let queued = facts(vec![pod("p", VOLCANO, &in_volcano("pg"))], &[(VOLCANO, volcano)]);
    assert_eq!(help(&queued), ["wait, free up capacity in the queue q, or raise its limits"]);
    let mut idle = facts(vec![], &[]);
    idle.asked.idle = Some("it is suspended");
    assert_eq!(help(&idle), ["resume job/train, or scale it up"]);
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
                "create the queue team-a, or set another queue that kai-scheduler has (label kai.scheduler/queue)",
            ],
        ),
        (
            "beyond the limit",
            waits(2, &over_limit()),
            vec![
                "raise the limit of queue team-a by 4 nvidia.com/gpu, or free up as much in it",
                "or move the workload to another queue, or let it request less",
            ],
        ),
        (
            "beyond the quota",
            waits(2, &over_quota),
            vec![
                "raise the quota of queue team-a by 6 nvidia.com/gpu, or free up as much in it",
                "or make the workload preemptible (label kai.scheduler/preemptibility: preemptible): the quota holds only \
                 for workloads that are not",
                "or move the workload to another queue, or let it request less",
            ],
        ),
        (
            "beyond the limit, without details",
            waits(2, &said("OverLimit", "team-a quota has reached the allowable limit of GPUs.")),
            vec![
                "raise the quota of its queue, or free up capacity in it",
                "or move the workload to another queue",
            ],
        ),
        (
            "no topology",
            waits(2, &said("PodSchedulingErrors", "Requested topology dc does not exist")),
            vec!["create the topology object named above for kai-scheduler"],
        ),
        (
            "no room",
            waits(2, &said("PodSchedulingErrors", room)),
            vec![
                "add tolerations for the taints of the 3 nodes, or remove the taints",
                "or free up, or add, capacity for 2 more pods (each 8 nvidia.com/gpu)",
            ],
        ),
        (
            "silence",
            waits(2, &json!({})),
            vec!["if this does not change, check that the scheduler kai-scheduler is running"],
        ),
        (
            "by itself",
            facts(
                vec![pod("p", KUBE, &refused("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."))],
                &[],
            ),
            vec!["free up, or add, capacity for its pods (each 8 nvidia.com/gpu)"],
        ),
    ]);
}
