//! PodGangs and the PodGroups that KAI is given for them, field by field.

use crate::{
    cluster::{Kai, kai, pod_group, queued, rendered},
    common::{both, config, gang, group, map, named, placed, preferred, required},
};
use grove_scheduler::{Content, Gang, Node, Pack};
use serde_json::{Value, json};

/// A leaf of the PodGroup.
fn leaf(name: &str, min: u32) -> Value {
    json!({ "name": name, "minMember": min })
}

/// A leaf in a bundle.
fn leaf_in(parent: &str, name: &str, min: u32) -> Value {
    json!({ "name": name, "minMember": min, "parent": parent })
}

/// A bundle of `count` parts.
fn bundle(name: &str, count: u32) -> Value {
    json!({ "name": name, "minSubGroup": count })
}

fn with(mut it: Value, key: &str, value: Value) -> Value {
    it[key] = value;
    it
}

fn at(level: &str) -> Value {
    json!({ "topology": "dc", "requiredTopologyLevel": level })
}

fn near(level: &str) -> Value {
    json!({ "topology": "dc", "preferredTopologyLevel": level })
}

/// A spec without anything that is not asked for.
fn spec(min: u32, sub_groups: Vec<Value>) -> Value {
    json!({ "minMember": min, "queue": "team-a", "subGroups": sub_groups })
}

/// What facts call the worked example.
fn worked_example() -> Gang {
    queued(gang(json!({
        "podgroups": [
            group("web-0-frontend", 1, 1),
            group("web-0-pd-0-prefill", 2, 2),
            placed(group("web-0-pd-0-decode", 3, 3), preferred("kubernetes.io/hostname")),
        ],
        "topologyConstraint": required("zone"),
        "topologyConstraintGroupConfigs": [
            placed(config("web-0-pd-0", &["web-0-pd-0-prefill", "web-0-pd-0-decode"]), required("rack")),
        ],
        "priorityClassName": "inference",
    })))
}

fn labelled(mut gang: Gang, labels: &[(&str, &str)]) -> Gang {
    gang.labels.extend(map(labels));
    gang
}

fn annotated(mut gang: Gang, annotations: &[(&str, &str)]) -> Gang {
    gang.annotations.extend(map(annotations));
    gang
}

fn one() -> Gang {
    queued(gang(json!({ "podgroups": [group("a", 2, 2)] })))
}

