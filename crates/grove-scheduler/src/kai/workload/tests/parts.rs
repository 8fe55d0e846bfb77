//! Parts of a group, and the pod's place in them, on the newest KAI.

use super::*;

#[test]
fn each_level_says_what_it_needs() {
    let cases = [
        // PyTorchJob: the whole has a number of pods, and a part may need none.
        (
            Group {
                min_members: 1,
                sub_groups: vec![leaf("master", 1, &["p"]), leaf("worker", 0, &[])],
                ..group()
            },
            json!({ "minMember": 1, "subGroups": [
                { "name": "master", "minMember": 1 },
                { "name": "worker", "minMember": 0 },
            ] }),
        ),
        // JobSet: the whole has a number of parts, and so have they.
        (
            Group {
                min_sub_groups: Some(1),
                sub_groups: vec![
                    parent("w", 2),
                    SubGroup {
                        topology: Some(topology(Some("rack"), None)),
                        ..inside("w", leaf("w-replica-0", 4, &["p"]))
                    },
                    inside("w", leaf("w-replica-1", 4, &[])),
                ],
                ..group()
            },
            json!({ "minSubGroup": 1, "subGroups": [
                { "name": "w", "minSubGroup": 2 },
                { "name": "w-replica-0", "parent": "w", "minMember": 4,
                  "topologyConstraint": { "topology": "dc", "requiredTopologyLevel": "rack" } },
                { "name": "w-replica-1", "parent": "w", "minMember": 4 },
            ] }),
        ),
        // A parent that says nothing needs all: the webhook refuses a number of pods there.
        (
            Group { sub_groups: vec![leaf("w", 9, &[]), inside("w", leaf("x", 2, &["p"]))], ..group() },
            json!({ "minMember": 2, "subGroups": [
                { "name": "w" },
                { "name": "x", "parent": "w", "minMember": 2 },
            ] }),
        ),
    ];
    for (group, more) in cases {
        let mut expected = with(plain(), more);
        if group.min_sub_groups.is_some() {
            expected.as_object_mut().map(|it| it.remove("minMember"));
        }
        assert_eq!(spec(&NEWEST, &group), expected);
        assert_eq!(spec(&V15, &group), expected);
        assert_eq!(grouped(&NEWEST, &group, None).remarks, [""; 0]);
    }
}

#[test]
fn a_pod_carries_the_part_that_lists_it() {
    let in_parts = |sub_groups| Group { sub_groups, ..group() };
    let nowhere = "pod p is in none of the parts of its group: KAI does not place it";
    let above = "pod p is in part \"w\", which has parts: KAI does not place it";
    let tree = |pods: &[&str]| vec![parent("w", 1), inside("w", leaf("x", 1, pods))];
    let cases: [(Vec<SubGroup>, Option<&str>, &[&str]); 6] = [
        (vec![leaf("a", 1, &["q"]), leaf("b", 1, &["p"])], Some("b"), &[]),
        (tree(&["p"]), Some("x"), &[]),
        // What the pod carried before is taken off.
        (vec![leaf("a", 1, &["q"])], None, &[nowhere]),
        (vec![leaf("a", 1, &[]), leaf("default", 0, &[])], None, &[]),
        (
            vec![SubGroup { pods: vec!["p".to_owned()], ..parent("w", 1) }, tree(&[])[1].clone()],
            Some("w"),
            &[above],
        ),
        (vec![], None, &[]),
    ];
    for (sub_groups, place, remarks) in cases {
        let grouped = grouped(&NEWEST, &in_parts(sub_groups.clone()), None);
        let expected = BTreeMap::from([("kai.scheduler/subgroup-name".to_owned(), place.map(str::to_owned))]);
        assert_eq!(grouped.labels, expected, "{sub_groups:?}");
        assert_eq!(grouped.pod_remarks, remarks, "{sub_groups:?}");
    }
}

#[test]
fn parts_that_can_never_be_complete_are_told() {
    let few = Group { min_sub_groups: Some(3), sub_groups: vec![leaf("a", 1, &["p"])], ..group() };
    let grouped_few = grouped(&NEWEST, &few, None);
    assert_eq!(grouped_few.object["spec"]["minSubGroup"], 3);
    assert_eq!(grouped_few.remarks, ["the group needs more parts than it has: KAI does not place it"]);
    let below = vec![parent("w", 2), inside("w", leaf("x", 1, &["p"]))];
    let told = grouped(&NEWEST, &Group { sub_groups: below, ..group() }, None).remarks;
    assert_eq!(told, ["part \"w\" needs more parts than it has: KAI does not place it"]);
}

#[test]
fn wrong_parts_and_places_are_refused() {
    let placed = |topology| vec![SubGroup { topology, ..leaf("a", 1, &["p"]) }];
    let refused = |sub_groups| {
        NEWEST.render(&Group { sub_groups, ..group() }, &pod("p"), None).expect_err("it is wrong").0
    };
    assert_eq!(
        refused(placed(Some(topology(None, None)))),
        "part \"a\" is placed by topology \"dc\", but no level of it is named: KAI would never place it"
    );
    assert_eq!(refused(vec![leaf("a", 1, &[]), leaf("a", 1, &[])]), "two parts of the group are named \"a\"");

    let nameless = Some(Topology { preferred: Some("rack".to_owned()), ..Topology::default() });
    let told = grouped(&NEWEST, &Group { sub_groups: placed(nameless), ..group() }, None);
    assert_eq!(told.remarks, ["the levels of part \"a\" have no effect: no topology is named for them"]);
    let expected = json!({ "preferredTopologyLevel": "rack" });
    assert_eq!(told.object["spec"]["subGroups"][0]["topologyConstraint"], expected);
}
