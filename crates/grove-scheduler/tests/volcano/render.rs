//! PodGangs and the PodGroups that Volcano is given for them, field by field.

use crate::{
    cluster::{
        Volcano, bare, bundle_policy, cluster, hard, hyper_node, hyper_nodes, pod_group, policy, rendered,
        soft, volcano, with_network,
    },
    common::{both, config, gang, group, map, named, placed, preferred, required},
};
use grove_scheduler::{Content, Gang, Node, Pack};
use serde_json::{Value, json};

/// A spec without anything that is not asked for.
fn spec(min: u32, policies: Vec<Value>) -> Value {
    json!({ "minMember": min, "queue": "default", "subGroupPolicy": policies })
}

fn with(mut it: Value, key: &str, value: Value) -> Value {
    it[key] = value;
    it
}

fn placed_gang(placement: Value) -> Gang {
    gang(json!({ "podgroups": [group("a", 1, 1), group("b", 2, 4)], "topologyConstraint": placement }))
}

/// Two groups in a bundle, beside a third one.
fn bundled(gang_level: Value, bundle: Value, first: Value, second: Value) -> Gang {
    gang(json!({
        "podgroups": [
            group("front", 1, 1),
            placed(group("pre", 2, 2), first),
            placed(group("dec", 3, 4), second),
        ],
        "topologyConstraint": gang_level,
        "topologyConstraintGroupConfigs": [placed(config("pd", &["pre", "dec"]), bundle)],
    }))
}

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

#[test]
fn lifted_minima_keep_what_the_scheduler_has() {
    let none = || json!({});
    let minima = |mut gang: Gang, minima: [u32; 3]| {
        fn set(node: &mut Node, minima: &mut impl Iterator<Item = u32>) {
            match &mut node.content {
                Content::Group { min, .. } => *min = minima.next().unwrap(),
                Content::Bundle(children) => children.iter_mut().for_each(|it| set(it, minima)),
            }
        }
        let mut minima = minima.into_iter();
        gang.children.iter_mut().for_each(|it| set(it, &mut minima));
        gang
    };
    let flat = || bundled(none(), none(), none(), none());
    let merged = || bundled(none(), required("rack"), none(), none());
    for gang in [&flat as &dyn Fn() -> Gang, &merged] {
        let before = rendered(Volcano::V14, &gang(), &[]).value;
        let render =
            |it: [u32; 3]| rendered(Volcano::V14, &minima(gang(), it), std::slice::from_ref(&before)).value;
        assert_eq!(render([0, 0, 0]), before);
        assert_eq!(render([1, 0, 3]), before);
        assert_eq!(render([0, 2, 4]), rendered(Volcano::V14, &minima(gang(), [1, 2, 4]), &[]).value);
    }
    // What is new has no value yet.
    let wider = json!({ "podgroups": [group("front", 0, 1), group("new", 0, 1)] });
    let before = rendered(Volcano::V14, &flat(), &[]).value;
    let object = rendered(Volcano::V14, &gang(wider), &[before]).value;
    assert_eq!(object["spec"], spec(2, vec![policy("front", 1), policy("new", 1)]));
    // An object of another name or API is not it.
    let mut other = rendered(Volcano::V14, &flat(), &[]).value;
    other["metadata"]["name"] = json!("other");
    let lifted = minima(flat(), [0, 0, 0]);
    let from_nothing = rendered(Volcano::V14, &lifted, &[]).value;
    assert_eq!(rendered(Volcano::V14, &lifted, &[other.clone()]).value, from_nothing);
    other["metadata"]["name"] = json!("web-0");
    other["apiVersion"] = json!("scheduling.run.ai/v2alpha2");
    assert_eq!(rendered(Volcano::V14, &lifted, &[other]).value, from_nothing);
}

#[test]
fn before_1_14_minima_are_kept_by_task() {
    let spec = |gang: &Gang, existing: &[Value]| rendered(Volcano::V12, gang, existing).value;
    let one = gang(json!({ "podgroups": [group("a", 2, 2)] }));
    assert_eq!(spec(&one, &[]), pod_group(json!({ "minMember": 2, "queue": "default" })));
    let lifted = gang(json!({ "podgroups": [group("a", 0, 2)] }));
    assert_eq!(spec(&lifted, &[spec(&one, &[])]), spec(&one, &[]));
    let two = gang(json!({ "podgroups": [group("a", 2, 2), group("b", 1, 1)] }));
    let wanted = json!({ "minMember": 3, "queue": "default", "minTaskMember": { "a": 2, "b": 1 } });
    assert_eq!(spec(&two, &[]), pod_group(wanted));
    let lifted = gang(json!({ "podgroups": [group("a", 0, 2), group("b", 0, 1)] }));
    assert_eq!(spec(&lifted, &[spec(&two, &[])]), spec(&two, &[]));
    // A wish is what 1.12 can do, and 1.11 cannot.
    let packed = placed_gang(preferred("rack"));
    assert_eq!(rendered(Volcano::V12, &packed, &[]).value["spec"]["networkTopology"], soft());
    assert_eq!(rendered(Volcano::V11, &packed, &[]).value["spec"].get("networkTopology"), None);
    let of_group = gang(json!({ "podgroups": [placed(group("a", 1, 1), preferred("rack"))] }));
    assert_eq!(rendered(Volcano::V12, &of_group, &[]).value["spec"]["networkTopology"], soft());
}

