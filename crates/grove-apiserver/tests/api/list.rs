//! Lists.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{
    CONFIG_MAPS, PODS, WIDGETS, config_map, create_all, delete, get, merge, names, post, server, widget,
};

#[tokio::test]
async fn selections() {
    let server = server();
    let tiers = [("a", Some("gold")), ("b", Some("bronze")), ("c", Some("silver")), ("d", None)];
    create_all(&server, CONFIG_MAPS, tiers.map(|(name, tier)| config_map(name, json!({"tier": tier})))).await;
    for (query, expected) in [
        ("", "a b c d"),
        ("labelSelector=tier=gold", "a"),
        ("labelSelector=tier in (gold,silver)", "a c"),
        ("labelSelector=tier notin (gold,silver)", "b d"),
        ("labelSelector=tier!=gold", "b c d"),
        ("labelSelector=tier", "a b c"),
        ("labelSelector=!tier", "d"),
        ("labelSelector=tier,tier!=gold", "b c"),
        ("fieldSelector=metadata.name=b", "b"),
        ("fieldSelector=metadata.name!=b,metadata.namespace==default", "a c d"),
        ("fieldSelector=metadata.namespace=other", ""),
    ] {
        let (code, list) = get(&server, &format!("{CONFIG_MAPS}?{query}")).await;
        assert_eq!(code, 200);
        assert_eq!(names(&list).join(" "), expected, "{query}");
        let revision = server.store().revision().to_string();
        assert_eq!(list["metadata"]["resourceVersion"], revision, "{query}");
    }
    for (path, query) in [
        (CONFIG_MAPS, "labelSelector=tier in"),
        (CONFIG_MAPS, "fieldSelector=data.a=1"),
        (WIDGETS, "fieldSelector=spec.size=1"),
        (CONFIG_MAPS, "limit=x"),
        (CONFIG_MAPS, "resourceVersion=abc"),
    ] {
        let (code, said) = get(&server, &format!("{path}?{query}")).await;
        assert_eq!((code, said["reason"].as_str()), (400, Some("BadRequest")), "{query}");
    }
    let (code, said) = get(&server, &format!("{CONFIG_MAPS}?sendInitialEvents=true")).await;
    let why = r#"ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"#;
    assert_eq!((code, said["message"].as_str()), (422, Some(why)));
    post(&server, PODS, json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n"}})).await;
    let (_, list) = get(&server, "/api/v1/pods?fieldSelector=spec.nodeName=n,status.phase=Pending").await;
    assert_eq!(names(&list), ["p"]);
    post(&server, WIDGETS, widget("w", json!({"color": "red"}))).await;
    assert_eq!(names(&get(&server, &format!("{WIDGETS}?fieldSelector=spec.color=red")).await.1), ["w"]);
}

#[tokio::test]
async fn forms() {
    let server = server();
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}, "data": {"a": "1"}})).await;
    post(&server, WIDGETS, widget("a", json!({}))).await;
    let (_, list) = get(&server, CONFIG_MAPS).await;
    assert_eq!((list["kind"].as_str(), list["apiVersion"].as_str()), (Some("ConfigMapList"), Some("v1")));
    assert_eq!(list["items"][0]["kind"], Value::Null, "built-in kinds do not repeat it");
    assert_eq!(list["items"][0]["data"]["a"], "1");
    let (_, list) = get(&server, WIDGETS).await;
    assert_eq!(
        (list["kind"].as_str(), list["items"][0]["kind"].as_str()),
        (Some("WidgetList"), Some("Widget"))
    );
    let (_, list) = get(&server, "/api/v1/namespaces/nowhere/configmaps").await;
    assert_eq!(list["items"], json!([]));

    for (path, accept, kind) in [
        (
            CONFIG_MAPS,
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            "PartialObjectMetadataList",
        ),
        (
            &format!("{WIDGETS}/a"),
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            "PartialObjectMetadata",
        ),
        (CONFIG_MAPS, "text/html", "Status"),
    ] {
        let request = Request::get(path).header("accept", accept).body(Full::new(Bytes::new())).unwrap();
        let body =
            server.service().oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
        let said: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(said["kind"], kind);
        assert_eq!(said["items"][0]["data"], Value::Null);
    }
}

