use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::*;
use crate::commands::why::workload::{
    facts::Facts,
    fixture::{
        KAI, KUBE, VOLCANO, answer, facts, gated, in_kai, in_kube, in_volcano, kai, kai_pods, objects,
        over_limit, phase, placed, pod, refused, with,
    },
    gather::Listed,
    report::{GroupSaid, Report},
};

fn worst(facts: &Facts) -> GroupSaid {
    Report::of(facts).groups.remove(0)
}

/// A PodGroup of kube-scheduler with a minimum and a condition.
fn kube(min: u64, condition: &Value) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": { "name": "pg" },
        "spec": { "schedulingPolicy": { "gang": { "minCount": min } } }, "status": { "conditions": [condition] },
    })
}

fn volcano(min: u64, status: &Value) -> Value {
    json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": { "name": "pg" },
        "spec": { "minMember": min, "queue": "q" }, "status": status,
    })
}

fn many(count: usize, scheduler: &str, more: &Value) -> Vec<Pod> {
    (0..count).map(|it| pod(&format!("train-{it}"), scheduler, more)).collect()
}

/// KAI's group `pg` with a minimum, and with what KAI says of it.
fn group(min: u64) -> (&'static str, Value) {
    (KAI, kai("pg", &json!({ "minMember": min })))
}

fn said(min: u64, more: &Value) -> (&'static str, Value) {
    (KAI, with(group(min).1, more))
}

fn no_room() -> Value {
    answer(&json!([{
        "reason": "PodSchedulingErrors",
        "message": "Resources were found for 1 pods while 2 are required for gang scheduling. Additional pods cannot be \
                    scheduled due to: no nodes with enough resources were found: 3 node(s) didn't have enough resources: GPUs.",
    }]))
}

/// Two pods of it.
fn two(more: &Value) -> Vec<Pod> {
    mixed(more, more)
}

fn mixed(first: &Value, second: &Value) -> Vec<Pod> {
    let of = |name, more: &Value| pod(name, KAI, &with(in_kai("pg", ""), more));
    vec![of("train-0", first), of("train-1", second)]
}

