//! CompositePodGroups: recipe 6.1.

use grove_scheduler::{Gang, Node, Pack, tree::Content};
use serde_json::{Value, json};

use crate::{
    TREE, alone, at, bundle, check, class,
    common::{both, config, gang, group, named, placed, preferred, required},
    leaf, root, values,
};

const ZONE: &str = "topology.kubernetes.io/zone";
const BLOCK: &str = "topology.example.com/block";
const RACK: &str = "topology.example.com/rack";
const HOST: &str = "kubernetes.io/hostname";

/// The others are scaled to zero: the group of running pods must not have to move when they come back.
#[test]
fn one_group_that_others_come_back_to_stays_below_the_root() {
    let spec = json!({ "podgroups": [group("web-0-a", 3, 3)] });
    let absent = Gang { absent: vec!["web-0-b".to_owned()], ..gang(spec) };
    let want = vec![root("web-0", 1), leaf("web-0", "web-0-a", "web-0", 3)];
    check(TREE, vec![("alone for the moment", absent, want)]);
}

#[test]
fn one_group_is_one_pod_group() {
    let one = |group: Value| gang(json!({ "podgroups": [group] }));
    check(
        TREE,
        vec![
            ("all pods needed", one(group("web-0-a", 3, 3)), vec![alone("web-0-a", 3)]),
            ("some pods needed", one(group("web-0-a", 2, 5)), vec![alone("web-0-a", 2)]),
            ("one pod", one(group("web-0-a", 1, 1)), vec![alone("web-0-a", 1)]),
            ("no pods yet", one(group("web-0-a", 2, 0)), vec![alone("web-0-a", 2)]),
            ("minimum lifted, nothing before", one(group("web-0-a", 0, 2)), vec![alone("web-0-a", 1)]),
            (
                "its own level",
                one(placed(group("web-0-a", 2, 2), required(RACK))),
                vec![at(RACK, alone("web-0-a", 2))],
            ),
            (
                "the level of the gang",
                gang(json!({ "podgroups": [group("web-0-a", 2, 2)], "topologyConstraint": required(ZONE) })),
                vec![at(ZONE, alone("web-0-a", 2))],
            ),
            (
                "the same level twice",
                gang(json!({
                    "podgroups": [placed(group("web-0-a", 2, 2), required(RACK))],
                    "topologyConstraint": required(RACK),
                })),
                vec![at(RACK, alone("web-0-a", 2))],
            ),
            (
                "two levels need two objects",
                gang(json!({
                    "podgroups": [placed(group("web-0-a", 2, 2), required(RACK))],
                    "topologyConstraint": required(ZONE),
                })),
                vec![at(ZONE, root("web-0", 1)), at(RACK, leaf("web-0", "web-0-a", "web-0", 2))],
            ),
            (
                "in a bundle that says nothing",
                gang(json!({
                    "podgroups": [group("web-0-a", 2, 2)],
                    "topologyConstraintGroupConfigs": [config("web-0-g-0", &["web-0-a"])],
                })),
                vec![alone("web-0-a", 2)],
            ),
            (
                "in a bundle with a level",
                gang(json!({
                    "podgroups": [group("web-0-a", 2, 2)],
                    "topologyConstraintGroupConfigs": [placed(config("web-0-g-0", &["web-0-a"]), required(RACK))],
                })),
                vec![
                    root("web-0", 1),
                    at(RACK, bundle("web-0", "web-0.web-0-g-0", "web-0", 1)),
                    leaf("web-0", "web-0-a", "web-0.web-0-g-0", 2),
                ],
            ),
            ("no group at all", gang(json!({ "podgroups": [] })), vec![]),
        ],
    );
}

#[test]
fn several_groups_hang_below_a_root() {
    let scaled = named(
        "web-0-g-1",
        json!({
            "podgroups": [group("web-0-g-2-p", 1, 1), group("web-0-g-2-d", 1, 2)],
            "topologyConstraint": required(BLOCK),
        }),
    );
    check(
        TREE,
        vec![
            (
                "two",
                gang(json!({ "podgroups": [group("web-0-a", 2, 2), group("web-0-b", 1, 4)] })),
                vec![
                    root("web-0", 2),
                    leaf("web-0", "web-0-a", "web-0", 2),
                    leaf("web-0", "web-0-b", "web-0", 1),
                ],
            ),
            (
                "a scaled gang is a root of its own",
                scaled,
                vec![
                    at(BLOCK, root("web-0-g-1", 2)),
                    leaf("web-0-g-1", "web-0-g-2-p", "web-0-g-1", 1),
                    leaf("web-0-g-1", "web-0-g-2-d", "web-0-g-1", 1),
                ],
            ),
            (
                "constrained ones first, then big ones, then as they come",
                gang(json!({ "podgroups": [
                    group("web-0-a", 1, 1), group("web-0-b", 8, 8), group("web-0-c", 1, 1),
                    placed(group("web-0-d", 2, 2), required(RACK)),
                ] })),
                vec![
                    root("web-0", 4),
                    at(RACK, leaf("web-0", "web-0-d", "web-0", 2)),
                    leaf("web-0", "web-0-b", "web-0", 8),
                    leaf("web-0", "web-0-a", "web-0", 1),
                    leaf("web-0", "web-0-c", "web-0", 1),
                ],
            ),
            (
                "a priority is on every object",
                gang(json!({
                    "podgroups": [group("web-0-a", 1, 1), group("web-0-b", 1, 1)],
                    "topologyConstraintGroupConfigs": [placed(config("web-0-g-0", &["web-0-b"]), required(RACK))],
                    "priorityClassName": "high",
                })),
                vec![
                    class("high", root("web-0", 2)),
                    class("high", at(RACK, bundle("web-0", "web-0.web-0-g-0", "web-0", 1))),
                    class("high", leaf("web-0", "web-0-a", "web-0", 1)),
                    class("high", leaf("web-0", "web-0-b", "web-0.web-0-g-0", 1)),
                ],
            ),
            (
                "a priority, one group",
                gang(json!({ "podgroups": [group("web-0-a", 1, 1)], "priorityClassName": "high" })),
                vec![class("high", alone("web-0-a", 1))],
            ),
            (
                "what is to be reused is a hint",
                gang(json!({ "podgroups": [group("web-0-a", 1, 1)],
                    "reuseReservationRef": { "namespace": "ns", "name": "web-1" } })),
                vec![alone("web-0-a", 1)],
            ),
        ],
    );
}

