//! Pods that are deleted.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::*;

/// A running pod that is deleted after 10.25 seconds, when the server's clock shows a whole second.
fn deleted(annotations: Value, grace: i64) -> Played {
    let mut pod = Played::annotated(annotations);
    pod.until(10_250);
    let end = Timestamp::from_millisecond(BOUND + 10_250 + grace * 1_000).unwrap();
    pod.pod.metadata.deletion_timestamp = Some(Time(end));
    pod.pod.metadata.deletion_grace_period_seconds = Some(grace);
    pod
}

/// When the kubelet deletes it.
fn goes_at(pod: &mut Played) -> i64 {
    for _ in 0..10 {
        pod.look();
        match pod.next {
            Next::Delete => return pod.now,
            Next::Wait(at) => pod.now = at.as_millisecond() - BOUND,
            Next::Rest => panic!("it stays"),
        }
    }
    panic!("it waits and waits");
}

#[test]
fn how_long_a_deleted_pod_stays() {
    let rows = [
        (json!({}), 10_250),
        (json!({ "e2e.grove.io/terminate-after": "5s" }), 15_250),
        (json!({ "e2e.grove.io/terminate-after": "grace" }), 40_250),
        // It hangs.
        (json!({ "e2e.grove.io/terminate-after": "1m" }), 70_250),
    ];
    for (annotations, want) in rows {
        let mut pod = deleted(annotations.clone(), 30);
        let writes = pod.writes.len();
        assert_eq!(goes_at(&mut pod), want, "{annotations}");
        assert_eq!(pod.writes.len(), writes, "nothing but the deletion is written");
        assert_eq!(pod.events.iter().filter(|it| *it == "Normal Killing").count(), 1);
    }
}

#[test]
fn without_grace_nothing_is_waited_for() {
    let mut pod = deleted(json!({ "e2e.grove.io/terminate-after": "1m" }), 0);
    assert_eq!(goes_at(&mut pod), 10_250);
}

#[test]
fn what_never_started_goes_at_once() {
    let mut pod = deleted(
        json!({ "sandbox.grove.io/pull-fails": "true", "sandbox.grove.io/terminate-after": "1m" }),
        30,
    );
    assert_eq!(goes_at(&mut pod), 10_250);
    assert!(!pod.events.contains(&"Normal Killing".to_owned()));
}

#[test]
fn a_pod_that_is_held_ends_and_stays() {
    let mut pod = deleted(json!({ "e2e.grove.io/terminate-after": "5s" }), 30);
    pod.pod.metadata.finalizers = Some(vec!["example.com/hold".to_owned()]);
    assert_eq!(goes_at(&mut pod), 15_250);
    assert_eq!(pod.history()[1..], [(15_250, "Succeeded c=exit-0")]);
    // The server keeps it until the finalizer is gone.
    pod.pod.metadata.deletion_grace_period_seconds = Some(0);
    pod.until(100_000);
    assert_eq!((pod.next, pod.writes.len()), (Next::Rest, 2));
}
