//! New objects.

use grove_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::{
    CONFIG_MAPS, PODS, WIDGETS, assert_has, delete, get, noon, post, resources, server, widget,
};

#[tokio::test]
async fn the_server_fills_in_what_it_owns() {
    let server = server();
    let mut body = widget("a", json!({"replicas": 2}));
    body["metadata"] = json!({
        "name": "a", "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 7,
        "deletionTimestamp": "2001-01-01T00:00:00Z", "labels": {}, "annotations": null,
    });
    body["status"] = json!({"replicas": 5});
    let (code, made) = post(&server, WIDGETS, body).await;
    assert_eq!(code, 201);
    let expected = json!({"metadata": {
        "name": "a", "namespace": "default", "creationTimestamp": "2026-01-02T12:00:00Z", "generation": 1,
        "deletionTimestamp": null, "labels": null, "annotations": null, "resourceVersion": "6",
    }, "spec": {"replicas": 2}, "status": null});
    assert_has(&made, &expected);
    assert_ne!(made["metadata"]["uid"], "mine");
    assert_eq!(get(&server, &format!("{WIDGETS}/a")).await, (200, made));

    let (_, made) = post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generation": null}});
    assert_has(&made, &expected);
}

#[tokio::test]
async fn generated_names() {
    let server = server();
    let mut names = Vec::new();
    for _ in 0..50 {
        let (code, made) = post(&server, CONFIG_MAPS, json!({"metadata": {"generateName": "made-"}})).await;
        assert_eq!(code, 201);
        let name = made["metadata"]["name"].as_str().unwrap().to_owned();
        assert!(name.starts_with("made-") && name.len() == 10, "{name}");
        names.push(name);
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 50);
    let long = "x".repeat(100);
    let (_, made) = post(&server, CONFIG_MAPS, json!({"metadata": {"generateName": long}})).await;
    assert_eq!(made["metadata"]["name"].as_str().unwrap().len(), 63);
}

#[tokio::test]
async fn refusals() {
    let server = server();
    let exists = json!({"metadata": {"name": "there"}});
    assert_eq!(post(&server, CONFIG_MAPS, exists.clone()).await.0, 201);
    let somewhere = "/api/v1/namespaces/nowhere/configmaps";
    for (path, body, code, expected) in [
        (
            CONFIG_MAPS,
            exists,
            409,
            json!({
            "reason": "AlreadyExists", "message": "configmaps \"there\" already exists",
            "details": {"name": "there", "kind": "configmaps", "group": null}}),
        ),
        (
            CONFIG_MAPS,
            json!({"metadata": {"name": "a", "resourceVersion": "1"}}),
            500,
            json!({
            "message": "resourceVersion should not be set on objects to be created"}),
        ),
        (
            CONFIG_MAPS,
            json!({"metadata": {}}),
            422,
            json!({
            "reason": "Invalid",
            "message": "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required",
            "details": {"kind": "ConfigMap", "causes": [{"reason": "FieldValueRequired", "field": "metadata.name"}]}}),
        ),
        (
            CONFIG_MAPS,
            json!({"metadata": {"name": "a", "namespace": "kube-system"}}),
            400,
            json!({
            "reason": "BadRequest",
            "message": "the namespace of the provided object does not match the namespace sent on the request"}),
        ),
        (
            somewhere,
            json!({"metadata": {"name": "a"}}),
            404,
            json!({
            "reason": "NotFound", "message": "namespaces \"nowhere\" not found",
            "details": {"name": "nowhere", "kind": "namespaces"}}),
        ),
        (
            CONFIG_MAPS,
            json!({"kind": "Secret", "metadata": {"name": "a"}}),
            400,
            json!({"reason": "BadRequest"}),
        ),
        (WIDGETS, json!({"metadata": {"name": "a"}}), 400, json!({"reason": "BadRequest"})),
        (
            "/api/v1/configmaps",
            json!({"metadata": {"name": "a"}}),
            405,
            json!({"reason": "MethodNotAllowed"}),
        ),
    ] {
        let (got, said) = post(&server, path, body).await;
        assert_eq!(got, code, "{said}");
        assert_has(&said, &expected);
        assert_eq!(said["kind"], "Status");
    }
}

#[tokio::test]
async fn nodes_keep_the_status_that_they_are_created_with() {
    let server = server();
    let body = json!({"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}});
    let (code, made) = post(&server, "/api/v1/nodes", body).await;
    assert_eq!(code, 201);
    assert_has(&made, &json!({"status": {"capacity": {"cpu": "4"}}}));
}

#[tokio::test]
async fn pods_and_namespaces_begin_with_a_status() {
    let server = server();
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a"}]}, "status": {"phase": "Running"}});
    let (_, pod) = post(&server, PODS, pod).await;
    assert_eq!(pod["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
    assert_eq!(pod["metadata"]["generation"], 1);
    let gated = json!({"metadata": {"name": "b"}, "spec": {"schedulingGates": [{"name": "example.com/a"}]}});
    let (_, gated) = post(&server, PODS, gated).await;
    assert_has(
        &gated["status"]["conditions"][0],
        &json!({"type": "PodScheduled", "reason": "SchedulingGated"}),
    );

    let (_, namespace) = post(&server, "/api/v1/namespaces", json!({"metadata": {"name": "new"}})).await;
    let expected = json!({
        "metadata": {"namespace": null, "labels": {"kubernetes.io/metadata.name": "new"}},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
    });
    assert_has(&namespace, &expected);
}

#[tokio::test]
async fn nothing_comes_into_a_namespace_that_ends() {
    let server = server();
    post(&server, "/api/v1/namespaces", json!({"metadata": {"name": "ends"}})).await;
    delete(&server, "/api/v1/namespaces/ends", Value::Null).await;
    let (code, said) =
        post(&server, "/api/v1/namespaces/ends/configmaps", json!({"metadata": {"name": "late"}})).await;
    assert_eq!(code, 403);
    let message = "configmaps \"late\" is forbidden: unable to create new content in namespace ends because it is being terminated";
    let expected = json!({"reason": "Forbidden", "message": message, "details": {
        "name": "late", "kind": "configmaps",
        "causes": [{"reason": "NamespaceTerminating", "field": "metadata.namespace", "message": "namespace ends is being terminated"}],
    }});
    assert_has(&said, &expected);
}

#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let server = server();
    let revision = server.store().revision();
    let (code, made) =
        post(&server, &format!("{CONFIG_MAPS}?dryRun=All"), json!({"metadata": {"name": "a"}})).await;
    assert_eq!((code, &made["metadata"]["resourceVersion"]), (201, &Value::Null));
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/a")).await.0, 404);
    assert_eq!(server.store().revision(), revision);
    let (code, _) =
        post(&server, &format!("{CONFIG_MAPS}?dryRun=Some"), json!({"metadata": {"name": "a"}})).await;
    assert_eq!(code, 422);
}

#[tokio::test]
async fn the_same_requests_give_the_same_objects() {
    let mut runs = Vec::new();
    for seed in [1, 1, 2] {
        let server = ApiServer::new(resources(), noon, seed);
        for _ in 0..20 {
            post(&server, CONFIG_MAPS, json!({"metadata": {"generateName": "a-"}})).await;
        }
        let objects = server.store().objects();
        runs.push(objects.iter().map(|(_, it)| it.value().to_string()).collect::<Vec<_>>());
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}
