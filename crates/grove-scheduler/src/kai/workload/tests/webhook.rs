//! KAI's webhook takes every PodGroup that is written, and what it would not take is refused before.

use std::collections::BTreeSet;

use super::*;

/// What the webhook of KAI 0.15 and newer has against a spec, by its rules.
fn objection(spec: &Value) -> Option<String> {
    let has = |it: &Value, field: &str| it.get(field).is_some();
    if has(spec, "minMember") && has(spec, "minSubGroup") {
        return Some("the group has both minima".to_owned());
    }
    let parts = spec["subGroups"].as_array().map(Vec::as_slice).unwrap_or_default();
    let parent_of = |name: &Value| parts.iter().find(|it| it["name"] == *name).map(|it| &it["parent"]);
    let mut names = BTreeSet::new();
    for part in parts {
        let name = &part["name"];
        let is_leaf = parts.iter().all(|it| it["parent"] != *name);
        // Above each part the root is reached before all parts were seen.
        let mut above = Some(&part["parent"]);
        for _ in parts {
            above = above.filter(|it| !it.is_null()).and_then(parent_of);
        }
        let rules = [
            (!names.insert(name.to_string()), "is there twice"),
            (has(part, "parent") && parent_of(&part["parent"]).is_none(), "has a parent that is not there"),
            (above.is_some_and(|it| !it.is_null()), "is in a circle"),
            (has(part, "minMember") && has(part, "minSubGroup"), "has both minima"),
            (is_leaf && has(part, "minSubGroup"), "is a leaf that needs parts"),
            (is_leaf && !has(part, "minMember"), "is a leaf that does not say how many pods it needs"),
            (!is_leaf && has(part, "minMember"), "has parts and needs pods"),
        ];
        if let Some((_, what)) = rules.into_iter().find(|it| it.0) {
            return Some(format!("{name} {what}"));
        }
    }
    None
}

/// The webhook above is no stamp.
#[test]
fn the_webhook_has_its_rules() {
    let parts = |parts: Value| json!({ "subGroups": parts });
    let leaf = |name: &str, parent: Value| match parent {
        Value::Null => json!({ "name": name, "minMember": 1 }),
        parent => json!({ "name": name, "parent": parent, "minMember": 1 }),
    };
    let above = |name: &str, parent: &str| json!({ "name": name, "parent": parent });
    let none = Value::Null;
    let table = [
        (json!({ "minMember": 1, "minSubGroup": 1 }), Some("the group has both minima")),
        (parts(json!([leaf("a", none.clone()), leaf("a", none.clone())])), Some("\"a\" is there twice")),
        (parts(json!([leaf("a", json!("b"))])), Some("\"a\" has a parent that is not there")),
        (parts(json!([above("a", "a")])), Some("\"a\" is in a circle")),
        (parts(json!([above("a", "b"), above("b", "a")])), Some("\"a\" is in a circle")),
        (
            parts(json!([{ "name": "a", "minMember": 1, "minSubGroup": 1 }, leaf("b", json!("a"))])),
            Some("\"a\" has both minima"),
        ),
        (parts(json!([{ "name": "a", "minSubGroup": 1 }])), Some("\"a\" is a leaf that needs parts")),
        (parts(json!([{ "name": "a" }])), Some("\"a\" is a leaf that does not say how many pods it needs")),
        (
            parts(json!([leaf("a", none.clone()), leaf("b", json!("a"))])),
            Some("\"a\" has parts and needs pods"),
        ),
        (parts(json!([{ "name": "a" }, leaf("b", json!("a"))])), None),
        (parts(json!([leaf("a", none)])), None),
        (json!({ "minMember": 1 }), None),
    ];
    for (spec, expected) in table {
        assert_eq!(objection(&spec).as_deref(), expected, "{spec}");
    }
}

#[test]
fn what_is_written_is_taken() {
    let below = |parent: &str, name: &str| inside(parent, leaf(name, 1, &[]));
    // One root, several, leaves beside parents, parents that say too much or nothing, three levels.
    let trees = [
        vec![],
        vec![leaf("a", 1, &[])],
        vec![leaf("a", 0, &[]), leaf("b", 2, &[])],
        vec![parent("a", 1), below("a", "b"), below("a", "c")],
        vec![parent("a", 2), below("a", "b"), parent("c", 1), below("c", "d")],
        vec![leaf("a", 9, &[]), below("a", "b"), leaf("c", 1, &[])],
        vec![SubGroup { min_members: 9, ..parent("a", 1) }, below("a", "b")],
        vec![parent("a", 1), inside("a", parent("b", 1)), below("b", "c"), below("a", "d")],
        // A child before its parent.
        vec![below("a", "b"), parent("a", 1)],
    ];
    for sub_groups in trees {
        for min_sub_groups in [None, Some(1)] {
            let group = Group { min_sub_groups, sub_groups: sub_groups.clone(), ..group() };
            for kai in [&NEWEST, &V15] {
                assert_eq!(objection(&spec(kai, &group)), None, "{group:?}");
            }
        }
    }
}

#[test]
fn three_levels_are_written_as_they_are() {
    let placed = |level: &str, part| SubGroup { topology: Some(topology(Some(level), None)), ..part };
    let sub_groups = vec![
        placed("zone", parent("a", 1)),
        inside("a", placed("rack", parent("b", 2))),
        inside("b", placed("host", leaf("c", 3, &["p"]))),
        inside("b", leaf("d", 4, &[])),
    ];
    let group = Group { min_sub_groups: Some(1), sub_groups, ..group() };
    let at = |level: &str| json!({ "topology": "dc", "requiredTopologyLevel": level });
    let expected = json!([
        { "name": "a", "minSubGroup": 1, "topologyConstraint": at("zone") },
        { "name": "b", "parent": "a", "minSubGroup": 2, "topologyConstraint": at("rack") },
        { "name": "c", "parent": "b", "minMember": 3, "topologyConstraint": at("host") },
        { "name": "d", "parent": "b", "minMember": 4 },
    ]);
    let spec = spec(&NEWEST, &group);
    assert_eq!((&spec["subGroups"], &spec["minSubGroup"]), (&expected, &json!(1)));
    assert_eq!(spec.get("minMember"), None);
}
