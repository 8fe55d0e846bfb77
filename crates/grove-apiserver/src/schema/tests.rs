//! Schemas and what they make of objects.
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

use serde_json::{Value, json};

use super::{Schema, compile, rules, unknown_fields, validate};
use crate::cel::{Budget, MOST_PER_WRITE};

/// The schema of an object with these fields in its spec.
fn spec(fields: Value) -> Schema {
    of(json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}))
}

fn of(schema: Value) -> Schema {
    compile(&schema, "").unwrap_or_else(|it| panic!("{it:?}"))
}

/// What is wrong with a spec, each as `path: message`.
fn wrong(schema: &Schema, spec: Value) -> Vec<String> {
    wrong_update(schema, spec, None)
}

fn wrong_update(schema: &Schema, spec: Value, old: Option<Value>) -> Vec<String> {
    let object =
        |spec: Value| json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "a"}, "spec": spec});
    let causes = schema.check(&object(spec), old.map(object).as_ref(), Vec::new());
    causes.into_iter().map(|it| format!("{}: {}", it.field, it.message)).collect()
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn words_of_the_real_server() {
    let schema = spec(json!({
        "replicas": {"type": "integer", "minimum": 0, "maximum": 10},
        "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "multipleOf": 0.5},
        "name": {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[a-z]*$"},
        "mode": {"type": "string", "enum": ["A", "B"]},
        "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"],
            "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "port": {"type": "integer", "default": 80}}}},
        "map": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}},
        "either": {"x-kubernetes-int-or-string": true},
        "when": {"type": "string", "format": "date-time"},
        "nullable": {"type": "string", "nullable": true},
        "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "any": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "not": {"required": ["a", "b"]}},
    }));
    for (spec, expected) in [
        (
            json!({"replicas": 0, "ratio": 1.5, "name": "abc", "mode": "A", "either": "1", "nullable": null}),
            vec![],
        ),
        (json!({"replicas": 1.0, "either": 1, "when": "2026-01-02T03:04:05.123Z"}), vec![]),
        (
            json!({"replicas": "3"}),
            vec![
                r#"spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string""#,
            ],
        ),
        (
            json!({"replicas": -1}),
            vec![
                "spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0",
            ],
        ),
        (
            json!({"replicas": 11}),
            vec![
                "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10",
            ],
        ),
        (
            json!({"ratio": 0}),
            vec!["spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0"],
        ),
        (
            json!({"ratio": 0.7}),
            vec!["spec.ratio: Invalid value: 0.7: spec.ratio in body should be a multiple of 0.5"],
        ),
        (
            json!({"name": ""}),
            vec![r#"spec.name: Invalid value: "": spec.name in body should be at least 1 chars long"#],
        ),
        (json!({"name": "abcd"}), vec!["spec.name: Too long: may not be more than 3 bytes"]),
        (
            json!({"name": "A"}),
            vec![r#"spec.name: Invalid value: "A": spec.name in body should match '^[a-z]*$'"#],
        ),
        (json!({"mode": "C"}), vec![r#"spec.mode: Unsupported value: "C": supported values: "A", "B""#]),
        (
            json!({"list": []}),
            vec!["spec.list: Invalid value: 0: spec.list in body should have at least 1 items"],
        ),
        (json!({"list": ["a", "b", "c"]}), vec!["spec.list: Too many: 3: must have at most 2 items"]),
        (
            json!({"list": [1]}),
            vec![
                r#"spec.list[0]: Invalid value: "integer": spec.list[0] in body must be of type string: "integer""#,
            ],
        ),
        (json!({"set": ["a", "b", "a"]}), vec![r#"spec.set[2]: Duplicate value: "a""#]),
        (
            json!({"keyed": [{"name": "a"}, {"name": "a", "port": 80}, {"name": "a", "port": 81}]}),
            vec![r#"spec.keyed[1]: Duplicate value: {"name":"a","port":80}"#],
        ),
        (json!({"keyed": [{}]}), vec!["spec.keyed[0].name: Required value"]),
        (json!({"map": {"a": 1, "b": 2}}), vec!["spec.map: Too many: 2: must have at most 1 items"]),
        (
            json!({"map": {"a": "1"}}),
            vec![
                r#"spec.map.a: Invalid value: "string": spec.map.a in body must be of type integer: "string""#,
            ],
        ),
        (
            json!({"either": true}),
            vec![
                r#"spec.either: Invalid value: "boolean": spec.either in body must be of type integer,string: "boolean""#,
            ],
        ),
        (
            json!({"when": "today"}),
            vec![
                r#"spec.when: Invalid value: "today": spec.when in body must be of type date-time: "today""#,
            ],
        ),
        (
            json!({"one": {}}),
            vec![
                r#"<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid"#,
            ],
        ),
        (
            json!({"one": {"a": "", "b": ""}}),
            vec![
                r#"<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives"#,
            ],
        ),
        (
            json!({"any": {}}),
            vec![
                r#"<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf)"#,
                "spec.any.a: Required value",
            ],
        ),
        (
            json!({"any": {"a": "", "b": ""}}),
            vec![r#"<nil>: Invalid value: "": "spec.any" must not validate the schema (not)"#],
        ),
        (json!([]), vec![r#"spec: Invalid value: "array": spec in body must be of type object: "array""#]),
    ] {
        assert_eq!(wrong(&schema, spec.clone()), expected, "{spec}");
    }
    let many = wrong(&schema, json!({"replicas": -1, "mode": "C", "name": "ABCD"}));
    assert_eq!(many.len(), 4, "all causes at once: {many:?}");
}

#[test]
fn what_is_not_known_is_pruned() {
    let schema = of(json!({"type": "object", "properties": {
    "spec": {"type": "object", "properties": {
        "known": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        "any": {"type": "object", "additionalProperties": true},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"inner": {"type": "object", "properties": {"a": {"type": "integer"}}}}},
        "whole": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
    }}}}));
    let object = json!({
    "apiVersion": "a/v1", "kind": "A", "metadata": {"name": "a", "labels": {"a": "b"}, "odd": 1}, "other": 1,
    "spec": {
        "known": {"a": 1, "b": 2}, "list": [{"a": 1, "b": 2}], "map": {"x": {"a": 1, "b": 2}}, "any": {"x": {"b": 2}},
        "open": {"x": {"b": 2}, "inner": {"a": 1, "b": 2}}, "extra": 1,
        "whole": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "odd": 1}, "spec": {"b": 2}, "status": {}},
    }});
    let expected = json!({
    "apiVersion": "a/v1", "kind": "A", "metadata": {"name": "a", "labels": {"a": "b"}},
    "spec": {
        "known": {"a": 1}, "list": [{"a": 1}], "map": {"x": {"a": 1}}, "any": {"x": {"b": 2}},
        "open": {"x": {"b": 2}, "inner": {"a": 1}},
        "whole": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}},
    }});
    let mut unknown = unknown_fields(&schema, &object);
    unknown.sort();
    assert_eq!(
        unknown,
        [
            "metadata.odd",
            "other",
            "spec.extra",
            "spec.known.b",
            "spec.list[0].b",
            "spec.map.x.b",
            "spec.open.inner.b",
            "spec.whole.metadata.odd",
            "spec.whole.spec.b",
            "spec.whole.status",
        ]
    );
    let mut pruned = object;
    schema.normalise(&mut pruned);
    assert_eq!(pruned, expected);
    assert!(unknown_fields(&schema, &pruned).is_empty());
}

#[test]
fn what_is_left_out_gets_its_default() {
    let schema = spec(json!({
        "a": {"type": "integer", "default": 1},
        "b": {"type": "object", "default": {}, "properties": {"c": {"type": "string", "default": "x"}}},
        "d": {"type": "object", "properties": {"e": {"type": "string", "default": "y"}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"f": {"type": "integer", "default": 2}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"g": {"type": "integer", "default": 3}}}},
        "nullable": {"type": "integer", "nullable": true, "default": 4},
        "plain": {"type": "integer"},
    }));
    for (spec, expected) in [
        (json!({}), json!({"a": 1, "b": {"c": "x"}, "nullable": 4})),
        (
            json!({"a": null, "b": {}, "d": {}, "list": [{}, {"f": 9}], "map": {"x": {}}, "nullable": null, "plain": null}),
            json!({"a": 1, "b": {"c": "x"}, "d": {"e": "y"}, "list": [{"f": 2}, {"f": 9}], "map": {"x": {"g": 3}}, "nullable": null}),
        ),
    ] {
        let mut object = json!({"spec": spec});
        schema.normalise(&mut object);
        assert_eq!(object, json!({"spec": expected}));
    }
}

#[test]
fn rules_say_what_is_wrong_and_where() {
    let rule = |rule: Value| json!([rule]);
    let schema = spec(json!({
        "a": {"type": "integer"}, "b": {"type": "integer", "x-kubernetes-validations": rule(json!({
            "rule": "self < 10", "message": "too large", "reason": "FieldValueForbidden"}))},
        "c": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
            "x-kubernetes-validations": [
                {"rule": "self.x <= self.y", "messageExpression": "'x is ' + string(self.x)", "fieldPath": ".x"},
                {"rule": "self.x != 3"},
            ]},
        "map": {"type": "object", "additionalProperties": {"type": "integer",
            "x-kubernetes-validations": rule(json!({"rule": "self > 0", "message": "must be positive"}))}},
    }));
    assert_eq!(wrong(&schema, json!({"b": 9, "c": {"x": 1, "y": 2}, "map": {"a": 1}})), [""; 0]);
    for (spec, expected) in [
        (json!({"b": 10}), vec!["spec.b: Forbidden: too large"]),
        (json!({"c": {"x": 2, "y": 1}}), vec!["spec.c.x: Invalid value: x is 2"]),
        (json!({"c": {"x": 3, "y": 4}}), vec!["spec.c: Invalid value: failed rule: self.x != 3"]),
        (json!({"map": {"a": 0}}), vec!["spec.map[a]: Invalid value: 0: must be positive"]),
        (
            json!({"c": {"x": 4}}),
            vec!["spec.c: Invalid value: \"object\": no such key: y evaluating rule: self.x <= self.y"],
        ),
        (
            json!({"a": "1", "b": 10}),
            vec![
                "spec.a: Invalid value: \"string\": spec.a in body must be of type integer: \"string\"",
                "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
            ],
        ),
    ] {
        assert_eq!(wrong(&schema, spec.clone()), expected, "{spec}");
    }
}

#[test]
fn rules_about_a_change_follow_items_by_their_keys() {
    let items = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "size": {"type": "integer"}, "note": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "self.size >= oldSelf.size", "message": "must not shrink"}]});
    let keyed = spec(json!({"parts": {"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"], "items": items}}));
    let before = json!({"parts": [{"name": "a", "size": 1}, {"name": "b", "size": 5}]});
    let update =
        |schema: &Schema, parts: Value| wrong_update(schema, json!({ "parts": parts }), Some(before.clone()));
    assert_eq!(
        update(&keyed, json!([{"name": "b", "size": 5}, {"name": "a", "size": 1}])),
        [""; 0],
        "reordered"
    );
    assert_eq!(
        update(&keyed, json!([{"name": "c", "size": 0}, {"name": "a", "size": 1}])),
        [""; 0],
        "replaced"
    );
    assert_eq!(
        update(&keyed, json!([{"name": "b", "size": 4}, {"name": "a", "size": 1}])),
        ["spec.parts[0]: Invalid value: must not shrink"]
    );
    // Without keys an item cannot be told from another.
    let atomic = spec(json!({"parts": {"type": "array", "items": items}}));
    assert_eq!(update(&atomic, json!([{"name": "b", "size": 1}])), [""; 0]);
}

