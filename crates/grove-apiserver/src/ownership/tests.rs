//! Parts of values: order of merged lists, round trips, and laws over all small objects.

use serde_json::json;

use super::*;
use crate::kinds;

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

/// The fields of the only manager of an object, or of the one that writes a subresource.
fn fields_of(object: &Value, at: usize) -> Value {
    metadata::list(object, "managedFields")[at]["fieldsV1"].clone()
}

fn created(shape: &Shape, mut object: Value) -> Value {
    create(&mut object, shape, writer("one"));
    fields_of(&object, 0)
}

#[test]
fn what_holds_others_is_somebodys_where_it_is_new() {
    let custom = shape();
    let widget = json!({"metadata": {"name": "w", "labels": {"a": "b"}}, "spec": {"free": {"any": 1}}, "list": [{"n": "x"}]});
    let expected = json!({
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
        "f:spec": {".": {}, "f:free": {".": {}, "f:any": {}}},
        "f:list": {".": {}, "k:{\"n\":\"x\"}": {".": {}, "f:n": {}}},
    });
    assert_eq!(created(&custom, widget.clone()), expected);

    // What was there before stays whose it was.
    let mut old = widget;
    create(&mut old, &custom, writer("one"));
    let mut new = old.clone();
    new["spec"]["free"]["more"] = json!({"a": 1});
    update(&old, &mut new, &custom, true, || writer("two"));
    assert_eq!(fields_of(&new, 0), expected);
    assert_eq!(fields_of(&new, 1), json!({"f:spec": {"f:free": {"f:more": {".": {}, "f:a": {}}}}}));
}

#[test]
fn what_is_always_there_is_nobodys() {
    let pods = Shape::of_kind(kinds::of_kind("", "v1", "Pod").unwrap());
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "main", "resources": {}}], "affinity": {"podAffinity": {}}, "hostname": "h",
    }, "status": {}});
    let expected = json!({"f:spec": {
        "f:containers": {"k:{\"name\":\"main\"}": {".": {}, "f:name": {}, "f:resources": {}}},
        "f:affinity": {".": {}, "f:podAffinity": {}}, "f:hostname": {},
    }});
    assert_eq!(created(&pods, pod), expected);
    let events = Shape::of_kind(kinds::of_kind("", "v1", "Event").unwrap());
    let event = json!({"metadata": {"name": "e"}, "source": {"component": "c"}, "eventTime": null,
        "reportingComponent": "", "involvedObject": {}, "reason": "R"});
    assert_eq!(created(&events, event), json!({"f:source": {"f:component": {}}, "f:reason": {}}));
}

#[test]
fn who_only_takes_fields_away_gets_none() {
    let mut old = json!({"metadata": {"name": "w"}, "spec": {"a": 1, "b": 2}});
    create(&mut old, &shape(), writer("one"));
    let mut new = old.clone();
    metadata::map_mut(&mut new["spec"]).shift_remove("b");
    update(&old, &mut new, &shape(), true, || writer("two"));
    assert_eq!(metadata::list(&new, "managedFields").len(), 1);
    assert_eq!(fields_of(&new, 0), json!({"f:spec": {".": {}, "f:a": {}}}));
}

#[test]
fn who_says_nothing_of_itself_is_unknown_and_who_scales_has_no_time() {
    let writer = |name, part| Writer::new(name, part, "v1".to_owned(), json!("now"));
    let said = |it: Writer| (it.name, it.time);
    assert_eq!(said(writer("", Some("status"))), ("unknown".to_owned(), json!("now")));
    assert_eq!(said(writer("hpa", Some("scale"))), ("hpa".to_owned(), Value::Null));
}
