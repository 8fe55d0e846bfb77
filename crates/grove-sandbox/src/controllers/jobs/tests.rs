//! What is done for a Job, by its pods.

use std::sync::Arc;

use k8s_openapi::{
    api::{batch::v1::Job, core::v1::Pod},
    jiff::Timestamp,
};
use serde_json::{Value, json};

use super::{
    facts::{INDEX, JobFacts},
    plan::{Finish, Plan, plan},
    pod, status,
};

fn now() -> Timestamp {
    "2026-01-02T12:00:00Z".parse().unwrap()
}

fn job(spec: &Value, status: &Value) -> Job {
    let mut spec = spec.clone();
    spec["template"] = json!({
        "metadata": { "labels": { "app": "x" } },
        "spec": { "containers": [{ "name": "c", "env": [{ "name": "A" }] }] },
    });
    let metadata = json!({ "name": "train", "namespace": "default", "uid": "u", "resourceVersion": "7" });
    serde_json::from_value(json!({ "metadata": metadata, "spec": spec, "status": status })).unwrap()
}

/// A pod: `+` waits, `b` is bound, `r` is ready, `s` succeeded, `f` failed just now, `d` is being deleted; digits are its index.
fn pods(words: &str) -> Vec<Arc<Pod>> {
    let pod = |(number, word): (usize, &str)| {
        let (state, index) = word.split_at(1);
        let phase = match state {
            "s" => "Succeeded",
            "f" => "Failed",
            "r" | "d" => "Running",
            _ => "Pending",
        };
        let end = json!({ "terminated": { "exitCode": 0, "finishedAt": "2026-01-02T12:00:00Z" } });
        let ended = json!([{ "name": "c", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": end }]);
        let ready = json!([{ "type": "Ready", "status": if state == "r" { "True" } else { "False" } }]);
        let pod = json!({
            "metadata": {
                "name": format!("p{number}"), "uid": number.to_string(),
                "annotations": { INDEX: index },
                "deletionTimestamp": (state == "d").then_some("2026-01-02T12:00:00Z"),
            },
            "spec": { "containers": [], "nodeName": (state != "+").then_some("n") },
            "status": {
                "phase": phase, "conditions": ready,
                "containerStatuses": matches!(state, "s" | "f").then_some(ended),
            },
        });
        Arc::new(serde_json::from_value(pod).unwrap())
    };
    words.split_whitespace().enumerate().map(pod).collect()
}

fn planned(spec: &Value, of: &str) -> Plan {
    plan(&JobFacts::of(&job(spec, &json!({}))), &pods(of), now())
}

/// Pods that are created, by index or as `?`, and the names of those that are deleted.
fn changes(plan: &Plan) -> String {
    let created = plan.create.iter().map(|it| it.map_or("?".to_owned(), |it| it.to_string()));
    let deleted = plan.delete.iter().map(|it| format!("-{}", it.name));
    created.chain(deleted).collect::<Vec<_>>().join(" ")
}

#[test]
fn as_many_pods_run_as_are_needed_and_allowed() {
    let two_of_three = json!({ "parallelism": 2, "completions": 3 });
    let indexed = json!({ "parallelism": 2, "completions": 4, "completionMode": "Indexed" });
    let queue = json!({ "parallelism": 3 });
    for (spec, of, expected) in [
        (&two_of_three, "", "? ?"),
        (&two_of_three, "+", "?"),
        (&two_of_three, "+ r", ""),
        (&two_of_three, "s r", "?"),
        (&two_of_three, "s s", "?"),
        (&two_of_three, "s s r", ""),
        (&two_of_three, "d r", "?"),
        // Too many: those with the least to lose go.
        (&two_of_three, "r + b r", "-p2 -p1"),
        (&two_of_three, "s s b r", "-p2"),
        (&indexed, "", "0 1"),
        (&indexed, "s0 r2", "1"),
        (&indexed, "s0 s1 s3", "2"),
        (&indexed, "d0 r1", "0"),
        // Twice the same, done already, and beyond the last.
        (&indexed, "r1 +1", "0 -p1"),
        (&indexed, "s1 r1 r0", "2 -p1"),
        (&indexed, "r9 r0", "1 -p0"),
        (&queue, "r", "? ?"),
        (&queue, "s r r", ""),
        (&json!({ "parallelism": 2, "completions": 2, "podReplacementPolicy": "Failed" }), "d r", ""),
        (&json!({ "parallelism": 2, "completions": 2, "suspend": true }), "r +", "-p0 -p1"),
        (&json!({ "parallelism": 0, "completions": 2 }), "r", "-p0"),
    ] {
        assert_eq!(changes(&planned(spec, of)), expected, "{spec} with {of:?}");
    }
}

#[test]
fn a_failed_pod_is_replaced_after_a_pause_that_grows() {
    let spec = json!({ "parallelism": 2, "completions": 2, "backoffLimit": 20 });
    for (of, seconds) in [("r f", 10), ("r f f", 20), ("r f f f", 40), ("f f f f f f f f f f f f", 600)] {
        let plan = planned(&spec, of);
        assert_eq!(changes(&plan), "", "{of}");
        assert_eq!(plan.next.unwrap().duration_since(now()).as_secs(), seconds, "{of}");
    }
    let later = "2026-01-02T12:00:10Z".parse().unwrap();
    let facts = JobFacts::of(&job(&spec, &json!({})));
    assert_eq!(changes(&plan(&facts, &pods("r f"), later)), "?");
}

#[test]
fn it_ends_when_enough_succeeded_or_too_many_failed() {
    let failed = |reason: &'static str, message: &str| Finish::Failed { reason, message: message.to_owned() };
    let limit = failed("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    let both = json!({ "parallelism": 2, "completions": 2, "backoffLimit": 1 });
    for (spec, of, expected, is_over) in [
        (&both, "s r", None, false),
        (&both, "s s", Some(Finish::Complete), true),
        (&both, "s s r", Some(Finish::Complete), false),
        (&both, "r f", None, false),
        (&both, "f f", Some(limit.clone()), true),
        (&both, "f f r", Some(limit), false),
        (&json!({ "parallelism": 2 }), "s r", None, false),
        (&json!({ "parallelism": 2 }), "s s", Some(Finish::Complete), true),
        (&json!({ "completions": 0 }), "", Some(Finish::Complete), true),
    ] {
        let plan = planned(spec, of);
        assert_eq!((&plan.finish, plan.is_over), (&expected, is_over), "{spec} with {of:?}");
        assert!(expected.is_none() || (plan.create.is_empty() && plan.active == 0), "{of}");
    }
}

#[test]
fn a_deadline_counts_from_the_start() {
    let spec = json!({ "parallelism": 1, "completions": 1, "activeDeadlineSeconds": 60 });
    let started = |time: &str| JobFacts::of(&job(&spec, &json!({ "startTime": time })));
    let before = plan(&started("2026-01-02T11:59:30Z"), &pods("r"), now());
    assert_eq!((before.finish, before.next.unwrap().duration_since(now()).as_secs()), (None, 30));
    let after = plan(&started("2026-01-02T11:59:00Z"), &pods("r"), now());
    assert!(matches!(after.finish, Some(Finish::Failed { reason: "DeadlineExceeded", .. })));
    assert_eq!(changes(&after), "-p0");
}

#[test]
fn what_was_counted_stays_when_pods_are_gone() {
    let recorded = json!({ "succeeded": 2, "failed": 1, "completedIndexes": "0-1,3" });
    let spec = json!({ "parallelism": 4, "completions": 5, "completionMode": "Indexed" });
    let plan = plan(&JobFacts::of(&job(&spec, &recorded)), &pods("s4"), now());
    assert_eq!((plan.succeeded, plan.failed, changes(&plan).as_str()), (4, 1, "2"));
}

#[test]
fn pods_are_told_apart_by_their_index() {
    let indexed = pod::pod(&job(&json!({}), &json!({})), Some(3));
    assert_eq!(indexed["metadata"]["generateName"], "train-3-");
    assert_eq!(indexed["metadata"]["labels"], json!({ "app": "x", INDEX: "3" }));
    assert_eq!(indexed["spec"]["hostname"], "train-3");
    let env = &indexed["spec"]["containers"][0]["env"];
    assert_eq!((&env[0]["name"], &env[1]["name"]), (&json!("A"), &json!("JOB_COMPLETION_INDEX")));
    let owner = &indexed["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["uid"], &owner["controller"]),
        (&json!("Job"), &json!("u"), &json!(true))
    );
    let plain = pod::pod(&job(&json!({}), &json!({})), None);
    assert_eq!(plain["metadata"]["generateName"], "train-");
    assert_eq!(plain["spec"]["containers"][0]["env"], json!([{ "name": "A" }]));
}

#[test]
fn the_status_says_what_is_so() {
    let spec = json!({ "parallelism": 2, "completions": 2, "completionMode": "Indexed" });
    let told = |of: &str, before: &Value| {
        let job = job(&spec, before);
        let status = status::status(&job, &plan(&JobFacts::of(&job), &pods(of), now()), now());
        (status.clone(), json!(status))
    };
    let (_, running) = told("r0 s1", &json!({}));
    assert_eq!(
        running,
        json!({ "active": 1, "ready": 1, "terminating": 0, "succeeded": 1, "completedIndexes": "1", "startTime": "2026-01-02T12:00:00Z" })
    );
    let (status, ended) = told("s0 s1", &running);
    assert_eq!((&ended["active"], &ended["completedIndexes"]), (&Value::Null, &json!("0-1")));
    let conditions: Vec<&Value> =
        ended["conditions"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(conditions, ["SuccessCriteriaMet", "Complete"]);
    assert_eq!(ended["completionTime"], "2026-01-02T12:00:00Z");
    let patch = status::patch(&job(&spec, &running), &status);
    assert_eq!(patch["status"].get("active"), Some(&Value::Null), "it is removed");
    assert_eq!(patch["metadata"]["resourceVersion"], "7");
    // What is so already is not told again.
    assert_eq!(told("s0 s1", &ended).1, ended);
}

#[test]
fn a_job_that_is_suspended_has_not_started() {
    let suspended = json!({ "parallelism": 1, "suspend": true });
    let tell = |spec: &Value, before: &Value| {
        let job = job(spec, before);
        json!(status::status(&job, &plan(&JobFacts::of(&job), &[], now()), now()))
    };
    let before = tell(&suspended, &json!({ "startTime": "2026-01-02T11:00:00Z" }));
    assert_eq!((&before["startTime"], &before["conditions"][0]["type"]), (&Value::Null, &json!("Suspended")));
    let after = tell(&json!({ "parallelism": 1, "suspend": false }), &before);
    assert_eq!(
        (&after["startTime"], &after["conditions"][0]["status"]),
        (&json!("2026-01-02T12:00:00Z"), &json!("False"))
    );
}

#[test]
fn indexes_are_written_as_ranges() {
    for (text, indexes) in [("", vec![]), ("0", vec![0]), ("0-2,5,7-8", vec![0, 1, 2, 5, 7, 8])] {
        let read = status::read_indexes(text);
        assert_eq!(read.iter().copied().collect::<Vec<_>>(), indexes);
        assert_eq!(status::write_indexes(&read), text);
    }
    assert_eq!(status::read_indexes("x,3-1,2").into_iter().collect::<Vec<_>>(), [2]);
}
