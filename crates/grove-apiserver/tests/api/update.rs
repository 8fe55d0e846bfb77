//! Changed objects.

use serde_json::{Value, json};

use crate::support::{
    CONFIG_MAPS, PODS, WIDGETS, assert_has, delete, get, json_patch, merge, post, put, send, server, widget,
};

#[tokio::test]
async fn versions_guard_updates() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    let (_, first) = post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}, "data": {"a": "1"}})).await;
    let version = first["metadata"]["resourceVersion"].clone();
    let with = |version: &Value, data: Value| json!({"metadata": {"name": "a", "resourceVersion": version}, "data": data});
    let (code, second) = put(&server, a, with(&version, json!({"b": "2"}))).await;
    assert_eq!((code, &second["data"]), (200, &json!({"b": "2"})));
    assert_eq!(second["metadata"]["uid"], first["metadata"]["uid"]);

    let (code, said) = put(&server, a, with(&version, json!({}))).await;
    let message = "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again";
    assert_eq!(code, 409);
    assert_has(
        &said,
        &json!({"reason": "Conflict", "message": message, "details": {"name": "a", "kind": "configmaps"}}),
    );
    assert_eq!(merge(&server, a, with(&version, json!({"c": "3"}))).await.0, 409);

    // Built-in kinds may do without a version, ours may not.
    assert_eq!(put(&server, a, json!({"metadata": {"name": "a"}, "data": {"c": "3"}})).await.0, 200);
    post(&server, WIDGETS, widget("a", json!({}))).await;
    let (code, said) = put(&server, &format!("{WIDGETS}/a"), widget("a", json!({}))).await;
    assert_eq!((code, &said["details"]["causes"][0]["field"]), (422, &json!("metadata.resourceVersion")));
}

#[tokio::test]
async fn what_changes_nothing_is_no_change() {
    let server = server();
    let a = &format!("{WIDGETS}/a");
    let (_, made) = post(&server, WIDGETS, widget("a", json!({"replicas": 2}))).await;
    merge(&server, &format!("{a}/status"), json!({"status": {"replicas": 1}})).await;
    let revision = server.store().revision();
    let events = server.store().events_since(revision).unwrap().len();
    let current = get(&server, a).await.1;
    for body in [
        json!({}),
        json!({"spec": {"replicas": 2, "none": null}}),
        json!({"metadata": {"finalizers": [], "labels": {}, "annotations": null}}),
        json!({"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z", "generation": 9}}),
        json!({"status": {"replicas": 9}}),
    ] {
        let (code, said) = merge(&server, a, body.clone()).await;
        assert_eq!((code, &said), (200, &current), "{body}");
    }
    assert_eq!(put(&server, a, current.clone()).await, (200, current.clone()));
    assert_eq!(put(&server, &format!("{a}/status"), current.clone()).await, (200, current));
    assert_eq!(server.store().revision(), revision);
    assert_eq!(server.store().events_since(revision).unwrap().len(), events);
    assert_eq!(made["metadata"]["generation"], 1);
    let last = server.store().writes().pop().unwrap();
    assert_eq!(
        (last.verb, last.subresource, last.code, last.revision),
        ("update", Some("status"), 200, None)
    );
}

