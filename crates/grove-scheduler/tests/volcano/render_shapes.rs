//! PodGangs of every shape and the PodGroups that Volcano is given for them, field by field.

use crate::{
    cluster::{
        Volcano, bundle_policy, cluster, hard, pod_group, policy, rendered, soft, volcano, with_network,
    },
    common::{both, gang, group, named, placed, preferred, required},
    wanted::{bundled, placed_gang, spec, with},
};
use grove_scheduler::{Content, Gang, Node, Pack};
use serde_json::{Value, json};

#[test]
fn gangs_of_every_shape() {
    let none = || json!({});
    let flat = || vec![policy("front", 1), policy("pre", 2), policy("dec", 3)];
    let merged = |network: Value| {
        let spec =
            spec(6, vec![policy("front", 1), with_network(bundle_policy("pd", &["pre", "dec"], 5), network)]);
        with(spec, "minTaskMember", json!({ "pre": 2, "dec": 3 }))
    };
    let table: Vec<(&str, Gang, Value)> = vec![
        ("one pod", gang(json!({ "podgroups": [group("a", 1, 1)] })), spec(1, vec![policy("a", 1)])),
        ("one group", gang(json!({ "podgroups": [group("a", 2, 2)] })), spec(2, vec![policy("a", 2)])),
        (
            "pods above the minimum",
            gang(json!({ "podgroups": [group("a", 2, 5)] })),
            spec(2, vec![policy("a", 2)]),
        ),
        ("no pods yet", gang(json!({ "podgroups": [group("a", 2, 0)] })), spec(2, vec![policy("a", 2)])),
        (
            "several groups",
            gang(json!({ "podgroups": [group("a", 1, 1), group("b", 2, 3), group("c", 4, 4)] })),
            spec(7, vec![policy("a", 1), policy("b", 2), policy("c", 4)]),
        ),
        (
            "64 cliques",
            gang(json!({
                "podgroups": (0..64).map(|it| group(&format!("web-0-c{it}"), 2, 2)).collect::<Vec<_>>(),
            })),
            spec(128, (0..64).map(|it| policy(&format!("web-0-c{it}"), 2)).collect()),
        ),
        (
            "a name at the limit",
            gang(json!({ "podgroups": [group(&"n".repeat(63), 1, 1)] })),
            spec(1, vec![policy(&"n".repeat(63), 1)]),
        ),
        (
            "the largest gang",
            gang(json!({ "podgroups": [group("a", 5000, 5000)] })),
            spec(5000, vec![policy("a", 5000)]),
        ),
        (
            "a PriorityClass",
            gang(json!({ "podgroups": [group("a", 2, 2)], "priorityClassName": "high" })),
            with(spec(2, vec![policy("a", 2)]), "priorityClassName", json!("high")),
        ),
        (
            "required for the gang",
            placed_gang(required("rack")),
            with(spec(3, vec![policy("a", 1), policy("b", 2)]), "networkTopology", hard("rack")),
        ),
        (
            "preferred for the gang",
            placed_gang(preferred("rack")),
            with(spec(3, vec![policy("a", 1), policy("b", 2)]), "networkTopology", soft()),
        ),
        (
            "required and preferred",
            placed_gang(both("zone", "rack")),
            with(spec(3, vec![policy("a", 1), policy("b", 2)]), "networkTopology", hard("zone")),
        ),
        (
            "a placement without a level",
            placed_gang(json!({ "packConstraint": { "required": "", "preferred": "" } })),
            spec(3, vec![policy("a", 1), policy("b", 2)]),
        ),
        (
            "required for one group",
            gang(json!({ "podgroups": [placed(group("a", 1, 1), required("rack")), group("b", 2, 2)] })),
            spec(3, vec![with_network(policy("a", 1), hard("rack")), policy("b", 2)]),
        ),
        (
            "preferred for one group",
            gang(json!({ "podgroups": [placed(group("a", 1, 1), preferred("rack")), group("b", 2, 2)] })),
            spec(3, vec![with_network(policy("a", 1), soft()), policy("b", 2)]),
        ),
        (
            "two nested levels",
            gang(json!({
                "podgroups": [placed(group("a", 1, 1), required("rack")), placed(group("b", 2, 2), required("block"))],
                "topologyConstraint": required("zone"),
            })),
            with(
                spec(
                    3,
                    vec![
                        with_network(policy("a", 1), hard("rack")),
                        with_network(policy("b", 2), hard("block")),
                    ],
                ),
                "networkTopology",
                hard("zone"),
            ),
        ),
        ("a bundle without a placement", bundled(none(), none(), none(), none()), spec(6, flat())),
        ("a bundle with a level", bundled(none(), required("rack"), none(), none()), merged(hard("rack"))),
        (
            "a bundle inside of the gang's level",
            bundled(required("zone"), required("rack"), none(), none()),
            with(merged(hard("rack")), "networkTopology", hard("zone")),
        ),
        (
            "a bundle whose groups ask for the same level",
            bundled(none(), required("rack"), required("rack"), none()),
            merged(hard("rack")),
        ),
        (
            "a bundle whose groups have a wish",
            bundled(none(), required("block"), preferred("rack"), none()),
            merged(hard("block")),
        ),
        ("a bundle with a wish", bundled(none(), preferred("rack"), none(), none()), merged(soft())),
        (
            "a bundle whose groups have levels of their own leaves its wish to the gang",
            bundled(none(), preferred("block"), required("rack"), none()),
            with(
                spec(
                    6,
                    vec![policy("front", 1), with_network(policy("pre", 2), hard("rack")), policy("dec", 3)],
                ),
                "networkTopology",
                soft(),
            ),
        ),
        (
            "three levels, of which the bundle's is that of the gang",
            bundled(required("zone"), required("zone"), required("rack"), none()),
            with(
                spec(
                    6,
                    vec![policy("front", 1), with_network(policy("pre", 2), hard("rack")), policy("dec", 3)],
                ),
                "networkTopology",
                hard("zone"),
            ),
        ),
        (
            "a bundle at the level of the gang, with a wish",
            bundled(required("zone"), both("zone", "rack"), none(), none()),
            with(spec(6, flat()), "networkTopology", hard("zone")),
        ),
        (
            "lifted before anything was there",
            gang(json!({ "podgroups": [group("a", 0, 2), group("b", 0, 1)] })),
            spec(2, vec![policy("a", 1), policy("b", 1)]),
        ),
        (
            "one group is lifted, and nothing was there",
            gang(json!({ "podgroups": [group("a", 3, 3), group("b", 0, 1)] })),
            spec(4, vec![policy("a", 3), policy("b", 1)]),
        ),
        (
            "capacity of a former gang is ignored",
            gang(json!({
                "podgroups": [group("a", 2, 2)], "reuseReservationRef": { "namespace": "ns", "name": "old" },
            })),
            spec(2, vec![policy("a", 2)]),
        ),
    ];
    assert!(table.len() > 25);
    for (what, gang, spec) in table {
        let object = rendered(Volcano::V14, &gang, &[]);
        assert_eq!(object.value, pod_group(spec), "{what}");
        assert!(object.once.is_empty() && object.immutable.is_empty());
        assert_eq!(
            object,
            rendered(Volcano::V14, &gang, std::slice::from_ref(&object.value)),
            "{what}, again"
        );
    }
}

