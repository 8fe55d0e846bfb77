//! The garbage collector.

use grove_apiserver::{ApiServer, collect};
use serde_json::{Value, json};

use crate::support::{CONFIG_MAPS, PODS, delete, get, json_patch, merge, names, post, server};

/// Creates a ConfigMap owned by others, given as `owner` or, if it blocks, `owner!`.
async fn make(server: &ApiServer, name: &str, owners: &[&str]) {
    let mut references = Vec::new();
    for owner in owners {
        let (owner, blocks) = owner.strip_suffix('!').map_or((*owner, false), |it| (it, true));
        let found = server.store().get("configmaps", "default", owner);
        let uid = found.map_or_else(|| "none".to_owned(), |it| it.uid().to_owned());
        references.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uid, "blockOwnerDeletion": blocks}));
    }
    let (code, said) =
        post(server, CONFIG_MAPS, json!({"metadata": {"name": name, "ownerReferences": references}})).await;
    assert_eq!(code, 201, "{said}");
}

async fn left(server: &ApiServer) -> String {
    names(&get(server, CONFIG_MAPS).await.1).join(" ")
}

async fn remove(server: &ApiServer, name: &str, policy: &str) {
    let (code, _) =
        delete(server, &format!("{CONFIG_MAPS}/{name}"), json!({"propagationPolicy": policy})).await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn background() {
    let server = server();
    make(&server, "a", &[]).await;
    make(&server, "b", &["a"]).await;
    make(&server, "c", &["b!"]).await;
    make(&server, "other", &[]).await;
    assert_eq!(collect(&server), 0);
    remove(&server, "a", "Background").await;
    assert_eq!(left(&server).await, "b c other");
    assert_eq!(collect(&server), 2);
    assert_eq!(left(&server).await, "other");
    assert_eq!(collect(&server), 0);
    let last = server.store().writes().pop().unwrap();
    assert_eq!((last.manager.as_str(), last.verb, last.name.as_str()), ("garbage-collector", "delete", "c"));
}

#[tokio::test]
async fn an_owner_of_the_same_name_is_another_one() {
    let server = server();
    make(&server, "a", &[]).await;
    make(&server, "b", &["a"]).await;
    remove(&server, "a", "Background").await;
    make(&server, "a", &[]).await;
    collect(&server);
    assert_eq!(left(&server).await, "a");
    make(&server, "foundling", &["none"]).await;
    collect(&server);
    assert_eq!(left(&server).await, "a");
}

#[tokio::test]
async fn one_of_several_owners_is_enough() {
    let server = server();
    make(&server, "a", &[]).await;
    make(&server, "b", &[]).await;
    make(&server, "c", &["a", "b"]).await;
    remove(&server, "a", "Background").await;
    assert_eq!(collect(&server), 1, "the reference to what is gone goes");
    let child = server.store().get("configmaps", "default", "c").unwrap();
    assert_eq!(child.owner_references().len(), 1);
    remove(&server, "b", "Background").await;
    collect(&server);
    assert_eq!(left(&server).await, "");
}

#[tokio::test]
async fn orphans() {
    let server = server();
    make(&server, "a", &[]).await;
    make(&server, "b", &["a!"]).await;
    remove(&server, "a", "Orphan").await;
    assert_eq!(left(&server).await, "a b");
    collect(&server);
    assert_eq!(left(&server).await, "b");
    assert!(server.store().get("configmaps", "default", "b").unwrap().owner_references().is_empty());
}

#[tokio::test]
async fn foreground() {
    let server = server();
    make(&server, "a", &[]).await;
    make(&server, "b", &["a!"]).await;
    make(&server, "c", &["b!"]).await;
    make(&server, "d", &["a"]).await;
    merge(&server, &format!("{CONFIG_MAPS}/c"), json!({"metadata": {"finalizers": ["example.com/hold"]}}))
        .await;
    remove(&server, "a", "Foreground").await;
    collect(&server);
    assert_eq!(left(&server).await, "a b c", "each waits for the one before it");
    let b = server.store().get("configmaps", "default", "b").unwrap();
    assert_eq!(b.finalizers().collect::<Vec<_>>(), ["foregroundDeletion"]);
    merge(&server, &format!("{CONFIG_MAPS}/c"), json!({"metadata": {"finalizers": null}})).await;
    let before = server.store().revision();
    collect(&server);
    assert_eq!(left(&server).await, "");
    let order: Vec<String> =
        server.store().events_since(before).unwrap().iter().map(|it| it.key.name.clone()).collect();
    assert_eq!(order, ["b", "a"]);
}

#[tokio::test]
async fn circles_end() {
    let server = server();
    make(&server, "a", &[]).await;
    make(&server, "b", &["a!"]).await;
    let b = server.store().get("configmaps", "default", "b").unwrap();
    let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "b", "uid": b.uid(), "blockOwnerDeletion": true}]);
    merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"metadata": {"ownerReferences": reference}})).await;
    remove(&server, "a", "Foreground").await;
    collect(&server);
    assert_eq!(left(&server).await, "");
}

