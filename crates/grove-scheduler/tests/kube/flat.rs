//! One PodGroup, and none: recipe 6.2.

use grove_scheduler::Gang;
use serde_json::{Value, json};

use crate::{
    Cluster, FLAT, FLAT_TOPOLOGY, PLAIN, TREE, alone, at, check, class,
    common::{config, gang, group, named, placed, preferred, required},
    values,
};

const ZONE: &str = "topology.kubernetes.io/zone";
const RACK: &str = "topology.example.com/rack";

#[test]
fn a_gang_is_one_pod_group_with_the_sum_of_its_minima() {
    let groups: Vec<Value> = (0..64).map(|it| group(&format!("web-0-c{it}"), 2, 3)).collect();
    let bundled = json!({
        "podgroups": [group("web-0-fe", 1, 2), group("web-0-g-0-p", 2, 2), group("web-0-g-0-d", 3, 3)],
        "topologyConstraintGroupConfigs": [
            placed(config("web-0-g-0", &["web-0-g-0-p", "web-0-g-0-d"]), preferred(RACK)),
        ],
    });
    let table = || {
        vec![
            ("one group", gang(json!({ "podgroups": [group("web-0-a", 2, 5)] })), vec![alone("web-0", 2)]),
            (
                "two groups",
                gang(json!({ "podgroups": [group("web-0-a", 2, 2), group("web-0-b", 1, 4)] })),
                vec![alone("web-0", 3)],
            ),
            ("bundles", gang(bundled.clone()), vec![alone("web-0", 6)]),
            (
                "a scaled gang",
                named(
                    "web-0-g-0",
                    json!({ "podgroups": [group("web-0-g-1-p", 1, 1), group("web-0-g-1-d", 2, 2)] }),
                ),
                vec![alone("web-0-g-0", 3)],
            ),
            ("64 cliques", gang(json!({ "podgroups": groups.clone() })), vec![alone("web-0", 128)]),
            (
                "priority",
                gang(json!({ "podgroups": [group("web-0-a", 2, 2)], "priorityClassName": "high" })),
                vec![class("high", alone("web-0", 2))],
            ),
            (
                "a name at the limit",
                named(&"s".repeat(63), json!({ "podgroups": [group("a", 1, 1)] })),
                vec![alone(&"s".repeat(63), 1)],
            ),
            (
                "preferred only",
                gang(json!({ "podgroups": [group("web-0-a", 2, 2)], "topologyConstraint": preferred(RACK) })),
                vec![alone("web-0", 2)],
            ),
            (
                "lifted from the start",
                gang(json!({ "podgroups": [group("web-0-a", 0, 2)] })),
                vec![alone("web-0", 1)],
            ),
            ("no group", gang(json!({ "podgroups": [] })), vec![]),
        ]
    };
    check(FLAT, table());
    check(FLAT_TOPOLOGY, table());
    let nothing = table().into_iter().map(|(name, gang, _)| (name, gang, vec![])).collect();
    check(PLAIN, nothing);
}

#[test]
fn a_lifted_minimum_leaves_what_was_there() {
    let spec = |a: i32, b: i32| json!({ "podgroups": [group("web-0-a", a, 4), group("web-0-b", b, 4)] });
    let scheduler = FLAT.scheduler();
    let before = scheduler.render(&gang(spec(3, 2)), &[]).unwrap();
    assert_eq!(values(&before), [alone("web-0", 5)]);
    assert_eq!(scheduler.render(&gang(spec(0, 0)), &values(&before)).unwrap(), before);
    let raised = scheduler.render(&gang(spec(3, 3)), &values(&before)).unwrap();
    assert_eq!(values(&raised), [alone("web-0", 6)]);
}

/// The levels of a gang with one or two groups: of the gang, of a bundle around the first group, of that group.
fn levels(groups: usize, whole: Option<&str>, around: Option<&str>, own: Option<&str>) -> Gang {
    let set = |it: Value, level: Option<&str>| level.map_or(it.clone(), |level| placed(it, required(level)));
    let mut list = vec![set(group("web-0-a", 2, 2), own)];
    list.extend((groups > 1).then(|| group("web-0-b", 1, 1)));
    let mut spec = set(json!({ "podgroups": list }), whole);
    if around.is_some() {
        spec["topologyConstraintGroupConfigs"] = json!([set(config("web-0-g-0", &["web-0-a"]), around)]);
    }
    gang(spec)
}

