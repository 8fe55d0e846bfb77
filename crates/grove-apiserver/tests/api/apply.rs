//! Server-side apply. The answers are those of the real server: rows of the API suite say the same of it.

use serde_json::{Value, json};

use crate::support::{
    CONFIG_MAPS, WIDGETS, apply, assert_has, delete, get, merge, post, put, send, server, widget,
};

fn map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

/// Manager, operation and fields of each entry.
fn managers(said: &Value) -> Vec<(String, Value)> {
    let entries = said["metadata"]["managedFields"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name =
        |it: &Value| format!("{} {}", it["operation"].as_str().unwrap(), it["manager"].as_str().unwrap());
    entries.iter().map(|it| (name(it), it["fieldsV1"].clone())).collect()
}

fn fields(data: Value) -> Value {
    json!({"f:data": data})
}

#[tokio::test]
async fn an_apply_creates_and_the_same_again_changes_nothing() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    let mut body = map(json!({"a": "1", "b": "1"}));
    body["metadata"]["labels"] = json!({"suite": "apply"});
    let (code, made) = apply(&server, a, "one", body.clone()).await;
    assert_eq!((code, &made["data"]), (201, &json!({"a": "1", "b": "1"})));
    let entry = json!({
        "manager": "one", "operation": "Apply", "apiVersion": "v1", "time": "2026-01-02T12:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}, "f:metadata": {"f:labels": {"f:suite": {}}}},
    });
    assert_eq!(made["metadata"]["managedFields"], json!([entry]));
    let revision = server.store().revision();
    assert_eq!(apply(&server, a, "one", body).await, (200, made.clone()));
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: { labels: { suite: apply } }\ndata:\n  a: '1'\n  b: '1'\n";
    let path = format!("{a}?fieldManager=one");
    let said = send(&server, "PATCH", &path, "application/apply-patch+yaml", yaml).await;
    assert_eq!(said, (200, made));
    assert_eq!(server.store().revision(), revision);
}