type Row = (&'static str, Facts, State, &'static str, &'static str);

fn check(rows: Vec<Row>) {
    for (what, facts, state, cause, why) in rows {
        let said = worst(&facts);
        assert_eq!((said.state, said.cause, said.why.as_str()), (state, cause, why), "{what}");
    }
}

#[test]
fn groups_of_kai() {
    let waits = json!({});
    check(vec![
        (
            "placed",
            facts(two(&placed()), &[group(2)]),
            State::Placed,
            "none",
            "all of its 2 pods are scheduled",
        ),
        ("one", facts(kai_pods(1, &placed()), &[group(1)]), State::Placed, "none", "its pod is scheduled"),
        (
            "an old answer is not looked at",
            facts(two(&placed()), &[said(2, &no_room())]),
            State::Placed,
            "none",
            "all of its 2 pods are scheduled",
        ),
        (
            "done",
            facts(two(&phase("Succeeded")), &[group(2)]),
            State::Finished,
            "finished",
            "it has finished",
        ),
        (
            "failed",
            facts(two(&phase("Failed")), &[group(2)]),
            State::Finished,
            "finished",
            "it has finished; 2 pods failed",
        ),
        (
            "what succeeded is not missed",
            facts(mixed(&phase("Succeeded"), &placed()), &[group(2)]),
            State::Placed,
            "none",
            "its pod is scheduled",
        ),
        ("no pods", facts(Vec::new(), &[group(2)]), State::Waiting, "noPods", "there are no pods yet"),
        (
            "too few pods, whatever KAI said before",
            facts(two(&waits), &[said(3, &no_room())]),
            State::Waiting,
            "podsMissing",
            "it has 2 pods, and its minimum is 3",
        ),
        (
            "too few, though all are placed",
            facts(two(&placed()), &[group(3)]),
            State::Waiting,
            "podsMissing",
            "it has 2 pods, and its minimum is 3",
        ),
        (
            "gated below the minimum",
            facts(mixed(&waits, &gated()), &[group(2)]),
            State::Waiting,
            "gated",
            "1 pod is gated by example.com/wait, and kai-scheduler waits for that",
        ),
        (
            "gated above the minimum",
            facts(mixed(&waits, &gated()), &[group(1)]),
            State::Waiting,
            "silent",
            "kai-scheduler has not answered yet",
        ),
    ]);
}

#[test]
fn what_kai_answers() {
    let no_queue =
        answer(&json!([{ "reason": "QueueDoesNotExist", "message": "Queue 'team-a' does not exist" }]));
    let waits = json!({});
    check(vec![
        (
            "no queue",
            facts(two(&waits), &[said(2, &no_queue)]),
            State::Waiting,
            "noQueue",
            "kai-scheduler has no queue team-a: Queue 'team-a' does not exist",
        ),
        (
            "beyond the limit",
            facts(two(&waits), &[said(2, &over_limit())]),
            State::Waiting,
            "overQuota",
            "its queue is at its limit: team-a quota has reached the allowable limit of GPUs. Limit is 16 GPUs, currently \
             12 GPUs allocated and workload requested 8 GPUs",
        ),
        (
            "no room",
            facts(two(&waits), &[said(2, &no_room())]),
            State::Waiting,
            "noPlace",
            "kai-scheduler cannot place it: resources for 1 pods were found, the gang requires 2: no nodes with enough \
             resources were found: 3 node(s) didn't have enough resources: GPUs",
        ),
        (
            "no answer for the group, but for a pod",
            facts(two(&refused("no nodes with enough resources were found: 1 node(s) x.")), &[group(2)]),
            State::Waiting,
            "noPlace",
            "kai-scheduler cannot place it: no nodes with enough resources were found: 1 node(s) x",
        ),
        (
            "above its minimum",
            facts(mixed(&placed(), &refused("none")), &[group(1)]),
            State::Partly,
            "aboveMinimum",
            "its minimum is scheduled; 1 pod above it waits: none",
        ),
        (
            "gated above its minimum",
            facts(mixed(&placed(), &gated()), &[group(1)]),
            State::Partly,
            "aboveMinimum",
            "its minimum is scheduled; 1 pod above it waits: gated by example.com/wait",
        ),
    ]);
}

#[test]
fn pods_without_a_group() {
    let warned = |scheduler: &str| {
        let mut objects = objects(vec![pod("train-0", scheduler, &json!({}))], &[]);
        objects.warnings.insert("uid-train-0".to_owned(), "owner Job train: multiple owners".to_owned());
        Facts::of(objects, &grove_scheduler::builtin::builtin())
    };
    check(vec![
        (
            "KAI wants a group",
            facts(many(2, KAI, &json!({})), &[]),
            State::Waiting,
            "notGrouped",
            "2 pods are in no group, and kai-scheduler schedules only grouped pods: no pod grouper has grouped them",
        ),
        (
            "the pod grouper says why",
            warned(KAI),
            State::Waiting,
            "grouperWarns",
            "the pod grouper cannot group it: owner Job train: multiple owners",
        ),
        (
            "kube-scheduler wants none",
            facts(many(1, KUBE, &refused("0/3 nodes are available: 3 Insufficient cpu.")), &[]),
            State::Waiting,
            "noPlace",
            "default-scheduler cannot place it: 0/3 nodes are available: 3 Insufficient cpu",
        ),
        (
            "a gate",
            facts(many(1, KUBE, &gated()), &[]),
            State::Waiting,
            "gated",
            "1 pod is gated by example.com/wait, and default-scheduler waits for that",
        ),
        (
            "a scheduler that nobody knows",
            facts(many(1, "my-own", &json!({})), &[]),
            State::Waiting,
            "silent",
            "my-own has not answered yet",
        ),
        (
            "it is placed all the same",
            facts(many(1, KAI, &placed()), &[]),
            State::Placed,
            "none",
            "its pod is scheduled",
        ),
        ("nothing at all", facts(Vec::new(), &[]), State::Waiting, "noPods", "there are no pods yet"),
    ]);
    let mut idle = facts(Vec::new(), &[]);
    idle.asked.idle = Some("it is suspended");
    assert_eq!(worst(&idle).why, "there are no pods: it is suspended");
}

#[test]
fn groups_that_cannot_be_seen() {
    let unread = |more: &Value| {
        let mut objects = objects(kai_pods(1, more), &[]);
        objects.groups.insert(KAI.to_owned(), Listed::Refused("podgroups is forbidden".to_owned()));
        Facts::of(objects, &grove_scheduler::builtin::builtin())
    };
    check(vec![
        (
            "it is not there",
            facts(kai_pods(1, &json!({})), &[]),
            State::Waiting,
            "groupGone",
            "its pods refer to the group pg (podgroups.scheduling.run.ai), which does not exist",
        ),
        (
            "it may not be read",
            unread(&json!({})),
            State::Waiting,
            "groupUnread",
            "the group pg (podgroups.scheduling.run.ai) cannot be read: podgroups is forbidden",
        ),
        (
            "its pods say enough",
            unread(&refused("no room.")),
            State::Waiting,
            "noPlace",
            "kai-scheduler cannot place it: no room",
        ),
    ]);
}

#[test]
fn groups_of_the_others() {
    let few = json!({
        "type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable",
        "message": "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining",
    });
    let gang = |count: usize, more: &Value| many(count, KUBE, &with(in_kube("pg"), more));
    let one_gated = vec![
        pod("train-0", KUBE, &in_kube("pg")),
        pod("train-1", KUBE, &in_kube("pg")),
        pod("train-2", KUBE, &with(in_kube("pg"), &gated())),
    ];
    let job = |count: usize| many(count, VOLCANO, &in_volcano("pg"));
    let newest = json!({
        "phase": "Inqueue",
        "conditions": [{
            "type": "Unschedulable", "status": "True", "reason": "NotEnoughResources",
            "lastTransitionTime": "2027-01-01T00:00:00Z",
            "message": "2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 \
                        Unschedulable. Origin reason is a-0: 0/2 nodes are unavailable: 2 Insufficient cpu.",
        }],
    });
    check(vec![
        (
            "kube-scheduler finds no room",
            facts(gang(2, &json!({})), &[(KUBE, kube(2, &few))]),
            State::Waiting,
            "noPlace",
            "default-scheduler cannot place it: pg: room for at most 1 of the 2 pods that are needed",
        ),
        (
            "kube-scheduler misses pods",
            facts(gang(1, &json!({})), &[(KUBE, kube(2, &few))]),
            State::Waiting,
            "podsMissing",
            "it has 1 pod, and its minimum is 2",
        ),
        (
            "one gate holds all of it",
            facts(one_gated, &[(KUBE, kube(2, &json!({})))]),
            State::Waiting,
            "gated",
            "1 pod is gated by example.com/wait, and default-scheduler waits for that",
        ),
        (
            "Volcano has not let it in",
            facts(job(2), &[(VOLCANO, volcano(2, &json!({ "phase": "Pending" })))]),
            State::Waiting,
            "queued",
            "not yet admitted to queue \"q\"",
        ),
        (
            "Volcano finds no room",
            facts(job(2), &[(VOLCANO, volcano(2, &newest))]),
            State::Waiting,
            "noPlace",
            "volcano cannot place it: 2 of 2 pods cannot be placed: a-0: 0/2 nodes are unavailable: 2 Insufficient cpu",
        ),
    ]);
}