#[tokio::test]
async fn owners_that_nobody_can_look_up() {
    let server = server();
    for (name, version, kind) in
        [("unknown", "example.org/v1", "Thing"), ("absent", "example.com/v1", "Widget")]
    {
        let reference = json!([{"apiVersion": version, "kind": kind, "name": "x", "uid": "x"}]);
        post(&server, CONFIG_MAPS, json!({"metadata": {"name": name, "ownerReferences": reference}})).await;
    }
    // An owner in another namespace is none.
    let elsewhere = json!({"metadata": {"name": "owner"}});
    let (_, owner) = post(&server, "/api/v1/namespaces/kube-system/configmaps", elsewhere).await;
    let reference =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}]);
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "stranger", "ownerReferences": reference}})).await;
    collect(&server);
    assert_eq!(left(&server).await, "unknown");
}

#[tokio::test]
async fn finalizers_hold_dependents_too() {
    let server = server();
    make(&server, "a", &[]).await;
    make(&server, "b", &["a"]).await;
    merge(&server, &format!("{CONFIG_MAPS}/b"), json!({"metadata": {"finalizers": ["example.com/hold"]}}))
        .await;
    remove(&server, "a", "Background").await;
    assert_eq!(collect(&server), 1);
    assert!(server.store().get("configmaps", "default", "b").unwrap().is_terminating());
    assert_eq!(collect(&server), 0);
}

#[tokio::test]
async fn namespaces_are_emptied() {
    let server = server();
    post(&server, "/api/v1/namespaces", json!({"metadata": {"name": "ends"}})).await;
    let inside = |path: &str| path.replace("default", "ends");
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/hold"]}});
    post(&server, &inside(CONFIG_MAPS), held).await;
    post(&server, &inside(CONFIG_MAPS), json!({"metadata": {"name": "free"}})).await;
    post(&server, &inside(PODS), json!({"metadata": {"name": "pod"}, "spec": {"nodeName": "n"}})).await;
    make(&server, "elsewhere", &[]).await;
    let (_, said) = delete(&server, "/api/v1/namespaces/ends", Value::Null).await;
    assert_eq!(said["status"]["phase"], "Terminating");
    collect(&server);
    assert_eq!(names(&get(&server, &inside(CONFIG_MAPS)).await.1), ["held"]);
    assert_eq!(names(&get(&server, &inside(PODS)).await.1), ["pod"], "its node has not said that it ended");
    json_patch(
        &server,
        &format!("{}/held", inside(CONFIG_MAPS)),
        json!([{"op": "remove", "path": "/metadata/finalizers"}]),
    )
    .await;
    collect(&server);
    assert_eq!(get(&server, "/api/v1/namespaces/ends").await.0, 200);
    delete(&server, &format!("{}/pod", inside(PODS)), json!({"gracePeriodSeconds": 0})).await;
    collect(&server);
    assert_eq!(get(&server, "/api/v1/namespaces/ends").await.0, 404);
    assert_eq!(left(&server).await, "elsewhere");
}
