//! A server with the kinds that the tests use, and short ways to talk to it.

use bytes::Bytes;
use grove_apiserver::{ApiServer, Resource, Resources};
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tower::ServiceExt;

/// A definition like those of Grove: namespaced, with status and scale.
pub(crate) fn widgets() -> Value {
    json!({"spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [{"name": "v1", "served": true, "storage": true, "selectableFields": [{"jsonPath": ".spec.color"}],
            "schema": {"openAPIV3Schema": widget_schema()},
            "subresources": {"status": {}, "scale": {
                "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector"}}}]}})
}

/// Lists that are told apart by item, and one that is not.
fn widget_schema() -> Value {
    let items = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "port": {"type": "integer", "default": 80}, "size": {"type": "integer"}}});
    let by = |keys: Value| json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": items});
    let conditions =
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]});
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "parts": by(json!(["name"])), "ports": by(json!(["name", "port"])),
            "tags": {"type": "array", "x-kubernetes-list-type": "set"}, "words": {"type": "array"},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic"}}},
        "status": {"type": "object", "properties": {"conditions": conditions}}}})
}

/// A definition without subresources, of the whole cluster.
pub(crate) fn zones() -> Value {
    json!({"spec": {
        "group": "example.com", "scope": "Cluster", "names": {"kind": "Zone", "plural": "zones"},
        "versions": [{"name": "v1", "served": true, "storage": true}]}})
}

/// The time at which nothing ever changes.
pub(crate) fn noon() -> Timestamp {
    "2026-01-02T12:00:00Z".parse().unwrap()
}

pub(crate) fn resources() -> Resources {
    Resources::kubernetes().with_crd(&widgets()).unwrap().with_crd(&zones()).unwrap()
}

pub(crate) fn server() -> ApiServer {
    ApiServer::new(resources(), noon, 7)
}

/// A server as people meet it: all kinds, and strict ones. Custom kinds are strict, too.
pub(crate) fn cluster() -> ApiServer {
    let custom = [widgets(), zones()].map(|it| Resource::from_crd(&it).unwrap());
    let strict = custom.map(Resource::into_strict);
    ApiServer::new(strict.into_iter().fold(Resources::cluster(), Resources::with), noon, 7)
}

pub(crate) fn client(server: &ApiServer) -> kube::Client {
    kube::Client::new(server.service(), "default")
}

/// An answer: status and body.
pub(crate) type Said = (u16, Value);

/// Sends a request with a body of JSON.
pub(crate) async fn send(
    server: &ApiServer,
    method: &str,
    path: &str,
    content_type: &str,
    body: &str,
) -> Said {
    let (code, _, said) = send_with(server, method, path, &[("content-type", content_type)], body).await;
    (code, said)
}

/// Likewise with headers; and the warnings of the answer.
pub(crate) async fn send_with(
    server: &ApiServer,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, Vec<String>, Value) {
    let mut request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).unwrap())
        .uri(path.replace(' ', "%20"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
    let response = server.service().oneshot(request).await.unwrap();
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings.map(|it| it.to_str().unwrap().to_owned()).collect();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    (code, warnings, serde_json::from_slice(&body).unwrap_or(Value::String(text)))
}

/// What `kubectl get` accepts.
pub(crate) const AS_TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// Reads as a table.
pub(crate) async fn table(server: &ApiServer, path: &str) -> Value {
    let (code, _, said) = send_with(server, "GET", path, &[("accept", AS_TABLE)], "").await;
    assert_eq!(code, 200, "{said}");
    said
}

pub(crate) async fn strategic(server: &ApiServer, path: &str, body: Value) -> Said {
    send(server, "PATCH", path, "application/strategic-merge-patch+json", &body.to_string()).await
}

pub(crate) async fn get(server: &ApiServer, path: &str) -> Said {
    send(server, "GET", path, "application/json", "").await
}

pub(crate) async fn post(server: &ApiServer, path: &str, body: Value) -> Said {
    send(server, "POST", path, "application/json", &body.to_string()).await
}

pub(crate) async fn put(server: &ApiServer, path: &str, body: Value) -> Said {
    send(server, "PUT", path, "application/json", &body.to_string()).await
}

pub(crate) async fn merge(server: &ApiServer, path: &str, body: Value) -> Said {
    send(server, "PATCH", path, "application/merge-patch+json", &body.to_string()).await
}

pub(crate) async fn json_patch(server: &ApiServer, path: &str, body: Value) -> Said {
    send(server, "PATCH", path, "application/json-patch+json", &body.to_string()).await
}

pub(crate) async fn apply(server: &ApiServer, path: &str, manager: &str, body: Value) -> Said {
    let path = format!("{path}?fieldManager={manager}");
    send(server, "PATCH", &path, "application/apply-patch+yaml", &body.to_string()).await
}

pub(crate) async fn delete(server: &ApiServer, path: &str, body: Value) -> Said {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    send(server, "DELETE", path, "application/json", &body).await
}

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

pub(crate) fn widget(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

pub(crate) fn config_map(name: &str, labels: Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}})
}

pub(crate) async fn create_all(server: &ApiServer, path: &str, bodies: impl IntoIterator<Item = Value>) {
    for body in bodies {
        let (code, said) = post(server, path, body).await;
        assert_eq!(code, 201, "{said}");
    }
}

/// The names of a list.
pub(crate) fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|it| it["metadata"]["name"].as_str()).collect()
}

/// A watch, and what came so far.
pub(crate) struct Lines {
    body: grove_apiserver::Body,
}

/// Opens a watch.
pub(crate) async fn watch(server: &ApiServer, path: &str) -> Lines {
    watch_as(server, path, "application/json").await
}

/// Opens a watch whose objects come in another form.
pub(crate) async fn watch_as(server: &ApiServer, path: &str, accept: &str) -> Lines {
    let and = if path.contains('?') { '&' } else { '?' };
    let uri = format!("{path}{and}watch=true").replace(' ', "%20");
    let request = Request::get(uri).header("accept", accept).body(Full::new(Bytes::new())).unwrap();
    let response = server.service().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    Lines { body: response.into_body() }
}

impl Lines {
    /// The next event; none when the watch is over.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let frame = self.body.frame().await?.unwrap();
        let line = frame.into_data().unwrap();
        assert!(line.starts_with(b"{\"type\":") && line.ends_with(b"}\n"), "{line:?}");
        Some(serde_json::from_slice(&line).unwrap())
    }

    /// The next event as `TYPE name`, or `over`.
    pub(crate) async fn told(&mut self) -> String {
        let Some(event) = self.next().await else { return "over".to_owned() };
        let name = event["object"]["metadata"]["name"].as_str().unwrap_or("-");
        format!("{} {name}", event["type"].as_str().unwrap())
    }

    /// Whether nothing comes now.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        tokio::time::timeout(std::time::Duration::from_millis(20), self.next()).await.is_err()
    }
}

/// Whether every field of `expected` is in `got`; null stands for a field that is not there.
#[track_caller]
pub(crate) fn assert_has(got: &Value, expected: &Value) {
    fn fits(got: &Value, expected: &Value) -> bool {
        match (got, expected) {
            (Value::Object(got), Value::Object(expected)) => {
                expected.iter().all(|(key, value)| fits(got.get(key).unwrap_or(&Value::Null), value))
            }
            (Value::Array(got), Value::Array(expected)) => {
                got.len() == expected.len()
                    && got.iter().zip(expected).all(|(got, expected)| fits(got, expected))
            }
            _ => got == expected,
        }
    }
    assert!(fits(got, expected), "got {got:#}\nexpected {expected:#}");
}
