//! Bundles, and groups beside them, in all releases.

use crate::{
    cluster::{Kai, pod_group, queued, rendered},
    common::{config, gang, group, placed, preferred, required},
    wanted::{at, bundle, leaf, leaf_in, near, one, spec, with},
};
use grove_scheduler::{Content, Gang, Node, Pack};
use serde_json::{Value, json};

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

#[test]
fn the_worked_example_in_all_releases() {
    let decode = with(
        leaf_in("web-0-pd-0", "web-0-pd-0-decode", 3),
        "topologyConstraint",
        near("kubernetes.io/hostname"),
    );
    let spec = |parents: Vec<Value>, frontend: Value| {
        let groups = [frontend, leaf_in("web-0-pd-0", "web-0-pd-0-prefill", 2), decode.clone()];
        let spec = spec(6, parents.into_iter().chain(groups).collect());
        with(with(spec, "topologyConstraint", at("zone")), "priorityClassName", json!("inference"))
    };
    let placed = |parent: Value| with(parent, "topologyConstraint", at("rack"));
    // 0.12 drops a group that stands beside a parent.
    let parents = vec![json!({ "name": "alone-0" }), placed(json!({ "name": "web-0-pd-0" }))];
    let mut old = pod_group(spec(parents, leaf_in("alone-0", "web-0-frontend", 1)));
    old["metadata"]["annotations"] = json!({ "grove.io/topology-name": "dc" });
    let new = spec(vec![placed(bundle("web-0-pd-0", 2))], leaf("web-0-frontend", 1));
    let newest = with(new.clone(), "stalenessGracePeriod", json!("-1s"));
    for (release, wanted) in [(Kai::V12, old), (Kai::V15, pod_group(new)), (Kai::V17, pod_group(newest))] {
        let object = rendered(release, &worked_example(), &[]).value;
        assert_eq!(object, wanted, "{release:?}");
        assert_eq!(rendered(release, &worked_example(), &[object]).value, wanted, "{release:?}, again");
    }
}

/// The sub-groups that 0.12 is given.
fn of_v12(gang: &Gang) -> Value {
    rendered(Kai::V12, gang, &[]).value["spec"]["subGroups"].clone()
}

#[test]
fn in_0_12_each_group_beside_bundles_has_a_parent_of_its_own() {
    let bundles = json!([config("r0", &["p0", "d0"]), placed(config("r1", &["p1"]), required("rack"))]);
    let groups = |placement: Value| {
        json!([
            placed(group("f", 1, 1), placement),
            group("p0", 1, 1),
            group("d0", 2, 2),
            group("p1", 1, 1),
            group("g", 3, 3),
        ])
    };
    let mixed = queued(gang(json!({
        "podgroups": groups(required("host")), "topologyConstraintGroupConfigs": bundles,
    })));
    let mut wanted = vec![
        json!({ "name": "alone-0" }),
        json!({ "name": "r0" }),
        with(json!({ "name": "r1" }), "topologyConstraint", at("rack")),
        json!({ "name": "alone-1" }),
        with(leaf_in("alone-0", "f", 1), "topologyConstraint", at("host")),
        leaf_in("r0", "p0", 1),
        leaf_in("r0", "d0", 2),
        leaf_in("r1", "p1", 1),
        leaf_in("alone-1", "g", 3),
    ];
    assert_eq!(of_v12(&mixed), json!(wanted));
    let lifted = queued(gang(json!({
        "podgroups": [
            placed(group("f", 0, 1), required("host")), group("p0", 0, 1), group("d0", 0, 2), group("p1", 0, 1),
            group("g", 0, 3),
        ],
        "topologyConstraintGroupConfigs": bundles,
    })));
    let before = rendered(Kai::V12, &mixed, &[]).value;
    assert_eq!(rendered(Kai::V12, &lifted, std::slice::from_ref(&before)).value, before);

    // Without bundles nothing is mixed.
    let plain = queued(gang(json!({ "podgroups": groups(required("host")) })));
    wanted = vec![
        with(leaf("f", 1), "topologyConstraint", at("host")),
        leaf("p0", 1),
        leaf("d0", 2),
        leaf("p1", 1),
        leaf("g", 3),
    ];
    assert_eq!(of_v12(&plain), json!(wanted));
    // Nor is it with bundles only.
    let two = queued(gang(json!({
        "podgroups": [group("a", 1, 1), group("b", 2, 2)],
        "topologyConstraintGroupConfigs": [config("x", &["a"]), config("y", &["b"])],
    })));
    wanted = vec![json!({ "name": "x" }), json!({ "name": "y" }), leaf_in("x", "a", 1), leaf_in("y", "b", 2)];
    assert_eq!(of_v12(&two), json!(wanted));
}

#[test]
fn a_parent_of_its_own_takes_no_name_that_is_taken() {
    let longest = "n".repeat(63);
    let gang = queued(gang(json!({
        "podgroups": [group("alone-0", 1, 1), group(&longest, 1, 1), group("a", 1, 1)],
        "topologyConstraintGroupConfigs": [config("alone-2", &["a"])],
    })));
    let wanted = json!([
        { "name": "alone-1" },
        { "name": "alone-3" },
        { "name": "alone-2" },
        leaf_in("alone-1", "alone-0", 1),
        leaf_in("alone-3", &longest, 1),
        leaf_in("alone-2", "a", 1),
    ]);
    assert_eq!(of_v12(&gang), wanted);
}

/// As KAI's pod grouper of 0.13 and 0.14 writes it.
fn of_grouper() -> Value {
    let mut there = rendered(Kai::V15, &worked_example(), &[]).value;
    there["spec"]["subGroups"][0].as_object_mut().unwrap().remove("minSubGroup");
    there
}

#[test]
fn a_pod_grouper_that_knows_bundles_is_followed() {
    let render = |there: &Value| rendered(Kai::V12, &worked_example(), std::slice::from_ref(there)).value;
    let theirs = of_grouper();
    let mut wanted = theirs.clone();
    wanted["metadata"]["annotations"].as_object_mut().unwrap().remove("kai.scheduler/top-owner-metadata");
    assert_eq!(render(&theirs), wanted);

    // What we wrote since stays until it says otherwise.
    let ours = rendered(Kai::V12, &worked_example(), &[]).value;
    let mut described = ours.clone();
    described["metadata"]["annotations"] = theirs["metadata"]["annotations"].clone();
    assert_eq!(render(&described), ours);
    // Nobody else wrote it: an earlier version of ours did, and 0.12 may be what is there.
    assert_eq!(render(&wanted), ours);
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
    let wanted = json!([
        { "name": "outer", "topologyConstraint": at("outer") },
        { "name": "inner", "parent": "outer", "topologyConstraint": at("inner") },
        { "name": "alone-0", "parent": "outer" },
        leaf_in("inner", "a", 1),
        leaf_in("alone-0", "b", 2),
    ]);
    assert_eq!(of_v12(&tree), wanted);
}