#[tokio::test]
async fn pages_are_of_one_moment() {
    let server = server();
    create_all(&server, CONFIG_MAPS, ["a", "b", "c", "d", "e"].map(|it| config_map(it, json!({"x": "y"}))))
        .await;
    let (_, page) = get(&server, &format!("{CONFIG_MAPS}?limit=2")).await;
    assert_eq!(names(&page), ["a", "b"]);
    assert_eq!(page["metadata"]["remainingItemCount"], 3);
    let version = page["metadata"]["resourceVersion"].clone();
    delete(&server, &format!("{CONFIG_MAPS}/c"), Value::Null).await;
    post(&server, CONFIG_MAPS, config_map("dd", json!({}))).await;
    merge(&server, &format!("{CONFIG_MAPS}/d"), json!({"data": {"new": "1"}})).await;
    let mut token = page["metadata"]["continue"].as_str().unwrap().to_owned();
    let mut seen = Vec::new();
    while !token.is_empty() {
        let (code, page) = get(&server, &format!("{CONFIG_MAPS}?limit=2&continue={token}")).await;
        assert_eq!((code, &page["metadata"]["resourceVersion"]), (200, &version));
        seen.extend(page["items"].as_array().unwrap().iter().cloned());
        token = page["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(names(&json!({"items": seen})), ["c", "d", "e"]);
    assert_eq!(seen[1]["data"], Value::Null);

    let (_, page) = get(&server, &format!("{CONFIG_MAPS}?limit=2&labelSelector=x")).await;
    assert_eq!(page["metadata"]["remainingItemCount"], Value::Null);
    let token = page["metadata"]["continue"].as_str().unwrap();
    let rest = format!("{CONFIG_MAPS}?limit=2&labelSelector=x&continue={token}");
    assert_eq!(get(&server, &format!("{rest}&resourceVersion=3")).await.0, 400);
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}?continue=nonsense")).await.0, 400);
    post(&server, CONFIG_MAPS, config_map("z", json!({}))).await;
    server.compact();
    let (code, said) = get(&server, &rest).await;
    assert_eq!((code, said["reason"].as_str()), (410, Some("Expired")));
}

#[tokio::test(start_paused = true)]
async fn moments() {
    let server = server();
    let (_, a) = post(&server, CONFIG_MAPS, config_map("a", json!({}))).await;
    post(&server, CONFIG_MAPS, config_map("b", json!({}))).await;
    let old = a["metadata"]["resourceVersion"].as_str().unwrap();
    for (query, code, expected) in [
        ("resourceVersion=0".to_owned(), 200, "a b"),
        (format!("resourceVersion={old}"), 200, "a b"),
        (format!("resourceVersion={old}&resourceVersionMatch=NotOlderThan"), 200, "a b"),
        (format!("resourceVersion={old}&resourceVersionMatch=Exact"), 200, "a"),
        (format!("resourceVersion={old}&limit=9"), 200, "a"),
        ("resourceVersion=1&resourceVersionMatch=Exact".to_owned(), 410, ""),
        ("resourceVersion=0&resourceVersionMatch=Exact".to_owned(), 422, ""),
        (format!("resourceVersion={old}&resourceVersionMatch=Sometimes"), 422, ""),
        ("resourceVersionMatch=Exact".to_owned(), 422, ""),
        ("resourceVersion=999999".to_owned(), 504, ""),
    ] {
        let (got, list) = get(&server, &format!("{CONFIG_MAPS}?{query}")).await;
        assert_eq!((got, names(&list).join(" ").as_str()), (code, expected), "{query}");
    }
    // It is worth waiting a little.
    let next = server.store().revision() + 1;
    let path = format!("{CONFIG_MAPS}?resourceVersion={next}");
    let later = get(&server, &path);
    let (later, _) = tokio::join!(later, post(&server, CONFIG_MAPS, config_map("c", json!({}))));
    assert_eq!((later.0, names(&later.1)), (200, vec!["a", "b", "c"]));
}
