//! When an object has to be made anew, and when one that goes is waited for: the plan alone.

use super::*;
use crate::applier::{content::mark_of, plan::plan};

const FIXED: [&str; 2] = ["/spec/level", "/spec/mode"];

fn fixed(spec: &Value) -> Rendered {
    Rendered { immutable: FIXED.map(str::to_owned).to_vec(), ..group("a", spec) }
}

/// An object of our owner that is there, marked as if `given` had been rendered for it.
fn there(given: Option<&Value>, spec: &Value) -> Value {
    let mut object = fixed(spec).object;
    object["metadata"] = json!({
        "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7",
        "ownerReferences": [owner().reference()],
    });
    if let Some(given) = given {
        object["metadata"]["annotations"] = json!({ MARK: mark_of(&fixed(given)) });
    }
    object
}

fn step(rendered: &Rendered, there: Value) -> &'static str {
    let object: DynamicObject = serde_json::from_value(there).unwrap();
    let wanted = [Wanted { kind: 0, rendered }];
    let existing = [Existing { kind: 0, object: &object, last: None }];
    match plan(&owner(), MARK, &wanted, &existing).unwrap().as_slice() {
        [] => "nothing",
        [Step::Apply(_)] => "apply",
        [Step::Recreate { uid, .. }] if uid == "u" => "recreate",
        [Step::Release { uid, version, .. }] if uid == "u" && version == "7" => "release",
        [Step::Wait { .. }] => "wait",
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_object_is_made_anew_where_a_fixed_field_has_to_change() {
    let rack = json!({ "level": { "key": "rack" }, "min": 1 });
    for (what, given, now, wanted, expected) in [
        ("the same", Some(&rack), &rack, rack.clone(), "nothing"),
        (
            "a field that can be changed",
            Some(&rack),
            &rack,
            json!({ "level": { "key": "rack" }, "min": 2 }),
            "apply",
        ),
        ("another value", Some(&rack), &rack, json!({ "level": { "key": "zone" }, "min": 1 }), "recreate"),
        ("both", Some(&rack), &rack, json!({ "level": { "key": "zone" }, "min": 2 }), "recreate"),
        (
            "one more",
            Some(&rack),
            &rack,
            json!({ "level": { "key": "rack" }, "mode": "all", "min": 1 }),
            "recreate",
        ),
        ("one less", Some(&rack), &rack, json!({ "min": 1 }), "recreate"),
        ("null is one less", Some(&rack), &rack, json!({ "level": null, "min": 1 }), "recreate"),
        (
            "less within one",
            Some(&json!({ "level": { "key": "rack", "deep": true } })),
            &json!({ "level": { "key": "rack", "deep": true } }),
            json!({ "level": { "key": "rack" } }),
            "recreate",
        ),
    ] {
        assert_eq!(step(&fixed(&wanted), there(given, now)), expected, "{what}");
    }
}

#[test]
fn what_the_server_made_of_a_fixed_field_is_no_difference() {
    let given = json!({ "level": { "key": "rack" }, "min": 1 });
    for (what, now, wanted, expected) in [
        ("filled in", json!({ "level": { "key": "rack" }, "mode": "single", "min": 1 }), &given, "nothing"),
        (
            "filled in below",
            json!({ "level": { "key": "rack", "deep": false }, "min": 1 }),
            &given,
            "nothing",
        ),
        // The server is asked again, as for any other field; it would make the same of another object.
        ("written otherwise", json!({ "level": { "key": "RACK" }, "min": 1 }), &given, "apply"),
        ("dropped", json!({ "min": 1 }), &given, "apply"),
        (
            "filled in what is now rendered",
            json!({ "level": { "key": "rack" }, "mode": "single", "min": 1 }),
            &json!({ "level": { "key": "rack" }, "mode": "single", "min": 1 }),
            "apply",
        ),
    ] {
        assert_eq!(step(&fixed(wanted), there(Some(&given), &now)), expected, "{what}");
    }
}

#[test]
fn of_an_object_that_we_did_not_make_only_what_is_rendered_counts() {
    let now = json!({ "level": { "key": "rack", "deep": false }, "mode": "single" });
    for (what, wanted, expected) in [
        ("the same", json!({ "level": { "key": "rack" } }), "apply"),
        ("none", json!({}), "apply"),
        ("another value", json!({ "level": { "key": "zone" } }), "recreate"),
    ] {
        assert_eq!(step(&fixed(&wanted), there(None, &now)), expected, "{what}");
    }
    assert_eq!(step(&fixed(&now), there(None, &json!({ "level": now["level"] }))), "recreate", "one more");
}

#[test]
fn what_goes_is_waited_for_unless_it_is_ours_and_only_its_own_api_keeps_it() {
    let protection = "example.com/protection";
    for (what, owner, finalizers, expected) in [
        ("its API's", "owner", vec![protection], "release"),
        ("two of its API", "owner", vec![protection, "example.com/another"], "release"),
        ("somebody else's", "owner", vec!["else.com/cleanup"], "wait"),
        ("somebody else's, too", "owner", vec![protection, "else.com/cleanup"], "wait"),
        ("the garbage collector's", "owner", vec!["foregroundDeletion"], "wait"),
        ("none", "owner", vec![], "wait"),
        ("not ours", "another", vec![protection], "wait"),
    ] {
        let mut there = there(None, &json!({}));
        there["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        there["metadata"]["finalizers"] = finalizers.into();
        for field in ["name", "uid"] {
            there["metadata"]["ownerReferences"][0][field] = owner.into();
        }
        assert_eq!(step(&fixed(&json!({})), there), expected, "{what}");
    }
}

#[test]
fn an_object_that_is_made_anew_keeps_its_place_among_the_others() {
    let named = |name: &str, level: &str| {
        let mut rendered = fixed(&json!({ "level": level }));
        rendered.object["metadata"]["name"] = name.into();
        rendered
    };
    let rendered = [named("root", "zone"), named("a", "zone"), named("z", "zone")];
    let wanted: Vec<Wanted<'_>> = rendered.iter().map(|rendered| Wanted { kind: 0, rendered }).collect();
    let mut root = there(Some(&json!({ "level": "rack" })), &json!({ "level": "rack" }));
    root["metadata"]["name"] = "root".into();
    let mut surplus = there(None, &json!({}));
    surplus["metadata"]["name"] = "surplus".into();
    let a = there(Some(&json!({ "level": "rack" })), &json!({ "level": "rack" }));
    let objects = [surplus, a, root].map(|it| serde_json::from_value(it).unwrap());
    let existing: Vec<Existing<'_>> =
        objects.iter().map(|object| Existing { kind: 0, object, last: None }).collect();
    let steps = plan(&owner(), MARK, &wanted, &existing).unwrap();
    let said: Vec<String> = steps
        .iter()
        .map(|it| match it {
            Step::Recreate { new, .. } => format!("recreate {}", new.name),
            Step::Create(new) => format!("create {}", new.name),
            Step::Delete { name, .. } => format!("delete {name}"),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(said, ["recreate root", "recreate a", "create z", "delete surplus"]);
}
