//! Tables, as `kubectl get` asks for them.

use grove_apiserver::{ApiServer, Resource, Resources};
use serde_json::{Value, json};

use crate::support::{
    AS_TABLE, CONFIG_MAPS, PODS, WIDGETS, assert_has, cluster, config_map, create_all, merge, noon, post,
    send_with, server, table, watch_as, widget, widgets,
};

fn columns(table: &Value) -> Vec<&str> {
    table["columnDefinitions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_list_and_one_object() {
    let server = server();
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a", "labels": {"x": "1"}}, "data": {"k": "v"}}))
        .await;
    create_all(&server, CONFIG_MAPS, [config_map("b", json!({}))]).await;
    let expected = json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": server.store().revision().to_string()},
        "columnDefinitions": [
            {"name": "Name", "type": "string", "format": "name", "priority": 0}, {"name": "Data"}, {"name": "Age"}],
        "rows": [
            {"cells": ["a", 1, "0s"], "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                "metadata": {"name": "a", "labels": {"x": "1"}}, "data": null}},
            {"cells": ["b", 0, "0s"]}],
    });
    assert_has(&table(&server, CONFIG_MAPS).await, &expected);
    let one = table(&server, &format!("{CONFIG_MAPS}/a")).await;
    assert_has(&one["rows"], &json!([{"cells": ["a", 1, "0s"]}]));
    assert_eq!(one["metadata"]["resourceVersion"], one["rows"][0]["object"]["metadata"]["resourceVersion"]);
    assert_eq!(table(&server, &format!("{CONFIG_MAPS}?labelSelector=x=2")).await["rows"], json!([]));
}

#[tokio::test]
async fn pages_tell_where_they_go_on() {
    let server = server();
    create_all(&server, CONFIG_MAPS, ["a", "b", "c"].map(|it| config_map(it, json!({})))).await;
    let page = table(&server, &format!("{CONFIG_MAPS}?limit=2")).await;
    assert_has(&page["metadata"], &json!({"remainingItemCount": 1}));
    let next = page["metadata"]["continue"].as_str().unwrap();
    let rest = table(&server, &format!("{CONFIG_MAPS}?limit=2&continue={next}")).await;
    assert_has(&rest["rows"], &json!([{"cells": ["c", 0, "0s"]}]));
}

#[tokio::test]
async fn how_much_of_the_object_is_included() {
    let server = server();
    create_all(&server, WIDGETS, [widget("a", json!({"color": "red"}))]).await;
    for (include, expected) in [
        ("None", Value::Null),
        ("Metadata", json!({"kind": "PartialObjectMetadata", "spec": null})),
        ("Object", json!({"kind": "Widget", "spec": {"color": "red"}})),
    ] {
        let table = table(&server, &format!("{WIDGETS}?includeObject={include}")).await;
        assert_has(&table["rows"][0]["object"], &expected);
    }
    let path = format!("{WIDGETS}?includeObject=Some");
    assert_eq!(send_with(&server, "GET", &path, &[("accept", AS_TABLE)], "").await.0, 400);
}

#[tokio::test]
async fn columns_of_a_definition() {
    let mut definition = widgets();
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = json!([
        {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1, "description": "How large it is."},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]);
    let resources = Resources::kubernetes().with(Resource::from_crd(&definition).unwrap());
    let server = ApiServer::new(resources, noon, 7);
    create_all(&server, WIDGETS, [widget("a", json!({"color": "red", "size": 3})), widget("b", json!({}))])
        .await;
    let conditions = json!([{"type": "Fresh", "status": "False"}, {"type": "Ready", "status": "True"}]);
    merge(&server, &format!("{WIDGETS}/a/status"), json!({"status": {"conditions": conditions}})).await;
    let table = table(&server, WIDGETS).await;
    assert_eq!(columns(&table), ["Name", "Color", "Ready", "Size", "Age"]);
    assert_has(
        &table["columnDefinitions"][3],
        &json!({"type": "integer", "priority": 1, "description": "How large it is."}),
    );
    let rows = json!([{"cells": ["a", "red", "True", 3, "0s"]}, {"cells": ["b", null, null, null, "0s"]}]);
    assert_has(&table["rows"], &rows);
}

#[tokio::test]
async fn a_watch_tells_its_columns_once() {
    let server = server();
    let mut lines = watch_as(&server, CONFIG_MAPS, AS_TABLE).await;
    create_all(&server, CONFIG_MAPS, [config_map("a", json!({}))]).await;
    merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"data": {"k": "v"}})).await;
    let first = lines.next().await.unwrap();
    assert_eq!(columns(&first["object"]), ["Name", "Data", "Age"]);
    assert_has(
        &first,
        &json!({"type": "ADDED", "object": {"kind": "Table", "rows": [{"cells": ["a", 0, "0s"]}]}}),
    );
    let second = lines.next().await.unwrap();
    assert_has(
        &second,
        &json!({"type": "MODIFIED", "object": {"columnDefinitions": null, "rows": [{"cells": ["a", 1, "0s"]}]}}),
    );
}

#[tokio::test]
async fn a_streamed_list_of_rows_ends_with_a_bookmark() {
    let server = server();
    create_all(&server, CONFIG_MAPS, [config_map("a", json!({}))]).await;
    let path = format!(
        "{CONFIG_MAPS}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let mut lines = watch_as(&server, &path, AS_TABLE).await;
    assert_eq!(lines.next().await.unwrap()["type"], "ADDED");
    let end = lines.next().await.unwrap();
    let annotations = json!({"k8s.io/initial-events-end": "true"});
    let rows = json!([{"object": {"metadata": {"annotations": annotations, "resourceVersion": server.store().revision().to_string()}}}]);
    assert_has(&end, &json!({"type": "BOOKMARK", "object": {"kind": "Table", "rows": rows}}));
}

#[tokio::test]
async fn pods_in_their_states() {
    let server = cluster();
    let pod = |name: &str, gates: Value| json!({"metadata": {"name": name}, "spec": {"schedulingGates": gates, "containers": [{"name": "c", "image": "x"}]}});
    create_all(
        &server,
        PODS,
        [pod("a", json!([{"name": "example.com/wait"}])), pod("b", Value::Null), pod("c", Value::Null)],
    )
    .await;
    let crashing = json!({"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}], "containerStatuses": [
        {"name": "c", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]});
    merge(&server, &format!("{PODS}/b/status"), json!({"status": crashing})).await;
    merge(&server, &format!("{PODS}/c/status"), json!({"status": {"phase": "Succeeded"}})).await;
    let rows = json!([
        {"cells": ["a", "0/1", "SchedulingGated", "0", "0s", "<none>", "<none>", "<none>", "<none>"], "conditions": null},
        {"cells": ["b", "0/1", "CrashLoopBackOff", "2", "0s", "10.0.0.1", "<none>", "<none>", "<none>"]},
        {"cells": ["c", "0/1", "Succeeded", "0", "0s", "<none>", "<none>", "<none>", "<none>"],
            "conditions": [{"type": "Completed", "status": "True", "reason": "Succeeded"}]}]);
    assert_has(&table(&server, PODS).await["rows"], &rows);
}
