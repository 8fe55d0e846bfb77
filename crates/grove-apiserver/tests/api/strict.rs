//! What strict kinds refuse, warn of and note. The answers are those of the real server: rows of the API suite say the same
//! of it.

use serde_json::{Value, json};

use crate::support::{
    CONFIG_MAPS, WIDGETS, apply, assert_has, cluster, delete, get, merge, post, put, send, send_with, server,
    widget,
};

async fn warned(path: &str, body: &str) -> (u16, Vec<String>, Value) {
    send_with(&cluster(), "POST", path, &[("content-type", "application/json")], body).await
}

#[tokio::test]
async fn unknown_fields() {
    let body = r#"{"metadata":{"name":"a"},"datum":{}}"#;
    let (code, warnings, said) = warned(CONFIG_MAPS, body).await;
    assert_eq!((code, &said["datum"]), (201, &Value::Null));
    assert_eq!(warnings, [r#"299 - "unknown field \"datum\"""#]);
    let (code, warnings, said) = warned(&format!("{CONFIG_MAPS}?fieldValidation=Ignore"), body).await;
    assert_eq!((code, warnings.len(), &said["datum"]), (201, 0, &Value::Null));
    let (code, _, said) = warned(&format!("{CONFIG_MAPS}?fieldValidation=Strict"), body).await;
    let message = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"datum\"";
    assert_eq!((code, said["message"].as_str()), (400, Some(message)));
    let (code, _, said) = warned(&format!("{CONFIG_MAPS}?fieldValidation=Gentle"), body).await;
    assert_eq!(code, 422);
    assert_has(
        &said["details"]["causes"],
        &json!([{"reason": "FieldValueNotSupported", "field": "fieldValidation"}]),
    );
}

#[tokio::test]
async fn doubled_fields() {
    let body = r#"{"metadata":{"name":"a","name":"b"}}"#;
    let (code, warnings, said) = warned(CONFIG_MAPS, body).await;
    assert_eq!((code, said["metadata"]["name"].as_str()), (201, Some("b")));
    assert_eq!(warnings, [r#"299 - "duplicate field \"metadata.name\"""#]);
    let (code, _, said) = warned(&format!("{CONFIG_MAPS}?fieldValidation=Strict"), body).await;
    assert!(code == 400 && said["message"].as_str().unwrap().contains("duplicate field \"metadata.name\""));
    // Of kinds that are not strict, as well.
    let path = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    assert_eq!(send(&server(), "POST", &path, "application/json", body).await.0, 400);
}

#[tokio::test]
async fn patches_that_make_what_cannot_be() {
    let server = cluster();
    let a = &format!("{CONFIG_MAPS}/a");
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let (code, said) = merge(&server, a, json!({"data": {"c": 5}})).await;
    assert_eq!(code, 422);
    assert_has(&said, &json!({"reason": "Invalid", "details": {"causes": [{"field": "patch"}]}}));
    let (code, said) = merge(&server, &format!("{a}?fieldValidation=Strict"), json!({"datum": 1})).await;
    assert!(code == 422 && said["message"].as_str().unwrap().contains("unknown field \"datum\""), "{said}");
    assert_eq!(put(&server, a, json!({"metadata": {"name": "a"}, "data": {"c": 5}})).await.0, 400);
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "datum": {}});
    let (code, said) = apply(&server, a, "one", body).await;
    assert_eq!(code, 500);
    assert!(said["message"].as_str().unwrap().contains(".datum: field not declared in schema"), "{said}");
    assert_eq!(get(&server, a).await.1["data"], Value::Null);
}

#[tokio::test]
async fn what_go_always_writes() {
    let server = cluster();
    let event = json!({"metadata": {"name": "e"}, "involvedObject": {}, "reason": "R"});
    let (code, said) = post(&server, "/api/v1/namespaces/default/events", event).await;
    assert_eq!(
        (code, &said["reportingComponent"], said.get("eventTime")),
        (201, &json!(""), Some(&Value::Null))
    );
    let (_, said) = get(&server, "/apis/events.k8s.io/v1/namespaces/default/events/e").await;
    assert_eq!((said.get("reportingController"), &said["deprecatedSource"]), (None, &json!({})));
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "schedulingGates": [{"name": "a"}], "containers": [{"name": "main", "image": "none"}],
    }});
    let (_, said) = post(&server, "/api/v1/namespaces/default/pods", pod).await;
    let condition = &said["status"]["conditions"][0];
    assert!(condition["lastTransitionTime"].is_string() && condition["lastProbeTime"].is_null(), "{said}");
    let (_, said) =
        post(&server, "/api/v1/namespaces?fieldManager=m", json!({"metadata": {"name": "n"}})).await;
    let label = json!({"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}});
    assert_eq!(said["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"], label);
}

#[tokio::test]
async fn names_of_what_ends_and_what_cannot_be_deleted_together() {
    let server = cluster();
    let held = || json!({"metadata": {"name": "held", "finalizers": ["example.com/hold"]}});
    post(&server, CONFIG_MAPS, held()).await;
    delete(&server, &format!("{CONFIG_MAPS}/held"), Value::Null).await;
    let (code, said) = post(&server, CONFIG_MAPS, held()).await;
    let message = "object is being deleted: configmaps \"held\" already exists";
    assert_eq!((code, said["message"].as_str()), (409, Some(message)));
    assert_eq!(delete(&server, "/api/v1/namespaces", Value::Null).await.0, 405);
}

#[tokio::test]
async fn yaml() {
    let yaml = "metadata:\n  name: a\ndata: { a: 'yes' }\n";
    let (code, said) = send(&cluster(), "POST", CONFIG_MAPS, "application/yaml", yaml).await;
    assert_eq!((code, &said["data"]), (201, &json!({"a": "yes"})));
}

#[tokio::test]
async fn who_wrote_what_is_noted_from_the_start() {
    let server = cluster();
    let body = json!({"metadata": {"name": "a", "labels": {"x": "1"}}, "data": {"a": "1"}});
    let (_, made) = post(&server, &format!("{CONFIG_MAPS}?fieldManager=tester"), body).await;
    let entry = json!([{
        "manager": "tester", "operation": "Update", "apiVersion": "v1", "time": "2026-01-02T12:00:00Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:labels": {".": {}, "f:x": {}}}},
    }]);
    assert_eq!(made["metadata"]["managedFields"], entry);
    let a = &format!("{CONFIG_MAPS}/a");
    let (_, said) = merge(&server, &format!("{a}?fieldManager=other"), json!({"data": {"b": "1"}})).await;
    assert_has(
        &said["metadata"]["managedFields"],
        &json!([{"manager": "other", "fieldsV1": {"f:data": {"f:b": {}}}}, {"manager": "tester"}]),
    );
    let body =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "2"}});
    let (code, said) = apply(&server, a, "applier", body).await;
    assert_eq!(code, 409);
    assert_has(
        &said["details"]["causes"],
        &json!([{"message": "conflict with \"tester\" using v1 at 2026-01-02T12:00:00Z"}]),
    );
}

