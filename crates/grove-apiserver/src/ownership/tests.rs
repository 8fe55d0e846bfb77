//! Parts of values: order of merged lists, round trips, and laws over all small objects.

use serde_json::json;

use super::*;

fn shape() -> Shape {
    let list = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]});
    Shape::of_objects(&json!({"type": "object", "properties": {"list": list}}))
}

fn list(names: &str) -> Value {
    let items = names.chars().map(|it| json!({"n": it.to_string()}));
    json!({"list": items.collect::<Vec<Value>>()})
}

#[test]
fn merged_lists_are_in_the_order_of_the_applied_and_keep_what_is_there_in_place() {
    for (live, applied, expected) in [
        ("", "ab", "ab"),
        ("ab", "", "ab"),
        ("ab", "b", "ab"),
        ("ab", "ba", "ba"),
        ("ab", "bc", "abc"),
        ("ab", "ca", "cab"),
        ("abc", "ca", "bca"),
        ("axb", "ab", "axb"),
    ] {
        assert_eq!(
            values::merge(&list(live), &list(applied), &shape()),
            list(expected),
            "{live} + {applied}"
        );
    }
}

#[test]
fn sets_are_read_as_they_are_written() {
    let json =
        json!({"f:a": {}, "f:b": {".": {}, "f:c": {}}, "f:d": {"k:{\"n\":\"x\"}": {".": {}, "f:n": {}}}});
    let set = FieldSet::from_json(&json);
    assert_eq!(set.to_json(), json);
    assert_eq!(set.paths(), [".a", ".b", ".b.c", ".d[n=\"x\"]", ".d[n=\"x\"].n"]);
}

fn objects() -> Vec<Value> {
    let values = [json!(1), json!({}), json!({"b": 1}), json!({"b": 2, "c": [1]}), json!({"c": [2]})];
    let lists = ["", "x", "xy", "yx", "z"].map(|names| list(names)["list"].clone());
    let mut out = vec![json!({})];
    for value in &values {
        out.push(json!({"a": value}));
        out.extend(lists.iter().map(|list| json!({"a": value, "list": list})));
    }
    out
}

fn writer(name: &str) -> Writer {
    Writer { name: name.to_owned(), subresource: None, api_version: "v1".to_owned(), time: json!("now") }
}

fn applied(live: &Value, wanted: &Value, name: &str) -> Value {
    apply(live, wanted, &shape(), writer(name), true).unwrap().object
}

/// Whatever one says first and next: the object is what was said last, and saying it again changes nothing.
#[test]
fn who_is_alone_gets_what_it_says() {
    for first in objects() {
        let live = applied(&json!({}), &first, "one");
        for next in objects() {
            let now = applied(&live, &next, "one");
            let mut fresh = applied(&json!({}), &next, "one");
            assert_eq!(applied(&now, &next, "one"), now, "{first} then {next} twice");
            // An empty object or list is the same as none to who gave up what was in it.
            let mut now = now;
            for it in [&mut now, &mut fresh] {
                metadata::map_mut(it).retain(|field, value| field == "metadata" || *value != json!([]));
            }
            let names = |it: &Value| {
                let mut names: Vec<String> =
                    it["list"].as_array().into_iter().flatten().map(Value::to_string).collect();
                names.sort();
                names
            };
            assert_eq!((&now["a"], names(&now)), (&fresh["a"], names(&fresh)), "{first} then {next}");
        }
    }
}

/// Whatever another says, forced or not: nobody loses a field that was not named by the other.
#[test]
fn what_somebody_has_stays_when_another_gives_up_its_own() {
    for mine in objects() {
        for theirs in objects() {
            let live = applied(&json!({}), &mine, "one");
            let Outcome { object, conflicts } =
                apply(&live, &theirs, &shape(), writer("two"), false).unwrap();
            if !conflicts.is_empty() {
                continue;
            }
            let after = applied(&object, &json!({}), "two");
            let (changed, gone) = values::compare(&content(&live), &content(&after), &shape());
            let owned = parts_of(&mine, &shape()).unwrap();
            assert!(
                owned.and(&changed).is_empty() && owned.and(&gone).is_empty(),
                "{mine} beside {theirs}: {after}"
            );
        }
    }
}