#[test]
fn the_old_value_may_be_optional() {
    let schema = spec(json!({"a": {"type": "integer", "x-kubernetes-validations": [
        {"rule": "oldSelf.hasValue() || self < 10", "optionalOldSelf": true, "message": "new ones are small"},
        {"rule": "self >= oldSelf", "message": "only grows"},
    ]}}));
    assert_eq!(wrong(&schema, json!({"a": 11})), ["spec.a: Invalid value: 11: new ones are small"]);
    assert_eq!(wrong_update(&schema, json!({"a": 12}), Some(json!({"a": 11}))), [""; 0]);
    assert_eq!(
        wrong_update(&schema, json!({"a": 10}), Some(json!({"a": 11}))),
        ["spec.a: Invalid value: 10: only grows"]
    );
    assert_eq!(
        wrong_update(&schema, json!({"a": 11}), Some(json!({}))),
        ["spec.a: Invalid value: 11: new ones are small"]
    );
}

#[test]
fn what_was_wrong_before_is_tolerated_until_it_changes() {
    let item = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "size": {"type": "integer", "maximum": 3}}});
    let schema = spec(json!({
        "a": {"type": "string", "maxLength": 2},
        "b": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 10", "message": "small"}]},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": item},
        "atomic": {"type": "array", "items": item},
        "free": {"type": "string"},
    }));
    let bad = json!({"a": "abc", "b": 11, "keyed": [{"name": "x", "size": 4}], "atomic": [{"name": "x", "size": 4}]});
    assert_eq!(wrong(&schema, bad.clone()).len(), 4);
    let update = |change: &dyn Fn(&mut Value)| {
        let mut new = bad.clone();
        change(&mut new);
        wrong_update(&schema, new, Some(bad.clone()))
    };
    assert_eq!(update(&|it| it["free"] = "x".into()), [""; 0]);
    assert_eq!(
        update(&|it| it["a"] = "abcd".into()),
        ["spec.a: Too long: may not be more than 2 bytes", NOT_CHECKED]
    );
    assert_eq!(update(&|it| it["b"] = 12.into()), ["spec.b: Invalid value: 12: small"]);
    let more = json!({"name": "y", "size": 1});
    assert_eq!(
        update(&|it| it["keyed"].as_array_mut().unwrap().push(more.clone())),
        [""; 0],
        "the old item stays"
    );
    let got = update(&|it| it["atomic"].as_array_mut().unwrap().push(more.clone()));
    assert_eq!(
        got,
        [
            "spec.atomic[0].size: Invalid value: 4: spec.atomic[0].size in body should be less than or equal to 3"
        ]
    );
}