#[test]
fn gangs_of_every_shape() {
    let three = |placement: Value| {
        queued(gang(json!({
            "podgroups": [placed(group("a", 1, 1), placement.clone()), group("b", 2, 4)],
            "topologyConstraint": placement,
        })))
    };
    let table: Vec<(&str, Gang, Value)> = vec![
        ("one group", one(), spec(2, vec![leaf("a", 2)])),
        (
            "pods above the minimum",
            queued(gang(json!({ "podgroups": [group("a", 2, 5)] }))),
            spec(2, vec![leaf("a", 2)]),
        ),
        (
            "no pods yet",
            queued(gang(json!({ "podgroups": [group("a", 2, 0)] }))),
            spec(2, vec![leaf("a", 2)]),
        ),
        (
            "several groups",
            queued(gang(json!({ "podgroups": [group("a", 1, 1), group("b", 2, 3), group("c", 4, 4)] }))),
            spec(7, vec![leaf("a", 1), leaf("b", 2), leaf("c", 4)]),
        ),
        (
            "64 cliques",
            queued(gang(json!({
                "podgroups": (0..64).map(|it| group(&format!("web-0-c{it}"), 2, 2)).collect::<Vec<_>>(),
            }))),
            spec(128, (0..64).map(|it| leaf(&format!("web-0-c{it}"), 2)).collect()),
        ),
        (
            "a name at the limit",
            queued(gang(json!({ "podgroups": [group(&"n".repeat(63), 1, 1)] }))),
            spec(1, vec![leaf(&"n".repeat(63), 1)]),
        ),
        (
            "a bundle without a placement",
            queued(gang(json!({
                "podgroups": [group("a", 1, 1), group("b", 1, 1)],
                "topologyConstraintGroupConfigs": [config("ab", &["a", "b"])],
            }))),
            spec(2, vec![bundle("ab", 2), leaf_in("ab", "a", 1), leaf_in("ab", "b", 1)]),
        ),
        (
            "a bundle counts only the groups that are there",
            queued(gang(json!({
                "podgroups": [group("a", 1, 1), group("b", 1, 1)],
                "topologyConstraintGroupConfigs": [config("ab", &["a", "gone"]), config("none", &["gone"])],
            }))),
            spec(2, vec![bundle("ab", 1), leaf_in("ab", "a", 1), leaf("b", 1)]),
        ),
        (
            "two bundles stand before all groups",
            queued(gang(json!({
                "podgroups": [group("f", 1, 1), group("p0", 1, 1), group("d0", 2, 2), group("p1", 1, 1), group("d1", 2, 2)],
                "topologyConstraintGroupConfigs": [
                    placed(config("r0", &["p0", "d0"]), required("rack")),
                    placed(config("r1", &["p1", "d1"]), required("rack")),
                ],
            }))),
            spec(
                7,
                vec![
                    with(bundle("r0", 2), "topologyConstraint", at("rack")),
                    with(bundle("r1", 2), "topologyConstraint", at("rack")),
                    leaf("f", 1),
                    leaf_in("r0", "p0", 1),
                    leaf_in("r0", "d0", 2),
                    leaf_in("r1", "p1", 1),
                    leaf_in("r1", "d1", 2),
                ],
            ),
        ),
        (
            "three levels",
            queued(gang(json!({
                "podgroups": [placed(group("a", 1, 1), required("host")), placed(group("b", 1, 1), required("host"))],
                "topologyConstraint": required("zone"),
                "topologyConstraintGroupConfigs": [placed(config("ab", &["a", "b"]), required("rack"))],
            }))),
            with(
                spec(
                    2,
                    vec![
                        with(bundle("ab", 2), "topologyConstraint", at("rack")),
                        with(leaf_in("ab", "a", 1), "topologyConstraint", at("host")),
                        with(leaf_in("ab", "b", 1), "topologyConstraint", at("host")),
                    ],
                ),
                "topologyConstraint",
                at("zone"),
            ),
        ),
        (
            "required for the gang and one group",
            three(required("rack")),
            with(
                spec(3, vec![with(leaf("a", 1), "topologyConstraint", at("rack")), leaf("b", 2)]),
                "topologyConstraint",
                at("rack"),
            ),
        ),
        (
            "preferred only",
            three(preferred("rack")),
            with(
                spec(3, vec![with(leaf("a", 1), "topologyConstraint", near("rack")), leaf("b", 2)]),
                "topologyConstraint",
                near("rack"),
            ),
        ),
        ("required and preferred", three(both("zone", "rack")), {
            let both = json!({ "topology": "dc", "requiredTopologyLevel": "zone", "preferredTopologyLevel": "rack" });
            with(
                spec(3, vec![with(leaf("a", 1), "topologyConstraint", both.clone()), leaf("b", 2)]),
                "topologyConstraint",
                both,
            )
        }),
        (
            "a topology is never named without a level",
            three(json!({ "packConstraint": { "required": "", "preferred": "" } })),
            spec(3, vec![leaf("a", 1), leaf("b", 2)]),
        ),
        (
            "a PriorityClass",
            queued(gang(json!({ "podgroups": [group("a", 2, 2)], "priorityClassName": "high" }))),
            with(spec(2, vec![leaf("a", 2)]), "priorityClassName", json!("high")),
        ),
        (
            "a PriorityClass and a placement",
            queued(gang(json!({
                "podgroups": [group("a", 2, 2)], "priorityClassName": "high", "topologyConstraint": required("block"),
            }))),
            with(
                with(spec(2, vec![leaf("a", 2)]), "priorityClassName", json!("high")),
                "topologyConstraint",
                at("block"),
            ),
        ),
        ("one pod", queued(gang(json!({ "podgroups": [group("a", 1, 1)] }))), spec(1, vec![leaf("a", 1)])),
        (
            "the largest gang",
            queued(gang(json!({ "podgroups": [group("a", 5000, 5000)] }))),
            spec(5000, vec![leaf("a", 5000)]),
        ),
        (
            "required for one group only",
            queued(gang(
                json!({ "podgroups": [group("a", 1, 1), placed(group("b", 2, 2), required("rack"))] }),
            )),
            spec(3, vec![leaf("a", 1), with(leaf("b", 2), "topologyConstraint", at("rack"))]),
        ),
        (
            "groups at different levels",
            queued(gang(json!({
                "podgroups": [placed(group("a", 1, 1), required("host")), placed(group("b", 2, 2), preferred("rack"))],
            }))),
            spec(
                3,
                vec![
                    with(leaf("a", 1), "topologyConstraint", at("host")),
                    with(leaf("b", 2), "topologyConstraint", near("rack")),
                ],
            ),
        ),
        (
            "a bundle with a preferred level",
            queued(gang(json!({
                "podgroups": [group("a", 1, 1), group("b", 1, 1)],
                "topologyConstraintGroupConfigs": [placed(config("ab", &["a", "b"]), preferred("rack"))],
            }))),
            spec(
                2,
                vec![
                    with(bundle("ab", 2), "topologyConstraint", near("rack")),
                    leaf_in("ab", "a", 1),
                    leaf_in("ab", "b", 1),
                ],
            ),
        ),
        (
            "a group between the groups of a bundle",
            queued(gang(json!({
                "podgroups": [group("a", 1, 1), group("x", 1, 1), group("b", 1, 1)],
                "topologyConstraintGroupConfigs": [config("ab", &["a", "b"])],
            }))),
            spec(3, vec![bundle("ab", 2), leaf_in("ab", "a", 1), leaf_in("ab", "b", 1), leaf("x", 1)]),
        ),
        (
            "one group is lifted, and nothing was there",
            queued(gang(json!({ "podgroups": [group("a", 3, 3), group("b", 0, 1)] }))),
            spec(4, vec![leaf("a", 3), leaf("b", 1)]),
        ),
        (
            "lifted before anything was there",
            queued(gang(json!({ "podgroups": [group("a", 0, 2), group("b", 0, 1)] }))),
            spec(2, vec![leaf("a", 1), leaf("b", 1)]),
        ),
        (
            "capacity of a former gang is ignored",
            queued(gang(json!({
                "podgroups": [group("a", 2, 2)], "reuseReservationRef": { "namespace": "ns", "name": "old" },
            }))),
            spec(2, vec![leaf("a", 2)]),
        ),
    ];
    for (what, gang, spec) in table {
        let object = rendered(Kai::V15, &gang, &[]);
        assert_eq!(object.value, pod_group(spec), "{what}");
        assert_eq!(object.once, ["/spec/queue", "/metadata/labels/kai.scheduler~1queue"], "{what}");
        assert!(object.immutable.is_empty());
        assert_eq!(object, rendered(Kai::V15, &gang, std::slice::from_ref(&object.value)), "{what}, again");
    }
}

