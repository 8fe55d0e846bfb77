//! Pods that end by themselves.

use super::*;

#[test]
fn complete_and_fail_count_from_ready() {
    let rows = [
        (json!({ "e2e.grove.io/complete-after": "2s" }), "Succeeded c=exit-0", "PodCompleted"),
        (json!({ "e2e.grove.io/fail-after": "2s" }), "Failed c=exit-1", "PodFailed"),
        (
            json!({ "e2e.grove.io/fail-after": "2s", "e2e.grove.io/exit-code": "3" }),
            "Failed c=exit-3",
            "PodFailed",
        ),
        // Where both are given, the pod fails.
        (
            json!({ "e2e.grove.io/fail-after": "2s", "e2e.grove.io/complete-after": "1s" }),
            "Failed c=exit-1",
            "PodFailed",
        ),
    ];
    for (mut annotations, want, reason) in rows {
        annotations["e2e.grove.io/ready-after"] = "1s".into();
        let mut pod = Played::annotated(annotations);
        pod.until(60_000);
        let writes = [(0, "Running c=running"), (1_000, "Running c=running ready"), (3_000, want)];
        assert_eq!(pod.history(), writes);
        assert_eq!(pod.condition("Ready").reason.as_deref(), Some(reason));
        assert_eq!(pod.next, Next::Rest, "an ended pod is left alone");
    }
}

#[test]
fn a_pod_that_never_gets_ready_counts_from_its_start() {
    let annotations = json!({ "sandbox.grove.io/never-ready": "true", "sandbox.grove.io/fail-after": "2s" });
    let mut pod = Played::annotated(annotations);
    pod.until(60_000);
    assert_eq!(pod.history()[1..], [(2_000, "Failed c=exit-1")]);
}

#[test]
fn annotations_on_a_running_pod_count_from_then() {
    let mut pod = Played::annotated(json!({}));
    pod.until(100_000).annotate("e2e.grove.io/fail-after", Some("5s")).until(200_000);
    assert_eq!(pod.history()[1..], [(105_000, "Failed c=exit-1")]);

    let mut pod = Played::annotated(json!({ "e2e.grove.io/fail-after": "1h" }));
    pod.until(100_000).annotate("e2e.grove.io/fail-after", Some("0s")).until(200_000);
    assert_eq!(pod.history()[1..], [(100_000, "Failed c=exit-1")]);
}

#[test]
fn pods_of_jobs_succeed_at_once() {
    let mut pod = Played::annotated(json!({}));
    let owner = json!({ "apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j" });
    pod.pod.metadata.owner_references = Some(vec![serde_json::from_value(owner).unwrap()]);
    pod.until(1_000);
    assert_eq!(pod.history(), [(0, "Succeeded c=exit-0")]);
}

#[test]
fn an_active_deadline_is_kept() {
    let mut pod = Played::new(json!({}), json!({ "activeDeadlineSeconds": 5 }));
    pod.until(60_000);
    assert_eq!(pod.history()[1..], [(5_000, "Failed c=exit-137")]);
    assert_eq!(pod.status().reason.as_deref(), Some("DeadlineExceeded"));
    assert_eq!(pod.events.last().unwrap(), "Normal DeadlineExceeded");
}

#[test]
fn what_others_ended_stays_ended() {
    let mut pod = Played::annotated(json!({}));
    pod.until(1_000);
    let status = pod.pod.status.as_mut().unwrap();
    (status.phase, status.reason) = (Some("Failed".to_owned()), Some("Evicted".to_owned()));
    pod.until(60_000);
    assert_eq!((pod.writes.len(), pod.next), (1, Next::Rest));
}

#[test]
fn sidecars_end_with_their_pod() {
    let spec = json!({ "initContainers": [{ "name": "s", "restartPolicy": "Always" }] });
    let mut pod = Played::new(json!({ "e2e.grove.io/complete-after": "1s" }), spec);
    pod.until(5_000);
    assert_eq!(pod.history()[1..], [(1_000, "Succeeded s=exit-0 c=exit-0")]);
}
