//! Scale and binding.

use serde_json::{Value, json};

use crate::support::{
    CONFIG_MAPS, PODS, WIDGETS, assert_has, delete, get, json_patch, merge, post, put, server, widget,
};

#[tokio::test]
async fn scale() {
    let server = server();
    let (a, scale) = (&format!("{WIDGETS}/a"), &format!("{WIDGETS}/a/scale"));
    let (_, made) = post(&server, WIDGETS, widget("a", json!({"replicas": 2}))).await;
    let (code, said) = get(&server, scale).await;
    assert_eq!(code, 200);
    let expected = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {"name": "a", "namespace": "default", "uid": made["metadata"]["uid"], "labels": null},
        "spec": {"replicas": 2}, "status": {"replicas": 0, "selector": null},
    });
    assert_has(&said, &expected);
    merge(&server, &format!("{a}/status"), json!({"status": {"replicas": 1, "selector": "app=a"}})).await;
    let version = get(&server, scale).await.1["metadata"]["resourceVersion"].clone();

    let (_, said) = merge(&server, scale, json!({"spec": {"replicas": 3}})).await;
    assert_has(&said, &json!({"spec": {"replicas": 3}, "status": {"replicas": 1, "selector": "app=a"}}));
    let (_, said) =
        json_patch(&server, scale, json!([{"op": "replace", "path": "/spec/replicas", "value": 4}])).await;
    assert_eq!(said["spec"]["replicas"], 4);
    let body = |metadata: Value, replicas: i64| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": replicas}});
    assert_eq!(put(&server, scale, body(json!({"name": "a"}), 5)).await.0, 200);
    for (metadata, replicas, code) in [
        (json!({"name": "a", "resourceVersion": version}), 6, 409),
        (json!({"name": "a", "uid": "other"}), 6, 409),
        (json!({"name": "b"}), 6, 400),
        (json!({"name": "a"}), -1, 422),
    ] {
        assert_eq!(put(&server, scale, body(metadata.clone(), replicas)).await.0, code, "{metadata}");
    }
    assert_eq!(merge(&server, scale, json!({"spec": {"replicas": "many"}})).await.0, 400);
    let (_, object) = get(&server, a).await;
    assert_has(
        &object,
        &json!({"metadata": {"generation": 4}, "spec": {"replicas": 5}, "status": {"replicas": 1}}),
    );
    assert_eq!(merge(&server, scale, json!({"spec": {"replicas": 0}})).await.1["spec"], json!({}));
    assert_eq!(get(&server, &format!("{WIDGETS}/none/scale")).await.0, 404);
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/a/scale")).await.0, 404);

    post(&server, WIDGETS, widget("bare", json!({}))).await;
    assert_eq!(get(&server, &format!("{WIDGETS}/bare/scale")).await.0, 500);
}

#[tokio::test]
async fn binding() {
    let server = server();
    let gates = json!([{"name": "example.com/gate"}]);
    post(&server, PODS, json!({"metadata": {"name": "a"}, "spec": {"schedulingGates": gates}})).await;
    let bind = |node: &str| json!({"metadata": {"name": "a", "annotations": {"by": "me"}}, "target": {"kind": "Node", "name": node}});
    let path = &format!("{PODS}/a/binding");
    let (code, said) = post(&server, path, bind("n")).await;
    assert_eq!((code, said["reason"].as_str()), (409, Some("Conflict")));
    assert!(said["message"].as_str().unwrap().contains("has non-empty .spec.schedulingGates"), "{said}");
    merge(&server, &format!("{PODS}/a"), json!({"spec": {"schedulingGates": null}})).await;

    assert_eq!(post(&server, path, json!({"target": {}})).await.0, 400);
    assert_eq!(
        post(&server, path, json!({"metadata": {"uid": "other"}, "target": {"name": "n"}})).await.0,
        409
    );
    let (code, said) = post(&server, path, bind("n")).await;
    assert_eq!(
        (code, said),
        (
            201,
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
        )
    );
    let (_, pod) = get(&server, &format!("{PODS}/a")).await;
    let expected = json!({
        "metadata": {"generation": 2, "annotations": {"by": "me"}}, "spec": {"nodeName": "n"},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-02T12:00:00Z", "reason": null}]},
    });
    assert_has(&pod, &expected);
    let (_, said) = post(&server, path, bind("m")).await;
    assert!(said["message"].as_str().unwrap().contains("pod a is already assigned to node \"n\""), "{said}");

    post(&server, PODS, json!({"metadata": {"name": "b", "finalizers": ["example.com/hold"]}})).await;
    let through = "/api/v1/namespaces/default/bindings";
    delete(&server, &format!("{PODS}/b"), Value::Null).await;
    let body = json!({"metadata": {"name": "b"}, "target": {"name": "n"}});
    assert!(post(&server, through, body).await.1["message"].as_str().unwrap().contains("is being deleted"));
    post(&server, PODS, json!({"metadata": {"name": "c"}})).await;
    assert_eq!(
        post(&server, through, json!({"metadata": {"name": "c"}, "target": {"name": "n"}})).await.0,
        201
    );
    assert_eq!(
        post(&server, through, json!({"metadata": {"name": "none"}, "target": {"name": "n"}})).await.0,
        404
    );
}