#[test]
fn a_gang_without_groups_needs_nothing() {
    let empty = queued(gang(json!({ "podgroups": [] })));
    assert_eq!(kai(Kai::V15).render(&empty, &[]).unwrap(), []);
}

#[test]
fn the_worked_example_in_all_releases() {
    let sub_groups = |parent: Value| {
        vec![
            with(parent, "topologyConstraint", at("rack")),
            leaf("web-0-frontend", 1),
            leaf_in("web-0-pd-0", "web-0-pd-0-prefill", 2),
            with(
                leaf_in("web-0-pd-0", "web-0-pd-0-decode", 3),
                "topologyConstraint",
                near("kubernetes.io/hostname"),
            ),
        ]
    };
    let spec = |parent: Value| {
        let spec = with(spec(6, sub_groups(parent)), "topologyConstraint", at("zone"));
        with(spec, "priorityClassName", json!("inference"))
    };
    let mut old = pod_group(spec(json!({ "name": "web-0-pd-0" })));
    old["metadata"]["annotations"] = json!({ "grove.io/topology-name": "dc" });
    let new = pod_group(spec(bundle("web-0-pd-0", 2)));
    let newest = pod_group(with(spec(bundle("web-0-pd-0", 2)), "stalenessGracePeriod", json!("-1s")));
    for (release, wanted) in [(Kai::V12, old), (Kai::V15, new), (Kai::V17, newest)] {
        assert_eq!(rendered(release, &worked_example(), &[]).value, wanted, "{release:?}");
    }
}

#[test]
fn a_scaled_gang_has_a_pod_group_of_its_own() {
    let scaled = queued(named("web-0-pd-0", json!({ "podgroups": [group("web-0-pd-1-prefill", 2, 2)] })));
    let object = rendered(Kai::V15, &scaled, &[]).value;
    assert_eq!(object["metadata"]["name"], "pg-web-0-pd-0-u1");
    assert_eq!(object["spec"], spec(2, vec![leaf("web-0-pd-1-prefill", 2)]));
}