#[tokio::test]
async fn the_generation_counts_changes_of_the_spec() {
    let server = server();
    let a = &format!("{WIDGETS}/a");
    post(&server, WIDGETS, widget("a", json!({"replicas": 1}))).await;
    for (path, body, generation) in [
        ("", json!({"metadata": {"labels": {"a": "b"}}}), 1),
        ("/status", json!({"status": {"replicas": 1}}), 1),
        ("", json!({"spec": {"replicas": 2}}), 2),
        ("", json!({"spec": {"replicas": 2}}), 2),
        ("/status", json!({"status": {"replicas": 2}, "spec": {"replicas": 9}}), 2),
        ("", json!({"other": {"replicas": 2}}), 3),
        ("", json!({"other": null}), 4),
        ("/scale", json!({"spec": {"replicas": 7}}), 0),
        ("", json!({"metadata": {"labels": null}}), 5),
    ] {
        let (code, said) = merge(&server, &format!("{a}{path}"), body.clone()).await;
        assert_eq!(code, 200, "{said}");
        if generation > 0 {
            assert_eq!(said["metadata"]["generation"], generation, "{body}");
        }
    }
    // Where there is no status subresource, the status is like everything else; and ConfigMaps do not count at all.
    let zones = "/apis/example.com/v1/zones";
    post(&server, zones, json!({"apiVersion": "example.com/v1", "kind": "Zone", "metadata": {"name": "a"}}))
        .await;
    let (_, zone) = merge(&server, &format!("{zones}/a"), json!({"status": {"a": 1}})).await;
    assert_has(&zone, &json!({"metadata": {"generation": 2}, "status": {"a": 1}}));
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let (_, map) = merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"data": {"a": "1"}})).await;
    assert_eq!(map["metadata"]["generation"], Value::Null);
}

#[tokio::test]
async fn status_has_its_own_place() {
    let server = server();
    let a = &format!("{WIDGETS}/a");
    post(&server, WIDGETS, widget("a", json!({"replicas": 1}))).await;
    let body =
        json!({"metadata": {"labels": {"x": "y"}}, "spec": {"replicas": 9}, "status": {"replicas": 3}});
    let (_, said) = merge(&server, &format!("{a}/status"), body).await;
    assert_has(
        &said,
        &json!({"metadata": {"labels": null}, "spec": {"replicas": 1}, "status": {"replicas": 3}}),
    );
    let (_, said) = merge(&server, a, json!({"spec": {"replicas": 4}, "status": null})).await;
    assert_has(&said, &json!({"spec": {"replicas": 4}, "status": {"replicas": 3}}));
    let mut without = said.clone();
    without.as_object_mut().unwrap().remove("status");
    let (_, said) = put(&server, &format!("{a}/status"), without).await;
    assert_eq!(said["status"], Value::Null);
    assert_eq!(get(&server, &format!("{a}/status")).await.1, said);
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/a/status")).await.0, 404);

    // A kubelet may also set labels through the status of a pod, but not change its spec.
    post(&server, PODS, json!({"metadata": {"name": "a"}, "spec": {"hostname": "a"}})).await;
    let body = json!({"metadata": {"labels": {"x": "y"}}, "spec": {"hostname": "b"}, "status": {"phase": "Running"}});
    let (_, said) = merge(&server, &format!("{PODS}/a/status"), body).await;
    let expected = json!({"metadata": {"labels": {"x": "y"}, "generation": 1}, "spec": {"hostname": "a"}, "status": {"phase": "Running"}});
    assert_has(&said, &expected);
}