#[tokio::test]
async fn fields_are_shared_fought_over_taken_and_given_up() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    apply(&server, a, "one", map(json!({"a": "1", "b": "1"}))).await;

    let (code, said) = apply(&server, a, "two", map(json!({"a": "2"}))).await;
    let cause =
        json!({"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".data.a"});
    let message = "Apply failed with 1 conflict: conflict with \"one\": .data.a";
    assert_eq!(code, 409);
    assert_has(&said, &json!({"reason": "Conflict", "message": message, "details": {"causes": [cause]}}));
    let (code, said) = apply(&server, a, "two", map(json!({"a": "2", "b": "2"}))).await;
    let message = "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b";
    assert_eq!((code, said["message"].as_str()), (409, Some(message)));

    let (code, said) = apply(&server, a, "two", map(json!({"b": "1", "c": "1"}))).await;
    assert_eq!((code, &said["data"]), (200, &json!({"a": "1", "b": "1", "c": "1"})));
    let shared = [
        ("Apply one".to_owned(), fields(json!({"f:a": {}, "f:b": {}}))),
        ("Apply two".to_owned(), fields(json!({"f:b": {}, "f:c": {}}))),
    ];
    assert_eq!(managers(&said), shared);

    let body = map(json!({"a": "2", "b": "1", "c": "1"}));
    let (code, said) = apply(&server, a, "two&force=true", body).await;
    assert_eq!((code, &said["data"]), (200, &json!({"a": "2", "b": "1", "c": "1"})));
    let taken = [
        ("Apply one".to_owned(), fields(json!({"f:b": {}}))),
        ("Apply two".to_owned(), fields(json!({"f:a": {}, "f:b": {}, "f:c": {}}))),
    ];
    assert_eq!(managers(&said), taken);

    let (code, said) = apply(&server, a, "two", map(json!({"a": "2"}))).await;
    assert_eq!((code, &said["data"]), (200, &json!({"a": "2", "b": "1"})));
    // Without the last of its fields, a manager is named no longer, and what is empty goes.
    let bare = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    apply(&server, a, "one", bare.clone()).await;
    let (code, said) = apply(&server, a, "two", bare).await;
    assert_eq!((code, &said["data"], managers(&said)), (200, &Value::Null, Vec::new()));
}

#[tokio::test]
async fn who_updates_takes_fields_over_without_asking_once_somebody_applies() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    let by_three = &format!("{a}?fieldManager=three");
    let (_, made) = post(&server, CONFIG_MAPS, map(json!({"old": "1"}))).await;
    assert_eq!(managers(&made), Vec::new());
    // What was there before belongs to nobody.
    let (code, said) = apply(&server, a, "one", map(json!({"old": "2", "a": "1", "b": "1"}))).await;
    assert_eq!((code, &said["data"]["old"]), (200, &json!("2")));

    let (_, said) = merge(&server, by_three, json!({"data": {"b": "3", "z": "3", "old": null}})).await;
    let now = [
        ("Apply one".to_owned(), fields(json!({"f:a": {}}))),
        ("Update three".to_owned(), fields(json!({"f:b": {}, "f:z": {}}))),
    ];
    assert_eq!(managers(&said), now);
    let (code, said) = apply(&server, a, "one", map(json!({"a": "1", "b": "1"}))).await;
    let message =
        "Apply failed with 1 conflict: conflict with \"three\" using v1 at 2026-01-02T12:00:00Z: .data.b";
    assert_eq!((code, said["message"].as_str()), (409, Some(message)));
    // What somebody else has by now stays when it is left out.
    let (code, said) = apply(&server, a, "one", map(json!({"a": "1"}))).await;
    assert_eq!((code, &said["data"]), (200, &json!({"a": "1", "b": "3", "z": "3"})));
    // An update that changes nothing takes nothing, and cannot change the managers.
    let mut body = said.clone();
    body["metadata"]["managedFields"] = json!([]);
    assert_eq!(put(&server, by_three, body).await, (200, said));
}

#[tokio::test]
async fn versions_and_uids_are_conditions() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    let with = |field: &str, value: &Value| {
        let mut body = map(json!({"a": "2"}));
        body["metadata"][field] = value.clone();
        body
    };
    let (code, said) = apply(&server, a, "one", with("uid", &json!("ghost"))).await;
    assert_eq!((code, said["reason"].as_str()), (409, Some("Conflict")));
    let (code, made) = apply(&server, a, "one", with("resourceVersion", &json!("77"))).await;
    assert_eq!(code, 201, "a version does not keep an apply from creating");
    let version = &made["metadata"]["resourceVersion"];
    merge(&server, a, json!({"data": {"x": "1"}})).await;
    assert_eq!(apply(&server, a, "one", with("resourceVersion", version)).await.0, 409);
    let (code, said) = apply(&server, a, "one", with("uid", &json!("ghost"))).await;
    assert_eq!((code, &said["details"]["causes"][0]["field"]), (422, &json!("metadata.uid")));
    let (_, now) = get(&server, a).await;
    for field in ["resourceVersion", "uid"] {
        assert_eq!(apply(&server, a, "one", with(field, &now["metadata"][field])).await, (200, now.clone()));
    }
}