#[test]
fn bundles_may_stand_in_bundles() {
    let group = |name: &str, min| Node {
        name: name.to_owned(),
        content: Content::Group { min, pods: Vec::new() },
        ..Node::default()
    };
    let bundle_of = |name: &str, children| Node {
        name: name.to_owned(),
        pack: Pack { required: Some(name.to_owned()), preferred: None },
        content: Content::Bundle(children),
        ..Node::default()
    };
    let mut tree = one();
    tree.children = vec![bundle_of("outer", vec![bundle_of("inner", vec![group("a", 1)]), group("b", 2)])];
    let inner =
        json!({ "name": "inner", "minSubGroup": 1, "parent": "outer", "topologyConstraint": at("inner") });
    let outer = json!({ "name": "outer", "minSubGroup": 2, "topologyConstraint": at("outer") });
    let wanted = spec(3, vec![outer, inner, leaf_in("inner", "a", 1), leaf_in("outer", "b", 2)]);
    assert_eq!(rendered(Kai::V15, &tree, &[]).value["spec"], wanted);
}

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
fn lifted_minima_keep_what_the_scheduler_has() {
    let before = queued(gang(json!({ "podgroups": [group("a", 3, 3), group("b", 2, 2)] })));
    let before = rendered(Kai::V15, &before, &[]).value;
    for (minima, wanted) in [((0, 0), (3, 2)), ((0, 4), (3, 4)), ((1, 0), (1, 2))] {
        let lifted =
            json!({ "podgroups": [group("a", minima.0, 3), group("b", minima.1, 2), group("new", 0, 1)] });
        let object = rendered(Kai::V15, &queued(gang(lifted)), std::slice::from_ref(&before)).value;
        let sub_groups = vec![leaf("a", wanted.0), leaf("b", wanted.1), leaf("new", 1)];
        assert_eq!(object, pod_group(spec(wanted.0 + wanted.1 + 1, sub_groups)), "{minima:?}");
    }
}

#[test]
fn what_kai_owns_at_run_time_stays_as_it_is() {
    let mut there = rendered(Kai::V15, &one(), &[]).value;
    there["spec"]["queue"] = json!("moved");
    there["spec"]["markUnschedulable"] = json!(false);
    there["spec"]["schedulingBackoff"] = json!(1);
    there["metadata"]["labels"]["kai.scheduler/queue"] = json!("moved");
    there["metadata"]["labels"]["kai.scheduler/node-pool"] = json!("gpu");
    // Even where the set says nothing any longer, or contradicts itself.
    let mut now = gang(json!({ "podgroups": [group("a", 2, 2), group("b", 1, 1)] }));
    for (name, queue) in [("a", "x"), ("b", "y")] {
        let labels = map(&[("kai.scheduler/queue", queue), ("kai.scheduler/node-pool", queue)]);
        now.describe_group(name, labels, map(&[]));
    }
    let object = rendered(Kai::V15, &now, &[there]);
    let mut wanted = spec(3, vec![leaf("a", 2), leaf("b", 1)]);
    wanted["queue"] = json!("moved");
    assert_eq!(object.value["spec"], wanted);
    let labels = json!({
        "app.kubernetes.io/part-of": "web", "kai.scheduler/queue": "moved", "kai.scheduler/node-pool": "gpu",
    });
    assert_eq!(object.value["metadata"]["labels"], labels);
    let once =
        ["/spec/queue", "/metadata/labels/kai.scheduler~1node-pool", "/metadata/labels/kai.scheduler~1queue"];
    assert_eq!(object.once, once);
}

#[test]
fn a_node_pool_is_given_when_the_pod_group_is_made_and_never_later() {
    let pool = |object: &Value| {
        object["metadata"]["labels"].get("kai.scheduler/node-pool").and_then(Value::as_str).map(str::to_owned)
    };
    let of_set = labelled(one(), &[("kai.scheduler/node-pool", "gpu")]);
    let mut of_template = one();
    of_template.describe_group("a", map(&[("kai.scheduler/node-pool", "gpu")]), map(&[]));
    for gang in [of_set, of_template] {
        assert_eq!(pool(&rendered(Kai::V15, &gang, &[]).value).as_deref(), Some("gpu"));
        let without = rendered(Kai::V15, &one(), &[]).value;
        assert_eq!(pool(&rendered(Kai::V15, &gang, &[without]).value), None);
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

#[test]
fn a_pod_group_of_upstream_grove_is_kept_and_no_second_one_made() {
    let mut upstream = pod_group(spec(3, vec![leaf("a", 3)]));
    upstream["metadata"]["name"] = json!("web-0");
    let lifted = queued(gang(json!({ "podgroups": [group("a", 0, 3)] })));
    let object = rendered(Kai::V15, &lifted, std::slice::from_ref(&upstream)).value;
    assert_eq!(object["metadata"]["name"], "web-0");
    assert_eq!(object["spec"], spec(3, vec![leaf("a", 3)]));

    // KAI's pod grouper moved the pods to its own already.
    let own = pod_group(spec(2, vec![leaf("a", 2)]));
    let object = rendered(Kai::V15, &lifted, &[upstream.clone(), own]).value;
    assert_eq!(object["metadata"]["name"], "pg-web-0-u1");
    assert_eq!(object["spec"], spec(2, vec![leaf("a", 2)]));

    // An object of another API is not it.
    upstream["apiVersion"] = json!("scheduling.volcano.sh/v1beta1");
    assert_eq!(rendered(Kai::V15, &one(), &[upstream]).value["metadata"]["name"], "pg-web-0-u1");
}
