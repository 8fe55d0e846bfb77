//! Watches.

use serde_json::{Value, json};

use grove_apiserver::ApiServer;

use crate::support::{
    CONFIG_MAPS, WIDGETS, config_map, create_all, delete, get, merge, noon, post, resources, server, watch,
    widget,
};

#[tokio::test(start_paused = true)]
async fn what_happens_after_a_revision() {
    let server = server();
    let revision = server.store().revision();
    post(&server, CONFIG_MAPS, config_map("a", json!({}))).await;
    let (_, changed) = merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"data": {"a": "1"}})).await;
    merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"data": {"a": "1"}})).await;
    delete(&server, &format!("{CONFIG_MAPS}/a"), Value::Null).await;
    let mut lines = watch(&server, &format!("{CONFIG_MAPS}?resourceVersion={revision}")).await;
    assert_eq!(lines.told().await, "ADDED a");
    assert_eq!(lines.next().await.unwrap(), json!({"type": "MODIFIED", "object": changed}));
    let last = lines.next().await.unwrap();
    assert_eq!((last["type"].as_str(), &last["object"]["data"]["a"]), (Some("DELETED"), &json!("1")));
    assert_eq!(last["object"]["metadata"]["resourceVersion"], server.store().revision().to_string());
    assert!(lines.is_quiet().await);
    post(&server, CONFIG_MAPS, config_map("b", json!({}))).await;
    post(&server, "/api/v1/namespaces/kube-system/configmaps", config_map("elsewhere", json!({}))).await;
    post(&server, WIDGETS, widget("other", json!({}))).await;
    post(&server, CONFIG_MAPS, config_map("c", json!({}))).await;
    assert_eq!(lines.told().await, "ADDED b");
    assert_eq!(lines.told().await, "ADDED c");
}

#[tokio::test(start_paused = true)]
async fn what_is_there_comes_first() {
    let server = server();
    create_all(&server, CONFIG_MAPS, ["b", "a"].map(|it| config_map(it, json!({"x": it})))).await;
    for query in ["", "?resourceVersion=0"] {
        let mut lines = watch(&server, &format!("{CONFIG_MAPS}{query}")).await;
        assert_eq!(lines.told().await, "ADDED a");
        assert_eq!(lines.told().await, "ADDED b");
        assert!(lines.is_quiet().await);
    }
    let list =
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=x=a";
    let mut lines = watch(&server, &format!("/api/v1/configmaps?{list}")).await;
    assert_eq!(lines.told().await, "ADDED a");
    let bookmark = lines.next().await.unwrap();
    let revision = server.store().revision().to_string();
    let metadata = json!({"resourceVersion": revision, "annotations": {"k8s.io/initial-events-end": "true"}});
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata});
    assert_eq!(bookmark, json!({"type": "BOOKMARK", "object": object}));
    let (code, _) = get(&server, &format!("{CONFIG_MAPS}?watch=true&sendInitialEvents=true")).await;
    assert_eq!(code, 422);
    let (code, said) = get(&server, &format!("{CONFIG_MAPS}?watch=true&resourceVersion=abc")).await;
    assert_eq!(code, 500);
    assert!(said["message"].as_str().unwrap().contains("Invalid value: \"abc\""));
}

#[tokio::test(start_paused = true)]
async fn objects_enter_and_leave_a_selection() {
    let server = server();
    let revision = server.store().revision();
    post(&server, CONFIG_MAPS, config_map("a", json!({}))).await;
    for labels in
        [json!({"color": "red"}), json!({"size": "big"}), json!({"color": "blue"}), json!({"color": "red"})]
    {
        merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"metadata": {"labels": labels}})).await;
    }
    delete(&server, &format!("{CONFIG_MAPS}/a"), Value::Null).await;
    let mut lines =
        watch(&server, &format!("{CONFIG_MAPS}?labelSelector=color=red&resourceVersion={revision}")).await;
    assert_eq!(lines.told().await, "ADDED a");
    assert_eq!(lines.told().await, "MODIFIED a");
    let left = lines.next().await.unwrap();
    assert_eq!(left["type"], "DELETED");
    assert_eq!(
        left["object"]["metadata"]["labels"],
        json!({"color": "red", "size": "big"}),
        "as it was last in it"
    );
    assert_eq!(left["object"]["metadata"]["resourceVersion"], (revision + 4).to_string());
    assert_eq!(lines.told().await, "ADDED a");
    assert_eq!(lines.told().await, "DELETED a");
    assert!(lines.is_quiet().await);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_and_the_end() {
    let server = server();
    let revision = server.store().revision();
    let path = format!("{CONFIG_MAPS}?resourceVersion={revision}&timeoutSeconds=10");
    let mut told = watch(&server, &format!("{path}&allowWatchBookmarks=true")).await;
    let mut untold = watch(&server, &path).await;
    post(&server, WIDGETS, widget("a", json!({}))).await;
    let began = tokio::time::Instant::now();
    let bookmark = told.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["metadata"]["resourceVersion"], (revision + 1).to_string());
    assert_eq!(began.elapsed().as_secs(), 1, "when it became quiet");
    assert_eq!(told.told().await, "over");
    assert_eq!(untold.told().await, "over");
    assert_eq!(began.elapsed().as_secs(), 10);

    let mut lines = watch(&server, &format!("{CONFIG_MAPS}?timeoutSeconds=1&allowWatchBookmarks=true")).await;
    assert!(lines.is_quiet().await);
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    post(&server, WIDGETS, widget("b", json!({}))).await;
    assert_eq!(lines.told().await, "BOOKMARK -", "so that the client can go on from here");
    assert_eq!(lines.told().await, "over");
}

#[tokio::test(start_paused = true)]
async fn forgotten_revisions() {
    let server = ApiServer::with_ring(resources(), noon, 1, 10);
    let start = server.store().revision();
    let mut slow = watch(&server, &format!("{CONFIG_MAPS}?resourceVersion={start}")).await;
    for _ in 0..11 {
        post(&server, CONFIG_MAPS, json!({"metadata": {"generateName": "a-"}})).await;
    }
    let mut old = watch(&server, &format!("{CONFIG_MAPS}?resourceVersion={start}")).await;
    for lines in [&mut slow, &mut old] {
        let error = lines.next().await.unwrap();
        assert_eq!(error["type"], "ERROR");
        let message = format!("too old resource version: {start} ({})", start + 1);
        let expected = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
            "reason": "Expired", "code": 410,
        });
        assert_eq!(error["object"], expected);
        assert_eq!(lines.told().await, "over");
    }
    let mut recent = watch(&server, &format!("{CONFIG_MAPS}?resourceVersion={}", start + 1)).await;
    assert!(recent.told().await.starts_with("ADDED"));
    // One that has seen everything does not mind.
    let now = server.store().revision();
    let mut current = watch(&server, &format!("{CONFIG_MAPS}?resourceVersion={now}")).await;
    server.compact();
    post(&server, CONFIG_MAPS, config_map("b", json!({}))).await;
    assert_eq!(current.told().await, "ADDED b");
    assert_eq!(
        watch(&server, &format!("{WIDGETS}?resourceVersion={}", now - 1)).await.told().await,
        "ERROR -"
    );
}

#[tokio::test(start_paused = true)]
async fn cuts_end_watches() {
    let server = server();
    let mut lines = watch(&server, CONFIG_MAPS).await;
    post(&server, CONFIG_MAPS, config_map("a", json!({}))).await;
    server.cut_watches();
    assert_eq!(lines.told().await, "over", "what was on its way is lost");
    assert_eq!(watch(&server, CONFIG_MAPS).await.told().await, "ADDED a");
}