#[test]
fn levels_and_bundles() {
    let pd = |constraint: Option<Value>| {
        let config = config("web-0-g-0", &["web-0-g-0-p", "web-0-g-0-d"]);
        let config = constraint.map_or(config.clone(), |it| placed(config, it));
        vec![config]
    };
    let groups = || vec![group("web-0-fe", 1, 2), group("web-0-g-0-p", 1, 1), group("web-0-g-0-d", 2, 2)];
    let with =
        |configs: Vec<Value>| json!({ "podgroups": groups(), "topologyConstraintGroupConfigs": configs });
    let flat_leaves = || {
        vec![
            leaf("web-0", "web-0-g-0-d", "web-0", 2),
            leaf("web-0", "web-0-fe", "web-0", 1),
            leaf("web-0", "web-0-g-0-p", "web-0", 1),
        ]
    };
    let three = json!({
        "podgroups": [
            placed(group("web-0-fe", 1, 2), required(HOST)),
            placed(group("web-0-g-0-p", 1, 1), required(RACK)),
            group("web-0-g-0-d", 2, 2),
        ],
        "topologyConstraint": required(ZONE),
        "topologyConstraintGroupConfigs": pd(Some(required(BLOCK))),
    });
    check(
        TREE,
        vec![
            (
                "a bundle without a level says nothing",
                gang(with(pd(None))),
                [vec![root("web-0", 3)], flat_leaves()].concat(),
            ),
            (
                "a bundle that only prefers says nothing here",
                gang(with(pd(Some(preferred(RACK))))),
                [vec![root("web-0", 3)], flat_leaves()].concat(),
            ),
            (
                "a bundle with a level",
                gang(with(pd(Some(required(RACK))))),
                vec![
                    root("web-0", 2),
                    at(RACK, bundle("web-0", "web-0.web-0-g-0", "web-0", 2)),
                    leaf("web-0", "web-0-g-0-d", "web-0.web-0-g-0", 2),
                    leaf("web-0", "web-0-fe", "web-0", 1),
                    leaf("web-0", "web-0-g-0-p", "web-0.web-0-g-0", 1),
                ],
            ),
            (
                "three levels",
                gang(three),
                vec![
                    at(ZONE, root("web-0", 2)),
                    at(BLOCK, bundle("web-0", "web-0.web-0-g-0", "web-0", 2)),
                    at(HOST, leaf("web-0", "web-0-fe", "web-0", 1)),
                    at(RACK, leaf("web-0", "web-0-g-0-p", "web-0.web-0-g-0", 1)),
                    leaf("web-0", "web-0-g-0-d", "web-0.web-0-g-0", 2),
                ],
            ),
            (
                "two bundles, one with a level",
                gang(json!({
                    "podgroups": [group("web-0-g-0-p", 1, 1), group("web-0-g-1-p", 1, 1)],
                    "topologyConstraintGroupConfigs": [
                        placed(config("web-0-g-0", &["web-0-g-0-p"]), required(RACK)),
                        config("web-0-g-1", &["web-0-g-1-p"]),
                    ],
                })),
                vec![
                    root("web-0", 2),
                    at(RACK, bundle("web-0", "web-0.web-0-g-0", "web-0", 1)),
                    leaf("web-0", "web-0-g-0-p", "web-0.web-0-g-0", 1),
                    leaf("web-0", "web-0-g-1-p", "web-0", 1),
                ],
            ),
            (
                "preferences are not the group's",
                gang(json!({
                    "podgroups": [placed(group("web-0-a", 1, 1), both(RACK, HOST)), group("web-0-b", 1, 1)],
                    "topologyConstraint": preferred(ZONE),
                })),
                vec![
                    root("web-0", 2),
                    at(RACK, leaf("web-0", "web-0-a", "web-0", 1)),
                    leaf("web-0", "web-0-b", "web-0", 1),
                ],
            ),
        ],
    );
}

