//! Where a gang and its parts go.

use super::*;

#[test]
fn groups_of_cliques_are_parents() {
    let cliques = || json!([clique("one", 2), clique("two", 3), clique("three", 1)]);
    let table: [(Value, &[&str]); 7] = [
        (json!(null), &["one 2 * one-x", "two 3 * two-x", "three 1 * three-x"]),
        (
            json!([config("g1", &["one", "two"])]),
            &["g1 [2]", "one 2 in g1 * one-x", "two 3 in g1 * two-x", "three 1 * three-x"],
        ),
        (
            json!([config("g1", &["one", "two"]), config("g2", &["three"])]),
            &["g1 [2]", "g2 [1]", "one 2 in g1 * one-x", "two 3 in g1 * two-x", "three 1 in g2 * three-x"],
        ),
        (json!([config("g1", &[])]), &["one 2 * one-x", "two 3 * two-x", "three 1 * three-x"]),
        // One that is not there yet is waited for; a parent of none would be a leaf.
        (
            json!([config("g1", &["one", "gone"])]),
            &["g1 [2]", "one 2 in g1 * one-x", "two 3 * two-x", "three 1 * three-x"],
        ),
        (json!([config("g1", &["gone"])]), &["one 2 * one-x", "two 3 * two-x", "three 1 * three-x"]),
        (
            json!([config("g1", &["one", "two"]), config("g2", &["two"])]),
            &["g1 [2]", "g2 [1]", "one 2 in g1 * one-x", "two 3 in g2 * two-x", "three 1 * three-x"],
        ),
    ];
    for (configs, expected) in table {
        let gang = gang(json!({ "podgroups": cliques(), "topologyConstraintGroupConfigs": configs }));
        let group = group_of(&gang).unwrap();
        assert_eq!((group.min_members, parts(&group)), (6, strings(expected)), "{configs}");
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn every_level_has_its_place() {
    let spec = json!({
        "podgroups": [
            at(clique("one", 2), Some("host"), Some("numa")),
            clique("two", 1),
            at(clique("three", 3), None, Some("host")),
            at(clique("four", 2), None, None),
        ],
        "topologyConstraintGroupConfigs": [
            at(config("g1", &["one", "two"]), Some("rack"), None),
            at(config("g2", &["three"]), None, Some("rack")),
        ],
    });
    let gang = with(gang(at(spec, Some("zone"), None)), "annotations", json!({ TOPOLOGY: "dc" }));
    let group = group_of(&gang).unwrap();
    assert_eq!(
        parts(&group),
        [
            "g1 [2] @ dc/rack/",
            "g2 [1] @ dc//rack",
            "one 2 in g1 * one-x @ dc/host/numa",
            "two 1 in g1 * two-x",
            "three 3 in g2 * three-x @ dc//host",
            "four 2 * four-x",
        ]
    );
    assert_eq!((group.min_members, group.topology.as_ref().map(place)), (8, Some("dc/zone/".to_owned())));
    assert_eq!(group.remarks, [""; 0]);
}

/// No constraint in whatever form is none, and needs no topology.
#[test]
fn parts_without_a_constraint_go_anywhere() {
    for constraint in
        [json!(null), json!({}), json!({ "packConstraint": null }), json!({ "packConstraint": {} })]
    {
        let placed = |mut part: Value| {
            part["topologyConstraint"] = constraint.clone();
            part
        };
        let spec = json!({
            "podgroups": [placed(clique("one", 2)), placed(clique("two", 3))],
            "topologyConstraintGroupConfigs": [placed(config("g1", &["one", "two"]))],
        });
        let group = group_of(&gang(placed(spec))).unwrap();
        assert_eq!(parts(&group), ["g1 [2]", "one 2 in g1 * one-x", "two 3 in g1 * two-x"], "{constraint}");
        assert_eq!((group.min_members, group.topology), (5, None));
    }
}

#[test]
fn the_gang_then_annotations_place_the_whole() {
    let spec = || json!({ "podgroups": [clique("one", 1)] });
    let none = json!({});
    // Annotations of the gang, of the set.
    let table = [
        (spec(), none.clone(), none.clone(), None),
        (
            at(spec(), Some("zone"), Some("rack")),
            json!({ TOPOLOGY: "dc" }),
            none.clone(),
            Some("dc/zone/rack"),
        ),
        (at(spec(), None, Some("rack")), json!({ TOPOLOGY: "dc" }), none.clone(), Some("dc//rack")),
        (at(spec(), Some("zone"), None), json!({ KAI_TOPOLOGY: "kai" }), none.clone(), Some("kai/zone/")),
        (
            at(spec(), Some("zone"), None),
            json!({ TOPOLOGY: "dc", KAI_TOPOLOGY: "kai", KAI_REQUIRED: "row" }),
            none.clone(),
            Some("dc/zone/"),
        ),
        // What the gang leaves open.
        (
            at(spec(), Some("zone"), None),
            json!({ TOPOLOGY: "dc", KAI_PREFERRED: "rack" }),
            none.clone(),
            Some("dc/zone/rack"),
        ),
        (spec(), json!({ KAI_TOPOLOGY: "kai", KAI_REQUIRED: "row" }), none.clone(), Some("kai/row/")),
        (spec(), none.clone(), json!({ KAI_TOPOLOGY: "kai", KAI_PREFERRED: "row" }), Some("kai//row")),
        (spec(), json!({ KAI_TOPOLOGY: "kai" }), json!({ KAI_REQUIRED: "row" }), Some("kai/row/")),
        // A name or a level alone is nothing, nor are empty levels.
        (spec(), json!({ KAI_TOPOLOGY: "kai" }), none.clone(), None),
        (spec(), json!({ KAI_REQUIRED: "row" }), none.clone(), None),
        (at(spec(), Some(""), Some("")), json!({ TOPOLOGY: "dc" }), none.clone(), None),
        (at(spec(), None, None), none.clone(), none.clone(), None),
    ];
    for (spec, of_gang, of_set, expected) in table {
        let gang = with(gang(spec.clone()), "annotations", of_gang.clone());
        let set = with(set(), "annotations", of_set);
        let group = group_below(&set, &gang, &member()).unwrap().unwrap();
        let is = group.topology.as_ref().map(place);
        assert_eq!(is.as_deref(), expected, "{spec} {of_gang}");
    }
}
