use serde_json::json;

use super::*;
use crate::commands::why::workload::fixture::{
    KAI, KUBE, facts, gated, in_kai, in_kube, kai, kai_pods, objects, over_limit, placed, pod, refused, with,
};

#[test]
fn parts_are_counted() {
    let group = kai(
        "pg",
        &json!({ "subGroups": [{ "name": "master", "minMember": 1 }, { "name": "worker", "minMember": 2 }] }),
    );
    let of = |name, part, more| pod(name, KAI, &with(in_kai("pg", part), &more));
    let pods = vec![
        of("m", "master", placed()),
        of("w-0", "worker", gated()),
        of("w-1", "worker", json!({})),
        of("w-2", "worker", gated()),
        of("stray", "", json!({})),
    ];
    let report = Report::of(&facts(pods, &[(KAI, group)]));
    let said = &report.groups[0];
    let parts: Vec<(&str, Option<u64>, u64, u64, u64)> = said
        .parts
        .iter()
        .map(|it| (it.name.as_str(), it.min_pods, it.pods.pods, it.pods.placed, it.pods.gated))
        .collect();
    assert_eq!(parts, [("master", Some(1), 1, 1, 0), ("worker", Some(2), 3, 0, 2)]);
    assert_eq!((said.min_parts, said.min_pods, said.outside), (Some(2), None, 1));
    assert_eq!(
        (said.queue.as_deref(), said.priority_class.as_deref(), said.cause),
        (Some("team-a"), Some("train"), "gated")
    );
}

/// The one that waits, with most pods, comes first.
#[test]
fn the_worst_comes_first() {
    let of = |name, group, more| pod(name, KUBE, &with(in_kube(group), &more));
    let pods = vec![
        of("a", "a-runs", placed()),
        of("b", "b-waits", json!({})),
        of("c", "c-waits", json!({})),
        of("d", "c-waits", json!({})),
        pod("e", KUBE, &placed()),
    ];
    let report = Report::of(&facts(pods, &[]));
    let names: Vec<Option<&str>> = report.groups.iter().map(|it| it.name.as_deref()).collect();
    assert_eq!(names, [Some("c-waits"), Some("b-waits"), None, Some("a-runs")]);
}

/// Others of the group count for the group, and not for what was asked about.
#[test]
fn a_pod_is_told_with_its_group() {
    let mut objects = objects(kai_pods(3, &json!({})), &[(KAI, kai("pg", &json!({ "minMember": 4 })))]);
    for (number, it) in objects.pods.iter_mut().enumerate() {
        it.1 = number == 0;
    }
    objects.asked.api_version = "v1".to_owned();
    objects.asked.kind = "Pod".to_owned();
    let report = Report::of(&Facts::of(objects, &grove_scheduler::builtin::builtin()));
    assert_eq!((report.pods.pods, report.groups[0].pods.pods), (1, 3));
    assert_eq!(report.why.as_deref(), Some("kai-scheduler has not answered yet"));
    assert_eq!(report.groups[0].why, "it has 3 pods, and its minimum is 4");
}

#[test]
fn one_pod_in_a_sentence() {
    let deleted = json!({ "metadata": { "deletionTimestamp": "2027-01-01T00:00:00Z" } });
    let rows = [
        (placed(), "scheduled on node n1"),
        (gated(), "it has the scheduling gate example.com/wait"),
        (refused("0/1 nodes are available."), "default-scheduler cannot place it: 0/1 nodes are available"),
        (json!({}), "default-scheduler has not answered yet"),
        (json!({ "status": { "phase": "Succeeded" } }), "it has finished"),
        (json!({ "status": { "phase": "Failed" } }), "it failed"),
        (deleted, "it is being deleted"),
    ];
    for (more, want) in rows {
        let facts = facts(vec![pod("p", KUBE, &more)], &[]);
        assert_eq!(sentence::of_pod(&facts.members[0]), want);
    }
}

#[test]
fn machines_are_told_all_of_it() {
    let group = with(kai("pg", &json!({ "minMember": 1, "preemptibility": "preemptible" })), &over_limit());
    let report = Report::of(&facts(kai_pods(1, &json!({})), &[(KAI, group)]));
    let count = json!({ "pods": 1, "placed": 0, "gated": 0, "succeeded": 0, "failed": 0 });
    let mut value = serde_json::to_value(&report).unwrap();
    let gpu = value["groups"][0]["quota"]["resources"][2].take();
    let quota = value["groups"][0]["quota"].take();
    let group = value["groups"][0].take();
    assert_eq!(
        gpu,
        json!({
            "resource": "nvidia.com/gpu", "requested": 8, "available": 4, "allocated": 12, "allocatedNonPreemptible": 6,
            "queueRequested": 20, "quota": 8, "limit": 16,
        })
    );
    assert_eq!((&quota["queue"], &quota["bound"]), (&json!("team-a"), &json!("limit")));
    // Without a bound there is nothing to tell.
    assert_eq!(quota["resources"][0].get("limit"), None);
    assert_eq!(
        json!([
            group["name"],
            group["resource"],
            group["scheduler"],
            group["queue"],
            group["priorityClass"],
            group["minPods"]
        ]),
        json!(["pg", "podgroups.scheduling.run.ai", "kai-scheduler", "team-a", "train", 1])
    );
    assert_eq!(
        json!([group["state"], group["cause"], group["pods"], group["preemptibility"]]),
        json!(["waiting", "overQuota", count, "preemptible"])
    );
    value["groups"] = json!([]);
    assert_eq!(
        value,
        json!({
            "namespace": "lab", "apiVersion": "batch/v1", "kind": "Job", "name": "train", "pods": count, "groups": [],
            "notes": [],
        })
    );
}
