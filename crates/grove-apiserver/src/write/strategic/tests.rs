//! What patches make of objects. The rows are those of the real server's own tests and documentation.

use serde_json::json;

use super::*;
use crate::kinds;

fn patched(kind: &str, original: Value, patch: Value) -> Result<Value, (u16, String)> {
    let (Value::Object(original), Value::Object(patch)) = (original, patch) else { panic!("no objects") };
    let of = kinds::of_kind("", "v1", kind);
    assert!(of.is_some());
    apply(original, patch, of).map(Value::Object).map_err(|it| (it.code, it.message))
}

fn spec(original: Value, patch: Value) -> Value {
    patched("Pod", json!({"spec": original}), json!({"spec": patch})).unwrap()["spec"].clone()
}

fn names(list: &Value) -> String {
    let name = |it: &Value| it["name"].as_str().unwrap_or_default().to_owned();
    list.as_array().unwrap().iter().map(name).collect()
}

/// Items that are new come first, as the documentation of `kubectl patch` shows.
#[test]
fn items_are_found_by_their_key() {
    let pod = json!({"containers": [{"name": "one", "image": "old"}, {"name": "two", "image": "old", "env": [{"name": "A", "value": "1"}]}]});
    let patch =
        json!({"containers": [{"name": "two", "image": "new", "env": [{"name": "B", "value": "2"}]}]});
    let expected = json!({"containers": [
        {"name": "one", "image": "old"},
        {"name": "two", "image": "new", "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]},
    ]});
    assert_eq!(spec(pod, patch), expected);
}

#[test]
fn lists_without_a_key_are_replaced() {
    let toleration = |key: &str| json!({"tolerations": [{"key": key}]});
    assert_eq!(spec(toleration("a"), toleration("b")), toleration("b"));
    let args = |args: Value| json!({"containers": [{"name": "a", "args": args}]});
    assert_eq!(spec(args(json!(["x", "y"])), args(json!(["z"]))), args(json!(["z"])));
}

#[test]
fn items_can_be_deleted_and_lists_replaced() {
    let volumes = |it: &str| json!({"volumes": it.chars().map(|it| json!({"name": it.to_string()})).collect::<Vec<_>>()});
    let delete = json!({"volumes": [{"$patch": "delete", "name": "b"}, {"name": "d"}]});
    assert_eq!(names(&spec(volumes("abc"), delete)["volumes"]), "dac");
    let replace = json!({"volumes": [{"$patch": "replace"}, {"name": "d"}]});
    assert_eq!(names(&spec(volumes("abc"), replace)["volumes"]), "d");
    let nobody = json!({"volumes": [{"$patch": "delete", "name": "x"}]});
    assert_eq!(names(&spec(volumes("abc"), nobody.clone())["volumes"]), "abc");
    // An instruction is not a value.
    assert_eq!(spec(json!({}), nobody), json!({"volumes": []}));
}

#[test]
fn objects_can_be_replaced_and_emptied() {
    let original = json!({"nodeSelector": {"a": "1"}, "securityContext": {"runAsUser": 1, "fsGroup": 2}});
    let patch =
        json!({"nodeSelector": {"$patch": "delete"}, "securityContext": {"$patch": "replace", "fsGroup": 3}});
    assert_eq!(spec(original, patch), json!({"nodeSelector": {}, "securityContext": {"fsGroup": 3}}));
    let labels = patched(
        "Pod",
        json!({"metadata": {"labels": {"a": "1", "b": "1"}}}),
        json!({"metadata": {"labels": {"a": null, "c": "1", "d": null}}}),
    );
    assert_eq!(labels.unwrap(), json!({"metadata": {"labels": {"b": "1", "c": "1"}}}));
    // The selector of a budget is replaced: so says its type.
    let budget = |labels: Value| match json!({"spec": {"selector": {"matchLabels": labels}}}) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let of = kinds::of_kind("policy", "v1", "PodDisruptionBudget");
    let patched = apply(budget(json!({"a": "1"})), budget(json!({"b": "1"})), of).unwrap();
    assert_eq!(patched, budget(json!({"b": "1"})));
}

#[test]
fn keys_are_retained() {
    let volume = |source: Value| json!({"volumes": [source]});
    let original = volume(json!({"name": "a", "emptyDir": {}}));
    let patch = volume(json!({"$retainKeys": ["name", "hostPath"], "name": "a", "hostPath": {"path": "/x"}}));
    assert_eq!(spec(original.clone(), patch), volume(json!({"name": "a", "hostPath": {"path": "/x"}})));
    let patch = volume(json!({"$retainKeys": ["name"], "name": "a", "hostPath": {"path": "/x"}}));
    let refused = patched("Pod", json!({"spec": original}), json!({"spec": patch}));
    assert_eq!(refused, Err((400, "invalid patch format of retainKeys".to_owned())));
}

#[test]
fn values_are_added_and_deleted() {
    let finalizers = |patch: Value| {
        patched("Pod", json!({"metadata": {"finalizers": ["a", "b"]}}), json!({"metadata": patch})).unwrap()
    };
    let expect = |list: Value| json!({"metadata": {"finalizers": list}});
    assert_eq!(finalizers(json!({"finalizers": ["c", "a"]})), expect(json!(["c", "a", "b"])));
    assert_eq!(finalizers(json!({"$deleteFromPrimitiveList/finalizers": ["a"]})), expect(json!(["b"])));
    let both = json!({"$deleteFromPrimitiveList/finalizers": ["a"], "$setElementOrder/finalizers": ["c", "b"], "finalizers": ["c"]});
    assert_eq!(finalizers(both), expect(json!(["c", "b"])));
}

#[test]
fn the_order_is_the_patches() {
    let list = |it: &str| json!({"initContainers": it.chars().map(|it| json!({"name": it.to_string()})).collect::<Vec<_>>()});
    for (there, patch, order, expected) in [
        ("abc", "", "cba", "cba"),
        ("abc", "d", "dabc", "dabc"),
        ("axb", "", "ba", "xba"),
        ("abc", "c", "ca", "bca"),
        ("", "ab", "ab", "ab"),
    ] {
        let mut change = list(patch);
        if patch.is_empty() {
            change = json!({});
        }
        change["$setElementOrder/initContainers"] = list(order)["initContainers"].clone();
        let original = if there.is_empty() { json!({}) } else { list(there) };
        assert_eq!(names(&spec(original, change)["initContainers"]), expected, "{there} {patch} {order}");
    }
    let mut change = list("d");
    change["$setElementOrder/initContainers"] = list("ab")["initContainers"].clone();
    let refused = patched("Pod", json!({"spec": list("ab")}), json!({"spec": change})).unwrap_err();
    assert!(refused.1.contains("doesn't match $setElementOrder list"), "{refused:?}");
}

#[test]
fn patches_that_are_none() {
    let containers = json!({"containers": [{"name": "a"}]});
    for (patch, code, words) in [
        (json!({"containers": [{"image": "x"}]}), 500, "does not contain declared merge key: name"),
        (json!({"containers": [1]}), 500, "expected a map"),
        (
            json!({"containers": [{"name": "a", "$patch": "merge"}]}),
            500,
            "merging lists cannot yet be specified",
        ),
        (json!({"containers": [{"name": "a", "$patch": "vanish"}]}), 500, "unknown patch type: vanish"),
        (json!({"$patch": 1}), 500, "unknown patch type: 1"),
        (json!({"$retainKeys": 1}), 400, "retainKeys"),
        (json!({"$setElementOrder/containers": 1}), 400, "setElementOrder"),
        (
            json!({"$setElementOrder/containers": [{"image": "a"}]}),
            500,
            "does not contain declared merge key",
        ),
        (json!({"$deleteFromPrimitiveList/containers": 1}), 400, "primitive list"),
    ] {
        let (got, message) = patched("Pod", json!({"spec": containers}), json!({"spec": patch})).unwrap_err();
        assert!(got == code && message.contains(words), "{patch}: {got} {message}");
    }
}

#[test]
fn lists_are_bounded() {
    let list = |names: std::ops::Range<usize>| json!({"volumes": names.map(|it| json!({"name": it.to_string()})).collect::<Vec<_>>()});
    let refused = patched("Pod", json!({"spec": list(0..6_000)}), json!({"spec": list(6_000..12_000)}));
    assert_eq!(refused.unwrap_err().0, 413);
}

/// Types that have no table are merged like any JSON, their lists replaced.
#[test]
fn what_is_not_known_is_a_merge_patch() {
    let (Value::Object(old), Value::Object(patch)) =
        (json!({"a": {"b": 1, "c": [1]}}), json!({"a": {"c": [2]}, "d": null}))
    else {
        panic!("no objects")
    };
    assert_eq!(Value::Object(apply(old, patch, None).unwrap()), json!({"a": {"b": 1, "c": [2]}}));
}
