//! PodGangs of every shape and the PodGroups that KAI is given for them, field by field.

use crate::{
    cluster::{Kai, kai, pod_group, queued, rendered},
    common::{both, config, gang, group, named, placed, preferred, required},
    wanted::{at, bundle, leaf, leaf_in, near, one, spec, with},
};
use grove_scheduler::Gang;
use serde_json::{Value, json};

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
            "the same level required and preferred",
            three(both("rack", "rack")),
            with(
                spec(3, vec![with(leaf("a", 1), "topologyConstraint", at("rack")), leaf("b", 2)]),
                "topologyConstraint",
                at("rack"),
            ),
        ),
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
fn a_scaled_gang_has_a_pod_group_of_its_own() {
    let scaled = queued(named("web-0-pd-0", json!({ "podgroups": [group("web-0-pd-1-prefill", 2, 2)] })));
    let object = rendered(Kai::V15, &scaled, &[]).value;
    assert_eq!(object["metadata"]["name"], "pg-web-0-pd-0-u1");
    assert_eq!(object["spec"], spec(2, vec![leaf("web-0-pd-1-prefill", 2)]));
}