#[tokio::test]
async fn metadata() {
    let server = cluster();
    for (path, body, field) in [
        (CONFIG_MAPS, json!({"name": "Not_A_Name"}), "metadata.name"),
        (CONFIG_MAPS, json!({"name": "a", "labels": {"x": "not a value"}}), "metadata.labels"),
        (CONFIG_MAPS, json!({"name": "a", "finalizers": ["mine"]}), "metadata.finalizers[0]"),
        ("/api/v1/namespaces", json!({"name": "a.b"}), "metadata.name"),
    ] {
        let (code, said) = post(&server, path, json!({"metadata": body})).await;
        assert_eq!(code, 422, "{said}");
        assert_has(
            &said,
            &json!({"reason": "Invalid", "details": {"causes": [{"reason": "FieldValueInvalid", "field": field}]}}),
        );
    }
    let mut widget = widget("a", json!({}));
    widget["metadata"]["labels"] = json!({"x": "a b"});
    assert_eq!(post(&server, WIDGETS, widget).await.0, 422);
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let (code, _) =
        merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"metadata": {"labels": {"x": "a b"}}})).await;
    assert_eq!(code, 422);
}

/// A dry run does all but store: of every verb.
#[tokio::test]
async fn dry_runs() {
    let server = cluster();
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let revision = server.store().revision();
    let a = &format!("{CONFIG_MAPS}/a?dryRun=All");
    let body = json!({"metadata": {"name": "b"}, "data": {"x": "1"}});
    let (code, said) = post(&server, &format!("{CONFIG_MAPS}?dryRun=All"), body).await;
    assert_eq!(code, 201);
    assert_has(&said["metadata"], &json!({"name": "b", "resourceVersion": null}));
    let (code, said) = merge(&server, a, json!({"data": {"x": "1"}})).await;
    assert_eq!((code, &said["data"]), (200, &json!({"x": "1"})));
    assert_eq!(
        put(&server, a, json!({"metadata": {"name": "a"}, "data": {"x": "2"}})).await.1["data"]["x"],
        "2"
    );
    assert_eq!(delete(&server, a, Value::Null).await.0, 200);
    assert_eq!(delete(&server, &format!("{CONFIG_MAPS}?dryRun=All"), Value::Null).await.0, 200);
    assert_eq!(server.store().revision(), revision);
    for (method, path) in [
        ("POST", CONFIG_MAPS.to_owned()),
        ("PUT", format!("{CONFIG_MAPS}/a")),
        ("DELETE", format!("{CONFIG_MAPS}/a")),
    ] {
        let body = r#"{"metadata":{"name":"a"}}"#;
        let body = if method == "DELETE" { "" } else { body };
        let (code, said) =
            send(&server, method, &format!("{path}?dryRun=Some"), "application/json", body).await;
        assert_eq!(code, 422, "{method} {said}");
        assert_has(
            &said["details"]["causes"],
            &json!([{"reason": "FieldValueNotSupported", "field": "dryRun"}]),
        );
    }
}