#[tokio::test]
async fn what_cannot_change() {
    let server = server();
    let a = &format!("{WIDGETS}/a");
    let (_, made) = post(&server, WIDGETS, widget("a", json!({}))).await;
    let uid = "00000000-0000-0000-0000-000000000000";
    for (body, code, field) in [
        (json!({"metadata": {"name": "b"}}), 400, ""),
        (json!({"metadata": {"namespace": "b"}}), 400, ""),
        (json!({"metadata": {"name": null}}), 400, ""),
        (json!({"kind": "Gadget"}), 400, ""),
        (json!({"metadata": {"uid": uid}}), 422, "metadata.uid"),
        (
            json!({"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}}),
            422,
            "metadata.deletionTimestamp",
        ),
        (json!({"metadata": {"deletionGracePeriodSeconds": 3}}), 422, "metadata.deletionGracePeriodSeconds"),
        (json!({"metadata": {"labels": {"a": 1}}}), 400, ""),
    ] {
        let (got, said) = merge(&server, a, body.clone()).await;
        assert_eq!(got, code, "{body}");
        assert_eq!(said["details"]["causes"][0]["field"].as_str().unwrap_or_default(), field, "{body}");
    }
    let mut other = made.clone();
    other["metadata"]["uid"] = uid.into();
    let (code, said) = put(&server, a, other).await;
    assert_eq!((code, said["reason"].as_str()), (409, Some("Conflict")));
    assert!(said["message"].as_str().unwrap().contains("Precondition failed: UID in precondition"), "{said}");
    assert_eq!(get(&server, a).await.1, made);
    let (code, said) = put(&server, a, widget("b", json!({}))).await;
    assert_eq!(
        (code, said["message"].as_str()),
        (400, Some("the name of the object (b) does not match the name on the URL (a)"))
    );
}

#[tokio::test]
async fn forms_of_patches() {
    let server = server();
    let (map, ours) = (&format!("{CONFIG_MAPS}/a"), &format!("{WIDGETS}/a"));
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}, "data": {"a": "1"}})).await;
    post(&server, WIDGETS, widget("a", json!({}))).await;
    let steps = json!([{"op": "test", "path": "/data/a", "value": "1"}, {"op": "add", "path": "/data/b", "value": "2"}]);
    assert_eq!(json_patch(&server, map, steps).await.1["data"], json!({"a": "1", "b": "2"}));
    let steps = json!([{"op": "remove", "path": "/data/b"}, {"op": "test", "path": "/data/a", "value": "2"}]);
    let (code, said) = json_patch(&server, map, steps).await;
    assert_eq!((code, said["reason"].as_str()), (422, Some("Invalid")));
    assert_eq!(get(&server, map).await.1["data"], json!({"a": "1", "b": "2"}));
    for (path, kind, body, code) in [
        (map, "application/json", "{}", 415),
        (map, "", "{}", 415),
        (map, "application/strategic-merge-patch+json", "{}", 200),
        (ours, "application/strategic-merge-patch+json", "{}", 415),
        (map, "application/apply-patch+yaml", "{}", 422),
        (map, "application/merge-patch+json", "[]", 400),
        (map, "application/merge-patch+json", "{", 400),
        (map, "application/merge-patch+json; charset=utf-8", "{}", 200),
        (map, "application/json-patch+json", "{}", 400),
        (map, "application/json-patch+json", r#"[{"op":"replace","path":"","value":1}]"#, 400),
        (&format!("{CONFIG_MAPS}/none"), "application/merge-patch+json", "{}", 404),
    ] {
        let (got, said) = send(&server, "PATCH", path, kind, body).await;
        assert_eq!(got, code, "{kind} {body} {said}");
    }
}

#[tokio::test]
async fn an_update_may_create() {
    let server = server();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let lease = json!({"metadata": {"name": "a", "resourceVersion": "3"}, "spec": {"holderIdentity": "x"}});
    let (code, made) = put(&server, &format!("{leases}/a"), lease.clone()).await;
    assert_eq!(code, 201);
    assert!(made["metadata"]["uid"].is_string());
    assert_eq!(put(&server, &format!("{leases}/a"), lease).await.0, 409);
    assert_eq!(put(&server, &format!("{CONFIG_MAPS}/a"), json!({"metadata": {"name": "a"}})).await.0, 404);
}

#[tokio::test]
async fn finalizers_of_an_object_that_ends_can_only_go() {
    let server = server();
    let a = &format!("{WIDGETS}/a");
    let mut body = widget("a", json!({}));
    body["metadata"]["finalizers"] = json!(["example.com/one", "example.com/two"]);
    post(&server, WIDGETS, body).await;
    delete(&server, a, Value::Null).await;
    let (code, said) = json_patch(
        &server,
        a,
        json!([{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/three"}]),
    )
    .await;
    assert_eq!((code, &said["details"]["causes"][0]["field"]), (422, &json!("metadata.finalizers")));
    let (code, said) =
        merge(&server, a, json!({"metadata": {"finalizers": ["example.com/two"]}, "spec": {"a": 1}})).await;
    assert_eq!((code, &said["metadata"]["generation"]), (200, &json!(3)));
    let (code, said) = merge(&server, a, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!((code, &said["metadata"]["finalizers"]), (200, &Value::Null));
    assert_eq!(get(&server, a).await.0, 404);
}