#[tokio::test]
async fn what_is_no_apply() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    apply(&server, a, "one", map(json!({"a": "1"}))).await;
    let kind = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let list = json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"parts": [{"size": 1}]}});
    let twice = json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"tags": ["a", "a"]}});
    let managed =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": [{"manager": "one"}]}});
    let another = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}});
    let apply_patch = "application/apply-patch+yaml";
    let merge_patch = "application/merge-patch+json";
    for (what, path, form, body, code) in [
        ("no manager", a.clone(), apply_patch, kind.to_string(), 422),
        ("an empty manager", format!("{a}?fieldManager="), apply_patch, kind.to_string(), 422),
        ("force without apply", format!("{a}?force=true"), merge_patch, "{}".to_owned(), 422),
        ("managers", format!("{a}?fieldManager=one"), apply_patch, managed.to_string(), 400),
        ("no kind", format!("{a}?fieldManager=one"), apply_patch, "metadata: {}".to_owned(), 400),
        ("another name", format!("{a}?fieldManager=one"), apply_patch, another.to_string(), 400),
        ("no YAML", format!("{a}?fieldManager=one"), apply_patch, "a: [".to_owned(), 400),
        ("deep YAML", format!("{a}?fieldManager=one"), apply_patch, format!("a: {}", "[".repeat(9000)), 400),
        ("no object", format!("{a}?fieldManager=one"), apply_patch, "[]".to_owned(), 400),
        (
            "no status",
            format!("{WIDGETS}/none/status?fieldManager=one"),
            apply_patch,
            widget("none", json!({})).to_string(),
            404,
        ),
        (
            "an item without its key",
            format!("{WIDGETS}/a?fieldManager=one"),
            apply_patch,
            list.to_string(),
            500,
        ),
        ("an item twice", format!("{WIDGETS}/a?fieldManager=one"), apply_patch, twice.to_string(), 500),
    ] {
        let (got, said) = send(&server, "PATCH", &path, form, &body).await;
        assert_eq!(got, code, "{what}: {said}");
    }
    assert_eq!(get(&server, a).await.1["data"], json!({"a": "1"}));
}

#[tokio::test]
async fn items_of_lists_are_told_apart_where_the_schema_says_how() {
    let server = server();
    let a = &format!("{WIDGETS}/a");
    let part = |name: &str, size: u32| json!({"name": name, "size": size});
    let spec = json!({"parts": [part("a", 1), part("b", 1)], "tags": ["x"], "words": ["w"], "whole": {"a": 1},
        "ports": [{"name": "p"}]});
    let (code, made) = apply(&server, a, "one", widget("a", spec)).await;
    assert_eq!((code, &made["metadata"]["generation"]), (201, &json!(1)));
    let own = |fields: Value| {
        let mut fields = fields;
        fields["."] = json!({});
        fields
    };
    let of_part = || own(json!({"f:name": {}, "f:size": {}}));
    let owned = json!({"f:spec": {
        "f:parts": {"k:{\"name\":\"a\"}": of_part(), "k:{\"name\":\"b\"}": of_part()},
        "f:ports": {"k:{\"name\":\"p\",\"port\":80}": own(json!({"f:name": {}}))},
        "f:tags": {"v:\"x\"": {}}, "f:words": {}, "f:whole": {},
    }});
    assert_eq!(managers(&made), [("Apply one".to_owned(), owned)]);

    let (code, said) = apply(&server, a, "two", widget("a", json!({"parts": [part("b", 5)]}))).await;
    let message = "Apply failed with 1 conflict: conflict with \"one\": .spec.parts[name=\"b\"].size";
    assert_eq!((code, said["message"].as_str()), (409, Some(message)));
    for (what, said) in [
        ("a list that is a whole", json!({"words": ["w", "v"]})),
        ("a map that is a whole", json!({"whole": {"b": 1}})),
    ] {
        assert_eq!(apply(&server, a, "two", widget("a", said)).await.0, 409, "{what}");
    }
    let spec = json!({"parts": [part("b", 5), part("c", 1)], "tags": ["y"]});
    let (code, said) = apply(&server, a, "two&force=true", widget("a", spec)).await;
    assert_eq!((code, &said["metadata"]["generation"]), (200, &json!(2)));
    assert_eq!(said["spec"]["parts"], json!([part("a", 1), part("b", 5), part("c", 1)]));
    assert_eq!(said["spec"]["tags"], json!(["x", "y"]));
    // One gives up all of its items: what another has something of stays.
    let (_, said) = apply(&server, a, "one", widget("a", json!({"words": ["w"], "whole": {"a": 1}}))).await;
    let left =
        json!({"parts": [part("b", 5), part("c", 1)], "tags": ["y"], "words": ["w"], "whole": {"a": 1}});
    assert_eq!(said["spec"], left);
}

