//! What the labels and annotations of a gang make of its PodGroup.

use crate::{
    cluster::{Kai, queued, rendered},
    common::{gang, group, named, required},
    wanted::{annotated, labelled, one},
};
use grove_scheduler::Gang;
use serde_json::{Value, json};

#[test]
fn priority_and_preemptibility_of_labels() {
    let high = json!({ "podgroups": [group("a", 2, 2)], "priorityClassName": "high" });
    let label = [("priorityClassName", "low")];
    for (gang, priority) in [
        (one(), None),
        (labelled(one(), &label), Some("low")),
        (labelled(one(), &[("priorityClassName", "")]), None),
        (labelled(queued(gang(high)), &label), Some("high")),
    ] {
        let spec = rendered(Kai::V15, &gang, &[]).value["spec"].clone();
        assert_eq!(spec.get("priorityClassName").and_then(Value::as_str), priority);
    }
    for (value, rendered_as) in [
        ("preemptible", Some("preemptible")),
        ("non-preemptible", Some("non-preemptible")),
        ("maybe", None),
        ("", None),
    ] {
        let gang = labelled(one(), &[("kai.scheduler/preemptibility", value)]);
        let spec = rendered(Kai::V15, &gang, &[]).value["spec"].clone();
        assert_eq!(spec.get("preemptibility").and_then(Value::as_str), rendered_as, "{value}");
    }
    // KAI's pod grouper before 0.15 reads the label too, and must not be fought.
    let once = |release, gang: &Gang| rendered(release, gang, &[]).once;
    let pointer = "/spec/priorityClassName".to_owned();
    assert!(once(Kai::V12, &labelled(one(), &label)).contains(&pointer));
    assert!(!once(Kai::V12, &one()).contains(&pointer));
    assert!(!once(Kai::V15, &labelled(one(), &label)).contains(&pointer));
}

#[test]
fn waiting_times_where_the_release_has_them() {
    let key = ("kai.scheduler/preemption-delay", "kai.scheduler/staleness-grace-period");
    for (delay, staleness, wanted) in [
        (None, None, (None, "-1s")),
        (Some("5m"), Some("90s"), (Some("5m"), "90s")),
        (Some("0s"), Some("-5s"), (Some("0s"), "-5s")),
        (Some("-1s"), Some("soon"), (None, "-1s")),
        (Some("5"), None, (None, "-1s")),
    ] {
        let mut gang = one();
        for (key, value) in [(key.0, delay), (key.1, staleness)] {
            gang = annotated(gang, &value.map(|it| (key, it)).into_iter().collect::<Vec<_>>());
        }
        let spec = rendered(Kai::V17, &gang, &[]).value["spec"].clone();
        assert_eq!(spec.get("preemptionDelay").and_then(Value::as_str), wanted.0, "{delay:?}");
        assert_eq!(spec["stalenessGracePeriod"], wanted.1, "{staleness:?}");
        let before = rendered(Kai::V15, &gang, &[]).value["spec"].clone();
        assert_eq!((before.get("preemptionDelay"), before.get("stalenessGracePeriod")), (None, None));
    }
}

#[test]
fn metadata_is_copied_but_for_our_own_notes() {
    let gang = annotated(
        labelled(one(), &[("team", "x")]),
        &[
            ("note", "hello"),
            ("grove.io/mirrored-keys", "note"),
            ("kubectl.kubernetes.io/last-applied-configuration", "{}"),
        ],
    );
    let metadata = rendered(Kai::V12, &gang, &[]).value["metadata"].clone();
    let labels = json!({ "app.kubernetes.io/part-of": "web", "kai.scheduler/queue": "team-a", "team": "x" });
    assert_eq!(metadata["labels"], labels);
    assert_eq!(metadata["annotations"], json!({ "grove.io/topology-name": "dc", "note": "hello" }));
}

#[test]
fn the_owner_is_described_as_yaml_that_stays_text() {
    let mut gang = queued(named("0-1", json!({ "podgroups": [group("a", 1, 1)] })));
    gang.api_version = "v1".to_owned();
    let annotations = rendered(Kai::V15, &gang, &[]).value["metadata"]["annotations"].clone();
    let wanted = "name: \"0-1\"\nuid: u1\ngroup: \"\"\nversion: v1\nkind: PodGang\n";
    assert_eq!(annotations["kai.scheduler/top-owner-metadata"], wanted);
}

#[test]
fn the_topology_may_be_named_by_kais_own_annotation() {
    let mut gang =
        queued(gang(json!({ "podgroups": [group("a", 1, 1)], "topologyConstraint": required("rack") })));
    gang.topology = String::new();
    let gang = annotated(gang, &[("kai.scheduler/topology", "theirs")]);
    let constraint = rendered(Kai::V15, &gang, &[]).value["spec"]["topologyConstraint"].clone();
    assert_eq!(constraint, json!({ "topology": "theirs", "requiredTopologyLevel": "rack" }));
}