const NOT_CHECKED: &str = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

#[test]
fn schemas_that_are_not_structural() {
    let field = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    for (schema, path) in [
        (json!({}), ".type"),
        (json!({"type": "array", "items": {"type": "string"}}), ".type"),
        (field(json!({})), ".properties[a].type"),
        (field(json!({"type": "thing"})), ".properties[a].type"),
        (field(json!({"type": "array"})), ".properties[a].items"),
        (field(json!({"type": "string", "$ref": "#/x"})), ".properties[a].$ref"),
        (field(json!({"type": "string", "pattern": "("})), ".properties[a].pattern"),
        (field(json!({"type": "string", "default": 1})), ".properties[a].default"),
        (
            field(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true})),
            ".properties[a].uniqueItems",
        ),
        (
            field(
                json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": true}),
            ),
            ".properties[a].additionalProperties",
        ),
        (
            field(json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"})),
            ".properties[a].x-kubernetes-list-map-keys",
        ),
        (field(json!({"type": "object", "anyOf": [{"default": 1}]})), ".properties[a].anyOf[0].default"),
        (
            field(json!({"type": "string", "x-kubernetes-validations": [{"rule": "self =="}]})),
            ".properties[a].x-kubernetes-validations[0].rule",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}},
                "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".b"}]}),
            ".x-kubernetes-validations[0].fieldPath",
        ),
        (
            field(
                json!({"type": "string", "x-kubernetes-validations": [{"rule": "true", "optionalOldSelf": true}]}),
            ),
            ".properties[a].x-kubernetes-validations[0].optionalOldSelf",
        ),
    ] {
        let causes = compile(&schema, "").expect_err(path);
        assert_eq!(causes[0].field, path, "{causes:?}");
    }
}