#[tokio::test]
async fn owners_and_finalizers_are_told_apart_in_every_kind() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    let with = |owner: &str, finalizer: &str| {
        let mut body = map(json!({}));
        let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": owner});
        body["metadata"]["ownerReferences"] = json!([owner]);
        body["metadata"]["finalizers"] = json!([finalizer]);
        body
    };
    let (_, made) = apply(&server, a, "one", with("u1", "a/b")).await;
    let owned = json!({"f:data": {}, "f:metadata": {
        "f:finalizers": {"v:\"a/b\"": {}}, "f:ownerReferences": {"k:{\"uid\":\"u1\"}": {}}}});
    assert_eq!(managers(&made), [("Apply one".to_owned(), owned)]);
    let (_, said) = apply(&server, a, "two", with("u2", "c/d")).await;
    assert_eq!(said["metadata"]["finalizers"], json!(["a/b", "c/d"]));
    assert_eq!(said["metadata"]["ownerReferences"].as_array().unwrap().len(), 2);
    let (_, said) = apply(&server, a, "one", map(json!({}))).await;
    assert_eq!(said["metadata"]["finalizers"], json!(["c/d"]));
    assert_eq!(said["metadata"]["ownerReferences"][0]["uid"], "u2");
    // The last finalizer of what is being deleted lets it go.
    delete(&server, a, Value::Null).await;
    apply(&server, a, "two", map(json!({}))).await;
    assert_eq!(get(&server, a).await.0, 404);
}

#[tokio::test]
async fn the_status_is_applied_by_itself() {
    let server = server();
    let a = &format!("{WIDGETS}/a");
    let with = |conditions: Value| {
        let mut body = widget("a", json!({"color": "red"}));
        body["metadata"]["labels"] = json!({"a": "b"});
        body["status"] = json!({"conditions": conditions});
        body
    };
    let ready = json!({"type": "Ready", "status": "True"});
    let fresh = json!({"type": "Fresh", "status": "False"});
    let (_, made) = apply(&server, a, "one", with(json!([ready]))).await;
    assert_eq!(made["status"], Value::Null);
    let spec = json!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:color": {}}});
    assert_eq!(managers(&made), [("Apply one".to_owned(), spec.clone())]);

    let status = &format!("{a}/status");
    apply(&server, status, "one", with(json!([ready]))).await;
    let (code, said) = apply(&server, status, "two", with(json!([fresh]))).await;
    assert_eq!((code, &said["metadata"]["generation"]), (200, &json!(1)));
    assert_eq!(said["status"]["conditions"], json!([ready, fresh]));
    let entries = said["metadata"]["managedFields"].as_array().unwrap();
    let parts: Vec<&Value> = entries.iter().map(|it| &it["subresource"]).collect();
    assert_eq!(parts, [&Value::Null, &json!("status"), &json!("status")]);
    assert_eq!(managers(&said)[0].1, spec);
    let (_, said) = apply(
        &server,
        status,
        "one",
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "status": {}}),
    )
    .await;
    assert_eq!(said["status"]["conditions"], json!([fresh]));
    // An apply of the whole leaves the status, and whose it is, alone.
    let (_, said) = apply(&server, a, "two", widget("a", json!({"color": "red"}))).await;
    assert_eq!(said["status"]["conditions"], json!([fresh]));
}

#[tokio::test]
async fn a_dry_run_says_what_would_be() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    let (code, said) = apply(&server, a, "one&dryRun=All", map(json!({"a": "1"}))).await;
    assert_eq!((code, &said["data"]), (201, &json!({"a": "1"})));
    assert_eq!(get(&server, a).await.0, 404);
}
