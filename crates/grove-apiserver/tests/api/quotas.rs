//! ResourceQuotas that count pods.

use serde_json::{Value, json};

use crate::support::{PODS, delete, get, merge, post, server};

const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {}})
}

fn quota(hard: &Value) -> Value {
    json!({"metadata": {"name": "q"}, "spec": {"hard": hard}})
}

#[tokio::test]
async fn pods_beyond_the_limit_are_refused_in_the_words_of_the_real_server() {
    let server = server();
    post(&server, QUOTAS, quota(&json!({"pods": "1", "requests.cpu": "4"}))).await;
    assert_eq!(post(&server, PODS, pod("a")).await.0, 201);
    let (code, said) = post(&server, PODS, pod("b")).await;
    assert_eq!((code, said["reason"].as_str()), (403, Some("Forbidden")));
    let words =
        r#"pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"#;
    assert_eq!(said["message"], words);
    let elsewhere = "/api/v1/namespaces/kube-system/pods";
    assert_eq!(post(&server, elsewhere, pod("b")).await.0, 201);
    merge(&server, &format!("{QUOTAS}/q"), json!({"spec": {"hard": {"pods": 2}}})).await;
    assert_eq!(post(&server, PODS, pod("b")).await.0, 201);
}

#[tokio::test]
async fn what_is_used_follows_the_pods() {
    let server = server();
    let status = || async { get(&server, &format!("{QUOTAS}/q")).await.1["status"].clone() };
    post(&server, QUOTAS, quota(&json!({"pods": "2", "count/pods": "5"}))).await;
    let is = |pods: &str, count: &str| json!({"hard": {"count/pods": "5", "pods": "2"}, "used": {"count/pods": count, "pods": pods}});
    assert_eq!(status().await, is("0", "0"));
    post(&server, PODS, pod("a")).await;
    post(&server, PODS, pod("b")).await;
    assert_eq!(status().await, is("2", "2"));
    merge(&server, &format!("{PODS}/a/status"), json!({"status": {"phase": "Failed"}})).await;
    assert_eq!(status().await, is("1", "2"), "a pod that has ended is an object all the same");
    delete(&server, &format!("{PODS}/b"), json!({"gracePeriodSeconds": 0})).await;
    assert_eq!(status().await, is("0", "1"));
}
