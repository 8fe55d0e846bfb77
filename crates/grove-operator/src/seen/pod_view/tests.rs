//! What is read of a pod.

use serde_json::{Value, json};

use super::*;

#[test]
fn what_every_pod_tolerates_and_what_is_not_about_running_is_left_out() {
    let pod = json!({ "spec": { "nodeName": "n", "tolerations": [
        { "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 },
        { "key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 },
        { "key": "gpu", "operator": "Exists", "effect": "NoSchedule" },
        { "key": "drain", "value": "soon", "effect": "NoExecute", "tolerationSeconds": 60 },
        { "operator": "Exists" },
    ] } });
    let fact = serde_json::from_value::<PodView>(pod).unwrap().fact;
    let own = Toleration { key: "drain".to_owned(), value: Some("soon".to_owned()), seconds: Some(60) };
    let all = Toleration { key: String::new(), value: None, seconds: None };
    assert_eq!((fact.node.as_str(), fact.tolerations), ("n", vec![own, all]));
}

/// Whose a pod is, is in its owner reference; and its namespace is part of that.
#[test]
fn only_a_pod_clique_has_pods() {
    for (api_version, kind, is_controller, want) in [
        ("grove.io/v1alpha1", "PodClique", true, "u"),
        ("grove.io/v2", "PodClique", true, "u"),
        ("grove.io/v1alpha1", "PodClique", false, ""),
        ("nowhere.io/v1", "PodClique", true, ""),
        ("grove.io/v1alpha1", "PodCliqueSet", true, ""),
        ("nowhere.io/v1", "X", true, ""),
    ] {
        let owner = json!({
            "apiVersion": api_version, "kind": kind, "name": "clique", "uid": "u", "controller": is_controller,
        });
        let labels = json!({ "grove.io/podclique": "said" });
        let metadata = json!({ "namespace": "ns", "labels": labels, "ownerReferences": [owner] });
        let pod: PodView = serde_json::from_value(json!({ "metadata": metadata })).unwrap();
        let clique = if want.is_empty() { "said" } else { "clique" };
        assert_eq!((pod.fact.owner.as_str(), pod.clique.as_str()), (want, clique), "{owner}");
        let key = OwnerKey::new("ns", "grove.io/v1alpha1", "PodClique", "u");
        assert_eq!(pod.owner(), Some(key).filter(|_| !want.is_empty()), "{owner}");
    }
}

#[test]
fn since_when_a_pod_is_ready() {
    let since = |condition: Value| {
        let pod = json!({
            "metadata": { "creationTimestamp": "2026-01-01T00:00:00Z" },
            "status": { "conditions": [condition] },
        });
        let fact = serde_json::from_value::<PodView>(pod).unwrap().fact;
        assert_eq!(fact.ready, fact.ready_since.is_some());
        fact.ready_since.map(|it| it.to_string())
    };
    let at = |status: &str| json!({ "type": "Ready", "status": status, "lastTransitionTime": "2026-01-01T00:05:00Z" });
    assert_eq!(since(at("True")).as_deref(), Some("2026-01-01T00:05:00Z"));
    assert_eq!(since(at("False")), None);
    let unsaid = json!({ "type": "Ready", "status": "True" });
    assert_eq!(since(unsaid).as_deref(), Some("2026-01-01T00:00:00Z"), "not before it was made");
}

fn awaits_parents(annotations: &Value, field: &str) -> bool {
    let pod = json!({
        "metadata": { "annotations": annotations },
        "spec": { "volumes": [
            { "name": "theirs", "emptyDir": {} },
            { "name": "info", "downwardAPI": { "items": [
                { "path": "cpu", "resourceFieldRef": { "resource": "limits.cpu" } },
                { "path": "file", "fieldRef": { "fieldPath": field } },
            ] } },
        ] },
    });
    serde_json::from_value::<PodView>(pod).unwrap().fact.awaits_parents
}

/// An init container that was tried again counts like any other.
#[test]
fn containers_that_were_started_again() {
    for list in ["containerStatuses", "initContainerStatuses"] {
        for (count, want) in [(0, false), (1, true), (7, true)] {
            let pod =
                json!({ "status": { list: [{ "name": "a" }, { "name": "b", "restartCount": count }] } });
            let fact = serde_json::from_value::<PodView>(pod).unwrap().fact;
            assert_eq!((fact.restarted, fact.errored), (want, false), "{list}: {count}");
        }
    }
}

#[test]
fn when_a_container_failed() {
    let at = |second: u32| format!("2027-01-15T08:00:{second:02}Z");
    let ended =
        |second: u32, code: i32| json!({ "terminated": { "exitCode": code, "finishedAt": at(second) } });
    let runs = |second: u32| json!({ "running": { "startedAt": at(second) } });
    let unknown = json!({ "terminated": { "exitCode": 137, "finishedAt": null } });
    for (count, state, last, want) in [
        (0, runs(9), json!({}), None),
        (0, ended(9, 0), json!({}), None),
        (0, ended(9, 1), json!({}), Some(9)),
        (1, runs(9), ended(5, 1), Some(5)),
        (1, runs(9), ended(5, 0), Some(5)),
        (2, ended(9, 1), ended(5, 1), Some(9)),
        (1, json!({ "waiting": { "reason": "CrashLoopBackOff" } }), ended(5, 1), Some(5)),
        (1, runs(9), unknown, Some(9)),
        (1, runs(9), json!({}), Some(9)),
        (1, json!({}), json!({}), None),
    ] {
        let words = format!("{count} {state} {last}");
        let other = json!({ "name": "a", "restartCount": 1, "state": runs(9), "lastState": ended(1, 1) });
        let one = json!({ "name": "b", "restartCount": count, "state": state, "lastState": last });
        let fact = |list: Value| {
            let pod = json!({ "status": { "containerStatuses": list } });
            serde_json::from_value::<PodView>(pod).unwrap().fact.failed_at.map(|it| it.to_string())
        };
        assert_eq!(fact(json!([one])), want.map(at), "{words}");
        assert_eq!(fact(json!([other, one])), Some(at(want.unwrap_or(1))), "{words}: the last one");
    }
}

/// A pod of upstream's waits by itself; to write to it would be in vain.
#[test]
fn only_who_reads_the_annotation_waits_for_it() {
    let field = "metadata.annotations['grove.io/parents-ready']";
    assert!(awaits_parents(&json!({ "other": "true" }), field));
    assert!(awaits_parents(&json!({ "grove.io/parents-ready": "" }), field));
    assert!(!awaits_parents(&json!({ "grove.io/parents-ready": "true" }), field));
    for other in ["metadata.labels['grove.io/podgang']", "metadata.annotations", "metadata.namespace"] {
        assert!(!awaits_parents(&json!({}), other), "{other}");
    }
    assert!(!serde_json::from_value::<PodView>(json!({})).unwrap().fact.awaits_parents);
}
