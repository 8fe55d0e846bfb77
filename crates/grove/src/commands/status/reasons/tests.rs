use serde_json::{Value, json};

use super::*;
use crate::commands::status::fixture::{clique, condition, gang, pod, ready};

fn bound(status: &Value) -> Value {
    json!({ "spec": { "nodeName": "node" }, "status": status })
}

fn waiting(reason: &str, message: &str) -> Value {
    json!([{
        "name": "main", "ready": false, "restartCount": 0, "image": "", "imageID": "",
        "state": { "waiting": { "reason": reason, "message": message } },
    }])
}

/// What is said of one pod, in a gang with these conditions.
fn said(more: &Value, conditions: &[(&str, &str, &str, &str)], parents: Vec<&str>) -> Vec<String> {
    let (clique, gang) = (clique("chat-0-decode", "chat-0", 1, 1), gang("chat-0", "Pending", conditions));
    let around = Around { clique: &clique, gang: Some(&gang), parents };
    of(&around, &[&pod("chat-0-decode", 0, more)]).into_iter().map(|it| it.why).collect()
}

#[test]
fn each_state_of_a_pod_has_its_words() {
    let gate = |name: &str| json!({ "spec": { "schedulingGates": [{ "name": name }] } });
    let crashed = json!([{
        "name": "main", "ready": false, "restartCount": 3, "image": "", "imageID": "",
        "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 10s" } },
        "lastState": { "terminated": { "exitCode": 137 } },
    }]);
    let running = json!([{
        "name": "main", "ready": false, "restartCount": 0, "image": "", "imageID": "",
        "state": { "running": { "startedAt": "2027-01-01T00:00:00Z" } },
    }]);
    let rows: Vec<(Value, &[&str])> = vec![
        (ready(), &[]),
        (gate("example.com/quota"), &["gated by example.com/quota, which Grove does not manage"]),
        (gate(gates::POD_GANG_PENDING), &["gated until every pod of gang chat-0 exists"]),
        (json!({}), &["waiting for the scheduler default-scheduler"]),
        (
            json!({ "status": { "conditions": [
                { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes" },
            ] } }),
            &["the scheduler cannot place it: 0/2 nodes"],
        ),
        // What the API server says of gates is not what the scheduler says of nodes.
        (
            json!({ "status": { "conditions": [{
                "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }] } }),
            &["waiting for the scheduler default-scheduler"],
        ),
        (bound(&json!({ "phase": "Pending" })), &["starting"]),
        (bound(&json!({ "containerStatuses": waiting("ContainerCreating", "") })), &["starting"]),
        (
            bound(&json!({ "containerStatuses": waiting("ImagePullBackOff", "Back-off pulling image") })),
            &["container main: ImagePullBackOff: Back-off pulling image"],
        ),
        (
            bound(
                &json!({ "initContainerStatuses": waiting("CreateContainerConfigError", "no such secret") }),
            ),
            &["container main: CreateContainerConfigError: no such secret"],
        ),
        (
            bound(&json!({ "containerStatuses": crashed })),
            &["container main: CrashLoopBackOff: back-off 10s: it ended with exit code 137"],
        ),
        (bound(&json!({ "phase": "Running", "containerStatuses": running })), &["running, not ready yet"]),
        // These two do not count: another pod is wanted in their place.
        (
            json!({ "status": { "phase": "Failed", "reason": "Evicted", "message": "disk" } }),
            &["failed: Evicted: disk", "not created yet"],
        ),
        (
            json!({ "metadata": { "deletionTimestamp": "2027-01-01T00:00:00Z" } }),
            &["being deleted", "not created yet"],
        ),
    ];
    for (more, want) in rows {
        assert_eq!(said(&more, &[], Vec::new()), want, "{more}");
    }
}

#[test]
fn a_scaled_gang_waits_for_its_base() {
    let gated = json!({
        "metadata": { "labels": { "grove.io/podgang": "chat-0-pool-1", "grove.io/base-podgang": "chat-0" } },
        "spec": { "schedulingGates": [{ "name": gates::POD_GANG_PENDING }] },
    });
    let complete = ("Initialized", "True", "AllPodsCreated", "");
    let waits = ("Scheduled", "False", "WaitingForBaseGang", "");
    assert_eq!(
        said(&gated, &[complete, waits], Vec::new()),
        ["gated until its base gang chat-0 is scheduled"]
    );
    assert_eq!(said(&gated, &[waits], Vec::new()), ["gated until every pod of gang chat-0-pool-1 exists"]);
    assert_eq!(said(&gated, &[complete], Vec::new()), ["scheduling gate about to be removed"]);
    let placed = ("Scheduled", "True", "MinimumBound", "");
    assert_eq!(
        said(&gated, &[complete, placed], Vec::new()),
        ["gated until the other gangs of the set have their minimum scheduled"]
    );
}

/// It waits for the minimum of its gang, however long that takes.
#[test]
fn a_pod_above_the_minimum_waits_for_the_minimum() {
    let gated = |index: &str| {
        json!({
            "metadata": { "labels": { "grove.io/podclique-pod-index": index } },
            "spec": { "schedulingGates": [{ "name": gates::POD_GANG_PENDING }] },
        })
    };
    let complete = ("Initialized", "True", "AllPodsCreated", "");
    let no_place = ("Scheduled", "False", "Unschedulable", "0/2 nodes");
    let above = "gated: above minAvailable, until the minimum of gang chat-0 is scheduled";
    assert_eq!(said(&gated("1"), &[complete, no_place], Vec::new()), [above]);
    assert_eq!(said(&gated("0"), &[complete, no_place], Vec::new()), ["scheduling gate about to be removed"]);
}

#[test]
fn a_preempted_pod_says_so() {
    let target = |reason: &str| {
        json!({
            "metadata": { "deletionTimestamp": "2027-01-01T00:00:00Z" },
            "status": { "conditions": [{ "type": "DisruptionTarget", "status": "True", "reason": reason,
                "message": "default-scheduler: preempting to accommodate a higher priority pod" }] },
        })
    };
    let want =
        "being deleted: preempted by default-scheduler (preempting to accommodate a higher priority pod)";
    assert_eq!(said(&target("PreemptionByScheduler"), &[], Vec::new()), [want, "not created yet"]);
    let mut by_gang = target("PreemptionByScheduler");
    by_gang["status"]["conditions"][0]["message"] = json!("preempted by default/high");
    assert_eq!(said(&by_gang, &[], Vec::new())[0], "being deleted: preempted by default/high");
    assert_eq!(said(&target("EvictionByEvictionAPI"), &[], Vec::new()), ["being deleted", "not created yet"]);
}

#[test]
fn parents_are_named_until_the_pod_may_start() {
    let parents = || vec!["chat-0-cache", "chat-0-leader"];
    let want = "waiting for chat-0-cache, chat-0-leader to be ready first";
    assert_eq!(said(&bound(&json!({})), &[], parents()), [want]);
    let mut told = bound(&json!({}));
    told["metadata"] = json!({ "annotations": { "grove.io/parents-ready": "true" } });
    assert_eq!(said(&told, &[], parents()), ["starting"]);
    let initialised = json!({ "conditions": [{ "type": "Initialized", "status": "True" }] });
    assert_eq!(said(&bound(&initialised), &[], parents()), ["starting"]);
}

#[test]
fn equal_reasons_are_counted_and_most_come_first() {
    let mut clique = clique("chat-0-decode", "chat-0", 6, 1);
    let refused = condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota");
    clique.status.as_mut().unwrap().conditions.push(refused);
    let pods = [
        pod("chat-0-decode", 0, &ready()),
        pod("chat-0-decode", 1, &json!({})),
        pod("chat-0-decode", 2, &bound(&json!({}))),
        pod("chat-0-decode", 3, &bound(&json!({}))),
    ];
    let around = Around { clique: &clique, gang: None, parents: Vec::new() };
    let got: Vec<(usize, String)> =
        of(&around, &pods.iter().collect::<Vec<_>>()).into_iter().map(|it| (it.pods, it.why)).collect();
    let want = [
        (2, "cannot be created: exceeded quota"),
        (2, "starting"),
        (1, "waiting for the scheduler default-scheduler"),
    ];
    assert_eq!(got, want.map(|(pods, why)| (pods, why.to_owned())));
}
