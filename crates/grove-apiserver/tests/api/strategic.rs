//! Strategic merge patches, and the same knowledge of lists in server-side apply.

use serde_json::{Value, json};

use crate::support::{CONFIG_MAPS, PODS, WIDGETS, apply, assert_has, cluster, get, post, strategic, widget};

fn pod(containers: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers}})
}

#[tokio::test]
async fn items_are_found_by_their_key() {
    let server = cluster();
    let a = &format!("{PODS}/a");
    post(&server, PODS, pod(json!([{"name": "one", "image": "old"}, {"name": "two", "image": "old"}]))).await;
    let patch = json!({"metadata": {"finalizers": ["example.com/b"]}, "spec": {"containers": [{"name": "two", "image": "new"}]}});
    let (code, said) = strategic(&server, a, patch).await;
    assert_eq!(code, 200, "{said}");
    let containers = json!([{"name": "one", "image": "old"}, {"name": "two", "image": "new"}]);
    assert_has(
        &said,
        &json!({"metadata": {"finalizers": ["example.com/b"], "generation": 2}, "spec": {"containers": containers}}),
    );
    let patch = json!({"metadata": {"finalizers": ["example.com/c"], "$deleteFromPrimitiveList/finalizers": ["example.com/b"]}});
    let (_, said) = strategic(&server, a, patch).await;
    assert_eq!(said["metadata"]["finalizers"], json!(["example.com/c"]));
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    strategic(&server, &format!("{a}/status"), ready).await;
    let fresh = json!({"status": {"conditions": [{"type": "Fresh", "status": "True"}, {"type": "Ready", "status": "False"}]}});
    let (_, said) = strategic(&server, &format!("{a}/status"), fresh).await;
    let conditions = said["status"]["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 2);
    assert_has(&conditions[1], &json!({"type": "Ready", "status": "False"}));
}

#[tokio::test]
async fn custom_kinds_do_not_know_it() {
    let server = cluster();
    post(&server, WIDGETS, widget("a", json!({}))).await;
    let (code, said) = strategic(&server, &format!("{WIDGETS}/a"), json!({"spec": {"replicas": 1}})).await;
    let message = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
    assert_eq!(
        (code, said["reason"].as_str(), said["message"].as_str()),
        (415, Some("UnsupportedMediaType"), Some(message))
    );
    assert_eq!(strategic(&server, &format!("{CONFIG_MAPS}/a"), json!([])).await.0, 400);
}

#[tokio::test]
async fn appliers_share_the_lists_of_built_in_kinds() {
    let server = cluster();
    let services = "/api/v1/namespaces/default/services";
    let service = |ports: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": ports}});
    let s = &format!("{services}/s");
    let (code, said) = apply(&server, s, "one", service(json!([{"name": "http", "port": 80}]))).await;
    assert_eq!(code, 201, "{said}");
    let (code, said) = apply(&server, s, "two", service(json!([{"name": "tls", "port": 443}]))).await;
    assert_eq!(code, 200, "{said}");
    let ports = |said: &Value| {
        said["spec"]["ports"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["port"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(ports(&said), [80, 443]);
    // The protocol that is left out is TCP, so this is the same port.
    let (code, said) =
        apply(&server, s, "two", service(json!([{"name": "web", "port": 80, "protocol": "TCP"}]))).await;
    assert_eq!(code, 409);
    let field = ".spec.ports[port=80,protocol=\"TCP\"].name";
    assert_has(&said["details"]["causes"], &json!([{"reason": "FieldManagerConflict", "field": field}]));
    let (_, said) = apply(&server, s, "one", service(json!([]))).await;
    assert_eq!(ports(&said), [443]);
}

#[tokio::test]
async fn a_scale_can_be_applied() {
    let server = cluster();
    let scale = &format!("{WIDGETS}/a/scale");
    post(&server, WIDGETS, widget("a", json!({"replicas": 2}))).await;
    let said = |replicas: i64| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {"replicas": replicas}});
    let (code, answer) = apply(&server, scale, "scaler", said(5)).await;
    assert_eq!(code, 409, "who created it has it: {answer}");
    let (code, answer) = apply(&server, scale, "scaler&force=true", said(5)).await;
    assert_eq!((code, &answer["spec"]["replicas"]), (200, &json!(5)));
    let (_, widget) = get(&server, &format!("{WIDGETS}/a")).await;
    assert_has(&widget, &json!({"metadata": {"generation": 2}, "spec": {"replicas": 5}}));
    let entries = widget["metadata"]["managedFields"].as_array().unwrap();
    let scaler = entries.iter().find(|it| it["manager"] == "scaler").unwrap();
    assert_has(
        scaler,
        &json!({"operation": "Apply", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}),
    );
    assert_eq!(apply(&server, scale, "other", said(6)).await.0, 409);
    assert_eq!(apply(&server, scale, "scaler", said(-1)).await.0, 422);
    assert_eq!(apply(&server, &format!("{WIDGETS}/none/scale"), "scaler", said(1)).await.0, 404);
}