#[test]
fn large_gangs_and_long_names() {
    let name = |number: usize| format!("web-0-c{number:02}");
    let groups: Vec<Value> = (0..64).map(|it| group(&name(it), 1, 2)).collect();
    let mut many = vec![root("web-0", 64)];
    many.extend((0..64).map(|it| leaf("web-0", &name(it), "web-0", 1)));
    let (set, clique) = ("s".repeat(63), "c".repeat(63));
    let long = named(
        &set,
        json!({
            "podgroups": [group(&clique, 1, 1)],
            "topologyConstraintGroupConfigs": [placed(config(&"g".repeat(63), &[&clique]), required(RACK))],
        }),
    );
    let middle = format!("{set}.{}", "g".repeat(63));
    check(
        TREE,
        vec![
            ("64 cliques", gang(json!({ "podgroups": groups })), many),
            (
                "names at the limit",
                long,
                vec![
                    root(&set, 1),
                    at(RACK, bundle(&set, &middle, &set, 1)),
                    leaf(&set, &clique, &middle, 1),
                ],
            ),
        ],
    );
    let too_long = named(&"s".repeat(254), json!({ "podgroups": [group("a", 1, 1), group("b", 1, 1)] }));
    assert!(TREE.refusal(&too_long).ends_with("has a name of more than 253 characters"));
}

/// A node of a tree that does not come from a PodGang.
fn node(name: &str, level: &str, content: Content) -> Node {
    let pack = Pack { required: Some(level.to_owned()), preferred: None };
    Node { name: name.to_owned(), pack, content, ..Node::default() }
}

#[test]
fn no_more_than_four_levels() {
    let deep = |bundles: &[&str]| {
        let pods = Content::Group { min: 1, pods: vec![] };
        let nest = |inner: Node, name: &&str| node(name, RACK, Content::Bundle(vec![inner]));
        let children = vec![bundles.iter().rev().fold(node("pods", HOST, pods), nest)];
        Gang { name: "g".to_owned(), children, ..Gang::default() }
    };
    check(
        TREE,
        vec![(
            "four",
            deep(&["x", "y"]),
            vec![
                root("g", 1),
                at(RACK, bundle("g", "g.x", "g", 1)),
                at(RACK, bundle("g", "g.y", "g.x", 1)),
                at(HOST, leaf("g", "pods", "g.y", 1)),
            ],
        )],
    );
    assert_eq!(TREE.refusal(&deep(&["x", "y", "z"])), "g has more than 4 levels of required topology");
}

#[test]
fn a_lifted_minimum_leaves_what_was_there() {
    let spec = |a: i32, b: i32| json!({ "podgroups": [group("web-0-a", a, 4), group("web-0-b", b, 4)] });
    let scheduler = TREE.scheduler();
    let before = scheduler.render(&gang(spec(3, 2)), &[]).unwrap();
    let lifted = scheduler.render(&gang(spec(0, 0)), &values(&before)).unwrap();
    assert_eq!(before, lifted);
    // A real change counts, and so does what somebody else set to nonsense.
    let changed = scheduler.render(&gang(spec(3, 4)), &values(&before)).unwrap();
    let expected = [leaf("web-0", "web-0-b", "web-0", 4), leaf("web-0", "web-0-a", "web-0", 3)];
    assert_eq!(values(&changed)[1..], expected);
    let nonsense = [leaf("web-0", "web-0-a", "web-0", 0)];
    let lifted = scheduler.render(&gang(spec(0, 0)), &nonsense).unwrap();
    assert_eq!(values(&lifted)[1], leaf("web-0", "web-0-a", "web-0", 1));
    // A PodGroup of another scheduler that has the name is not ours.
    let mut theirs = alone("web-0-a", 7);
    theirs["apiVersion"] = "scheduling.volcano.sh/v1beta1".into();
    let lifted = scheduler.render(&gang(spec(0, 0)), &[theirs]).unwrap();
    assert_eq!(values(&lifted)[1], leaf("web-0", "web-0-a", "web-0", 1));
}

#[test]
fn what_cannot_be_changed() {
    let spec = |class: &str| json!({ "podgroups": [group("web-0-a", 1, 1), group("web-0-b", 1, 1)], "priorityClassName": class });
    let fixed = [
        "/spec/parentCompositePodGroupName",
        "/spec/workloadRef",
        "/spec/schedulingConstraints",
        "/spec/disruptionMode",
    ];
    let rendered = TREE.scheduler().render(&gang(spec("")), &[]).unwrap();
    // A CompositePodGroup keeps even its minimum. The class is the server's to fill in.
    assert_eq!(rendered[0].immutable, [&fixed[..], &["/spec/schedulingPolicy"]].concat());
    assert_eq!(rendered[1].immutable, fixed);
    let rendered = TREE.scheduler().render(&gang(spec("high")), &[]).unwrap();
    assert_eq!(rendered[1].immutable, [&fixed[..], &["/spec/priorityClassName"]].concat());
    assert!(rendered.iter().all(|it| it.once.is_empty()));
}