#[test]
fn a_gang_without_groups_needs_nothing() {
    let empty = gang(json!({ "podgroups": [] }));
    assert_eq!(volcano(&cluster(Volcano::V14)).render(&empty, &[]).unwrap(), []);
}

#[test]
fn a_scaled_gang_has_a_pod_group_of_its_own() {
    let scaled = named("web-0-pd-0", json!({ "podgroups": [group("web-0-pd-1-pre", 2, 2)] }));
    let object = rendered(Volcano::V14, &scaled, &[]).value;
    assert_eq!(object["metadata"]["name"], "web-0-pd-0");
    assert_eq!(object["spec"], spec(2, vec![policy("web-0-pd-1-pre", 2)]));
}

#[test]
fn bundles_in_a_bundle_become_one_sub_group() {
    let group = |name: &str, min| Node {
        name: name.to_owned(),
        content: Content::Group { min, pods: Vec::new() },
        ..Node::default()
    };
    let bundle_of = |name: &str, level: Option<&str>, children| Node {
        name: name.to_owned(),
        pack: Pack { required: level.map(str::to_owned), preferred: None },
        content: Content::Bundle(children),
        ..Node::default()
    };
    let tree = |outer, inner| {
        let mut tree = gang(json!({ "podgroups": [] }));
        tree.children = vec![bundle_of(
            "outer",
            outer,
            vec![bundle_of("inner", inner, vec![group("a", 1)]), group("b", 2)],
        )];
        tree
    };
    let object = rendered(Volcano::V14, &tree(Some("rack"), None), &[]).value;
    let policies = vec![with_network(bundle_policy("outer", &["a", "b"], 3), hard("rack"))];
    assert_eq!(object["spec"], with(spec(3, policies), "minTaskMember", json!({ "a": 1, "b": 2 })));
    let object = rendered(Volcano::V14, &tree(None, Some("rack")), &[]).value;
    let policies = vec![with_network(bundle_policy("inner", &["a"], 1), hard("rack")), policy("b", 2)];
    assert_eq!(object["spec"], with(spec(3, policies), "minTaskMember", json!({ "a": 1 })));
    let error = volcano(&cluster(Volcano::V14)).render(&tree(Some("block"), Some("rack")), &[]).unwrap_err();
    assert!(error.to_string().contains(r#""inner" in it cannot require another one"#), "{error}");
}