#[test]
fn a_level_that_volcano_cannot_keep_is_never_dropped() {
    let of_gang = placed_gang(required("rack"));
    let of_group = gang(json!({ "podgroups": [placed(group("a", 1, 1), required("rack"))] }));
    let of_bundle = bundled(json!({}), required("rack"), json!({}), json!({}));
    let v14 = |nodes: Vec<Value>| bare(Volcano::V14).with_objects(&hyper_nodes(), nodes);
    let unnamed = json!({ "spec": { "tier": 1 } });
    let lacks = "the cluster has no HyperNodes, from which Volcano knows its topology, so that \"rack\" cannot be required";
    for (what, cluster, wanted) in [
        ("no HyperNodes are served", bare(Volcano::V14), lacks),
        ("there are none", v14(vec![]), lacks),
        (
            "of other names",
            v14(vec![hyper_node(1, "host"), hyper_node(2, "zone")]),
            "no HyperNode has the tierName \"rack\"; there are: host, zone",
        ),
        (
            "of no names",
            v14(vec![unnamed, hyper_node(2, "")]),
            "no HyperNode has the tierName \"rack\"; there are: none",
        ),
        (
            "of two tiers",
            v14(vec![hyper_node(1, "rack"), hyper_node(2, "rack")]),
            "HyperNodes of different tiers have the tierName \"rack\", so that it means no level",
        ),
    ] {
        for gang in [&of_gang, &of_group, &of_bundle] {
            assert_eq!(volcano(&cluster).render(gang, &[]).unwrap_err().to_string(), wanted, "{what}");
        }
        // A wish is let go.
        let packed = volcano(&cluster).render(&placed_gang(preferred("rack")), &[]).unwrap();
        assert_eq!(packed[0].value["spec"].get("networkTopology").is_some(), wanted != lacks, "{what}");
    }
    // Who cannot be read is believed.
    let unread = bare(Volcano::V14).with_served(&hyper_nodes(), true);
    assert_eq!(
        volcano(&unread).render(&of_gang, &[]).unwrap()[0].value["spec"]["networkTopology"],
        hard("rack")
    );
    let old = |gang: &Gang| volcano(&cluster(Volcano::V12)).render(gang, &[]).unwrap_err().to_string();
    assert_eq!(
        old(&of_gang),
        "Volcano before 1.14 cannot be told a level of the topology, so that \"rack\" cannot be required"
    );
    let part = "Volcano before 1.14 cannot place a part of a gang on its own";
    assert_eq!(old(&of_group), format!("{part}, so that \"a\" cannot require \"rack\""));
    assert_eq!(old(&of_bundle), format!("{part}, so that \"pd\" cannot require \"rack\""));
}

#[test]
fn the_number_that_volcano_writes_for_a_level_is_not_fought_over() {
    let numbered = |mut object: Value, of_gang: i64, of_group: i64| {
        let hard = |tier: i64| json!({ "mode": "hard", "highestTierAllowed": tier });
        object["spec"]["networkTopology"] = hard(of_gang);
        object["spec"]["subGroupPolicy"][1]["networkTopology"] = hard(of_group);
        object
    };
    let gang = gang(json!({
        "podgroups": [group("a", 1, 1), placed(group("b", 2, 2), required("rack"))],
        "topologyConstraint": required("zone"),
    }));
    let named = rendered(Volcano::V14, &gang, &[]).value;
    assert_eq!(rendered(Volcano::V14, &gang, std::slice::from_ref(&named)).value, named);
    let there = numbered(named.clone(), 3, 1);
    assert_eq!(rendered(Volcano::V14, &gang, std::slice::from_ref(&there)).value, there);
    // The tiers of the levels have changed since.
    let outdated = numbered(named.clone(), 9, 8);
    assert_eq!(rendered(Volcano::V14, &gang, std::slice::from_ref(&outdated)).value, there);
    // Nobody could read which ones they are.
    let unread = bare(Volcano::V14).with_served(&hyper_nodes(), true);
    let objects = volcano(&unread).render(&gang, std::slice::from_ref(&outdated)).unwrap();
    assert_eq!(objects[0].value, outdated);
}

#[test]
fn a_third_level_is_refused() {
    let gang = bundled(required("zone"), required("block"), required("rack"), json!({}));
    let error = volcano(&cluster(Volcano::V14)).render(&gang, &[]).unwrap_err().to_string();
    let wanted = r#"Volcano has one level of sub-groups: "pd" requires "block", so that "pre" in it cannot require another one"#;
    assert_eq!(error, wanted);
}

#[test]
fn the_queue_comes_from_the_set_or_else_from_its_cliques() {
    let plain = || gang(json!({ "podgroups": [group("a", 1, 1), group("b", 1, 1)] }));
    let of = |key: &str, queue: &str| map(&[(key, queue)]);
    let (ours, theirs) = ("scheduling.grove.io/volcano-queue", "scheduling.volcano.sh/queue-name");
    let set = |annotations: &[(&str, &str)]| {
        let mut gang = plain();
        gang.annotations.extend(map(annotations));
        gang
    };
    let mut by_clique = plain();
    by_clique.describe_group("b", map(&[]), of(ours, "q"));
    for (gang, queue) in [
        (plain(), "default"),
        (set(&[(ours, "q")]), "q"),
        (set(&[(ours, " q ")]), "q"),
        (set(&[(ours, "")]), "default"),
        (set(&[(theirs, "q")]), "q"),
        (set(&[(ours, "q"), (theirs, "other")]), "q"),
        (by_clique, "q"),
    ] {
        assert_eq!(rendered(Volcano::V14, &gang, &[]).value["spec"]["queue"], queue);
    }
    let mut conflict = set(&[(ours, "q")]);
    conflict.describe_group("b", map(&[]), of(theirs, "other"));
    assert_eq!(
        volcano(&cluster(Volcano::V14)).render(&conflict, &[]).unwrap_err().to_string(),
        r#"the queue has to be one for the whole workload, but "web-0" says "q" and "b" says "other""#
    );
}