#[test]
fn one_pod_group_has_one_level() {
    check(
        FLAT_TOPOLOGY,
        vec![
            ("of the gang", levels(2, Some(ZONE), None, None), vec![at(ZONE, alone("web-0", 3))]),
            ("of the gang, one group", levels(1, Some(ZONE), None, None), vec![at(ZONE, alone("web-0", 2))]),
            ("of the one group", levels(1, None, None, Some(RACK)), vec![at(RACK, alone("web-0", 2))]),
            (
                "the same one twice",
                levels(1, Some(RACK), None, Some(RACK)),
                vec![at(RACK, alone("web-0", 2))],
            ),
        ],
    );
    for gang in [
        levels(2, None, None, Some(RACK)),
        levels(2, Some(ZONE), None, Some(RACK)),
        levels(1, Some(ZONE), None, Some(RACK)),
        levels(2, Some(RACK), None, Some(RACK)),
    ] {
        let refusal = FLAT_TOPOLOGY.refusal(&gang);
        assert!(
            refusal.starts_with("web-0-a requires the topology level topology.example.com/rack, "),
            "{refusal}"
        );
        assert!(refusal.contains("CompositePodGroup"), "{refusal}");
    }
    let refusal = FLAT_TOPOLOGY.refusal(&levels(1, None, Some(RACK), None));
    assert!(refusal.starts_with("web-0-g-0 requires the topology level"), "{refusal}");
}

#[test]
fn a_level_that_cannot_be_kept_is_never_dropped() {
    let refused = [(FLAT, "TopologyAwareWorkloadScheduling"), (PLAIN, "GenericWorkload")];
    for (cluster, gate) in refused {
        for gang in [
            levels(2, Some(ZONE), None, None),
            levels(2, None, Some(ZONE), None),
            levels(1, None, None, Some(ZONE)),
        ] {
            let refusal = cluster.refusal(&gang);
            assert!(refusal.contains(ZONE) && refusal.contains(gate), "{refusal}");
        }
    }
}

/// A gang that was created in a form.
fn of_form(form: &str, gang: Gang) -> Gang {
    Gang { form: form.to_owned(), ..gang }
}

#[test]
fn a_gang_keeps_the_form_that_it_was_created_in() {
    let two = || gang(json!({ "podgroups": [group("web-0-a", 2, 2), group("web-0-b", 1, 1)] }));
    let forms: [(Cluster, &str); 4] =
        [(TREE, "tree"), (FLAT_TOPOLOGY, "flat"), (FLAT, "flat"), (PLAIN, "plain")];
    for (cluster, form) in forms {
        assert_eq!(cluster.scheduler().form(), form);
        assert_eq!(cluster.render(&of_form(form, two())), cluster.render(&two()));
    }
    check(TREE, vec![("flat", of_form("flat", two()), vec![alone("web-0", 3)])]);
    check(FLAT, vec![("plain", of_form("plain", two()), vec![])]);
    check(TREE, vec![("plain", of_form("plain", two()), vec![])]);
    for (cluster, form) in [(FLAT_TOPOLOGY, "tree"), (PLAIN, "tree"), (PLAIN, "flat")] {
        let refusal = cluster.refusal(&of_form(form, two()));
        assert!(refusal.contains("does not serve any more"), "{refusal}");
    }
    assert_eq!(
        TREE.refusal(&of_form("round", two())),
        r#"the gang has the form "round", which is not known"#
    );
}

#[test]
fn what_was_made_without_groups_goes_on_so() {
    let constrained = || levels(2, Some(ZONE), None, None);
    // Upstream ignored the constraint, and the set runs.
    check(TREE, vec![("adopted", of_form("adopted", constrained()), vec![])]);
    // We do not.
    let refusal = TREE.refusal(&of_form("plain", constrained()));
    assert!(refusal.ends_with("the gang was created when there were no PodGroups"), "{refusal}");
}