#[test]
fn hostile_schemas_and_objects_are_bounded() {
    let deep = (0..100).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    assert!(compile(&json!({"type": "object", "properties": {"a": deep}}), "").is_err());
    let wide: serde_json::Map<String, Value> =
        (0..60_000).map(|at| (format!("f{at}"), json!({"type": "string"}))).collect();
    assert!(compile(&json!({"type": "object", "properties": wide}), "").is_err());
    // Many branches over many items, each of which costs.
    let branches: Vec<Value> = (0..1000).map(|at| json!({"minimum": at + 10})).collect();
    let schema = spec(json!({"list": {"type": "array", "items": {"type": "integer", "anyOf": branches}}}));
    let list: Vec<i64> = vec![1; 100_000];
    let got = wrong(&schema, json!({ "list": list }));
    assert!(got.iter().any(|it| it.contains("cost budget")) || got.len() == super::MOST_CAUSES, "{got:?}");
}

/// A name as long as a body is not repeated for everything below it, and what goes wrong a million times is not collected.
#[test]
fn what_is_wrong_with_a_hostile_object_is_bounded() {
    let items =
        json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self != 1", "message": "not one"}]});
    let list =
        |kind: &str, items: &Value| json!({"type": "array", "x-kubernetes-list-type": kind, "items": items});
    let long = "k".repeat(1 << 20);
    for (kind, value, expected) in
        [("set", json!(2), "Duplicate"), ("atomic", json!("x"), "Invalid"), ("atomic", json!(1), "not one")]
    {
        let schema = spec(json!({"map": {"type": "object", "additionalProperties": list(kind, &items)}}));
        let object = json!({"spec": {"map": {long.as_str(): vec![value; 10_000]}}});
        let (mut budget, mut causes) = (Budget::new(MOST_PER_WRITE), Vec::new());
        validate::validate(&schema, &object, None, &mut budget, &mut causes);
        rules::check(&schema, &object, None, &mut budget, &mut causes);
        assert_eq!(causes.len(), super::MOST_CAUSES + 1, "{expected}");
        let longest = causes.iter().map(|it| it.field.len() + it.message.len()).max();
        assert!(longest < Some(2_000) && causes[0].message.contains(expected), "{longest:?} {expected}");
    }
}
