//! A backup that is restored.

use serde_json::json;

use grove_apiserver::collect;

use crate::support::{CONFIG_MAPS, config_map, create_all, delete, get, merge, post, server, watch};

fn data(number: u32) -> serde_json::Value {
    json!({"data": {"number": number.to_string()}})
}

#[tokio::test(start_paused = true)]
async fn objects_and_revision_are_those_of_before() {
    let server = server();
    create_all(&server, CONFIG_MAPS, ["kept", "gone"].map(|it| config_map(it, json!({})))).await;
    merge(&server, &format!("{CONFIG_MAPS}/kept"), data(1)).await;
    let before = server.store().revision();
    let (_, kept) = get(&server, &format!("{CONFIG_MAPS}/kept")).await;
    merge(&server, &format!("{CONFIG_MAPS}/kept"), data(2)).await;
    delete(&server, &format!("{CONFIG_MAPS}/gone"), json!(null)).await;
    post(&server, CONFIG_MAPS, config_map("new", json!({}))).await;
    let jumps = server.restore(3, true);
    assert_eq!(server.store().revision(), before);
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/kept")).await.1, kept);
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/gone")).await.0, 200);
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/new")).await.0, 404);
    let names: Vec<_> =
        jumps.iter().map(|it| (it.key.name.as_str(), it.old.is_some(), it.new.is_some())).collect();
    assert_eq!(names, [("gone", false, true), ("kept", true, true), ("new", true, false)]);
}

/// As the real server does with one whose removal failed after it was marked.
#[tokio::test(start_paused = true)]
async fn a_pod_whose_grace_is_over_is_removed_by_the_next_deletion() {
    let server = server();
    let pods = "/api/v1/namespaces/default/pods";
    post(&server, pods, json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}})).await;
    delete(&server, &format!("{pods}/p"), json!({"gracePeriodSeconds": 0})).await;
    server.restore(1, true);
    let (_, pod) = get(&server, &format!("{pods}/p")).await;
    assert_eq!(pod["metadata"]["deletionGracePeriodSeconds"], json!(0));
    delete(&server, &format!("{pods}/p"), json!({"gracePeriodSeconds": 0})).await;
    assert_eq!(get(&server, &format!("{pods}/p")).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn watches_that_notice_end_and_are_refused() {
    let server = server();
    create_all(&server, CONFIG_MAPS, ["a", "b"].map(|it| config_map(it, json!({})))).await;
    let revision = server.store().revision();
    let mut lines = watch(&server, &format!("{CONFIG_MAPS}?resourceVersion={revision}")).await;
    assert!(lines.is_quiet().await);
    server.restore(1, true);
    assert_eq!(lines.next().await, None);
    let mut lines = watch(&server, &format!("{CONFIG_MAPS}?resourceVersion={revision}")).await;
    let line = lines.next().await.unwrap();
    assert_eq!((&line["type"], &line["object"]["code"]), (&json!("ERROR"), &json!(410)));
}

#[tokio::test(start_paused = true)]
async fn watches_that_do_not_notice_miss_what_has_their_revisions() {
    let server = server();
    create_all(&server, CONFIG_MAPS, ["a", "b"].map(|it| config_map(it, json!({})))).await;
    let revision = server.store().revision();
    let mut lines = watch(&server, &format!("{CONFIG_MAPS}?resourceVersion={revision}")).await;
    server.restore(1, false);
    post(&server, CONFIG_MAPS, config_map("missed", json!({}))).await;
    assert!(lines.is_quiet().await);
    post(&server, CONFIG_MAPS, config_map("seen", json!({}))).await;
    assert_eq!(lines.told().await, "ADDED seen");
}

#[tokio::test(start_paused = true)]
async fn the_collector_looks_at_everything_again() {
    let server = server();
    let collector = tokio::spawn(grove_apiserver::run_collector(server.clone(), std::future::pending()));
    let (_, owner) = post(&server, CONFIG_MAPS, config_map("owner", json!({}))).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    delete(&server, &format!("{CONFIG_MAPS}/owner"), json!(null)).await;
    let mut child = config_map("owned", json!({}));
    child["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"],
    }]);
    merge(&server, "/api/v1/namespaces/default", json!({"metadata": {"labels": {"n": "1"}}})).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    // The deletion of the owner and what came after it are taken back, and as many changes follow.
    server.restore(2, true);
    delete(&server, &format!("{CONFIG_MAPS}/owner"), json!(null)).await;
    post(&server, CONFIG_MAPS, child).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/owned")).await.0, 404);
    collector.abort();
    assert_eq!(collect(&server), 0);
}
