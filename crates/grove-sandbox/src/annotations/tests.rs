//! What annotations mean, and what is said about wrong ones.

#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

use serde_json::{Value, json};

use super::*;

fn pod(annotations: Value) -> Pod {
    serde_json::from_value(json!({ "metadata": { "annotations": annotations } })).unwrap()
}

fn read(annotations: Value) -> (Behaviour, Vec<String>) {
    let (behaviour, invalid) = Behaviour::of(&pod(annotations), &Behaviour::default());
    (behaviour, invalid.into_iter().map(|it| it.message).collect())
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn every_annotation_with_either_prefix() {
    for prefix in [PREFIX, E2E_PREFIX] {
        let values = [
            (READY_AFTER, "3s"),
            (NEVER_READY, "true"),
            (COMPLETE_AFTER, "1m"),
            (FAIL_AFTER, "250ms"),
            (EXIT_CODE, "137"),
            (CRASH_AFTER, "0s"),
            (RESTART_AFTER, "2s"),
            (TERMINATE_AFTER, "grace"),
            (PULL_AFTER, "1.5s"),
            (PULL_FAILS, "2"),
            (INIT_AFTER, "4s"),
        ];
        let annotations = values.map(|(key, value)| (format!("{prefix}{key}"), Value::from(value)));
        let (behaviour, invalid) = read(Value::Object(annotations.into_iter().collect()));
        let want = Behaviour {
            ready_after: 3 * SECOND,
            never_ready: true,
            complete_after: Some(60 * SECOND),
            fail_after: Some(SECOND / 4),
            exit_code: Some(137),
            crash_after: Some(Duration::ZERO),
            restart_after: Some(2 * SECOND),
            termination: Termination::Grace,
            pull_after: 3 * SECOND / 2,
            pull_failures: PullFailures::First(2),
            init_after: 4 * SECOND,
            crash: None,
        };
        assert_eq!((behaviour, invalid), (want, Vec::new()), "{prefix}");
    }
}

#[test]
fn ours_beats_the_scenarios() {
    let both = json!({ "sandbox.grove.io/ready-after": "1s", "e2e.grove.io/ready-after": "2s" });
    assert_eq!(read(both).0.ready_after, SECOND);
}

#[test]
fn wrong_values_name_the_annotation_and_an_example() {
    let rows = [
        (READY_AFTER, "3", "a duration"),
        (READY_AFTER, "-3s", "a duration"),
        (READY_AFTER, "", "a duration"),
        (READY_AFTER, "99999999999999h", "a duration"),
        (READY_AFTER, "9999999999999999999999999999999999h", "a duration"),
        (NEVER_READY, "yes", "true or false"),
        (EXIT_CODE, "256", "a number from 0 to 255, such as 137"),
        (EXIT_CODE, "-1", "a number"),
        (TERMINATE_AFTER, "never", "a duration such as 5s, or grace"),
        (PULL_FAILS, "-1", "true for every attempt"),
    ];
    for (name, value, want) in rows {
        let (behaviour, invalid) = read(json!({ format!("{PREFIX}{name}"): value }));
        assert_eq!(behaviour, Behaviour::default(), "{name}: {value}");
        assert_eq!(invalid.len(), 1, "{name}: {value}");
        assert!(invalid[0].contains(&format!("annotation {PREFIX}{name}: ")), "{invalid:?}");
        assert!(invalid[0].contains(&format!("is ignored: use {want}")), "{invalid:?}");
        assert!(invalid[0].len() < 200, "{invalid:?}");
    }
}

#[test]
fn misspelled_names_are_reported() {
    let (_, invalid) = read(json!({ "sandbox.grove.io/ready-afer": "3s", "e2e.grove.io/touched": "yes" }));
    let want = "annotation sandbox.grove.io/ready-afer is ignored: it is unknown, did you mean sandbox.grove.io/ready-after?";
    assert_eq!(invalid, [want]);
}

#[test]
fn restarts_of_scenarios_come_soon() {
    assert_eq!(read(json!({ "e2e.grove.io/crash-after": "1s" })).0.restart_after, Some(SECOND));
    assert_eq!(read(json!({ "sandbox.grove.io/crash-after": "1s" })).0.restart_after, None);
}

#[test]
fn pods_of_jobs_complete() {
    let with = |annotations: Value| {
        let owner = json!({ "apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u" });
        let pod = json!({ "metadata": { "ownerReferences": [owner], "annotations": annotations } });
        Behaviour::of(&serde_json::from_value(pod).unwrap(), &Behaviour::default()).0.complete_after
    };
    assert_eq!(with(json!({})), Some(Duration::ZERO));
    assert_eq!(with(json!({ "e2e.grove.io/complete-after": "5s" })), Some(5 * SECOND));
    assert_eq!(with(json!({ "e2e.grove.io/fail-after": "5s" })), None);
}

#[test]
fn nodes_are_lost_by_annotation_or_label() {
    let rows = [
        (json!({}), false),
        (json!({ "annotations": { "sandbox.grove.io/lost": "true" } }), true),
        (json!({ "annotations": { "sandbox.grove.io/lost": "false" } }), false),
        (json!({ "labels": { "e2e.grove.io/lost": "true" } }), true),
        (json!({ "labels": { "e2e.grove.io/lost": "" } }), true),
    ];
    for (metadata, want) in rows {
        let node: Node = serde_json::from_value(json!({ "metadata": metadata })).unwrap();
        assert_eq!(is_lost(&node), want, "{metadata}");
    }
}
