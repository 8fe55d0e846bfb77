//! Evictions, and the budgets that refuse them.

use grove_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::{PODS, assert_has, cluster, delete, get, merge, post};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

async fn pods(server: &ApiServer, names: &[&str]) {
    for name in names {
        let spec = json!({"nodeName": "n", "containers": [{"name": "main", "image": "none"}]});
        let (code, said) =
            post(server, PODS, json!({"metadata": {"name": name, "labels": {"app": "a"}}, "spec": spec}))
                .await;
        assert_eq!(code, 201, "{said}");
        set_ready(server, name, "True").await;
    }
}

async fn set_ready(server: &ApiServer, name: &str, ready: &str) {
    let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]});
    assert_eq!(merge(server, &format!("{PODS}/{name}/status"), json!({"status": status})).await.0, 200);
}

async fn evict(server: &ApiServer, name: &str, options: Value) -> (u16, Value) {
    let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, "deleteOptions": options});
    post(server, &format!("{PODS}/{name}/eviction"), body).await
}

async fn budget(server: &ApiServer, name: &str, mut spec: Value) {
    spec["selector"] = json!({"matchLabels": {"app": "a"}});
    let (code, said) = post(server, BUDGETS, json!({"metadata": {"name": name}, "spec": spec})).await;
    assert_eq!((code, said["metadata"]["generation"].as_i64()), (201, Some(1)));
}

async fn allowed(server: &ApiServer, name: &str) -> Value {
    get(server, &format!("{BUDGETS}/{name}")).await.1["status"]["disruptionsAllowed"].clone()
}

#[tokio::test]
async fn budgets_count_pods() {
    let server = cluster();
    pods(&server, &["a", "b", "c"]).await;
    for (name, spec, expected) in [
        ("one", json!({"minAvailable": 1}), 2),
        ("half", json!({"minAvailable": "50%"}), 1),
        ("all", json!({"minAvailable": "100%"}), 0),
        ("less", json!({"maxUnavailable": 1}), 1),
        ("third", json!({"maxUnavailable": "34%"}), 2),
        ("many", json!({"minAvailable": 7}), 0),
    ] {
        budget(&server, name, spec).await;
        assert_eq!(allowed(&server, name).await, expected, "{name}");
    }
    set_ready(&server, "a", "False").await;
    assert_eq!(allowed(&server, "one").await, 1);
    delete(&server, &format!("{PODS}/b"), json!({"gracePeriodSeconds": 0})).await;
    let (_, said) = get(&server, &format!("{BUDGETS}/one")).await;
    let expected = json!({"currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 2, "disruptionsAllowed": 0, "observedGeneration": 1,
        "conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods"}]});
    assert_has(&said["status"], &expected);
}

#[tokio::test]
async fn a_budget_refuses() {
    let server = cluster();
    pods(&server, &["a", "b"]).await;
    budget(&server, "one", json!({"minAvailable": 1})).await;
    let (code, said) = evict(&server, "a", json!({"dryRun": ["All"]})).await;
    assert_eq!(code, 201, "{said}");
    assert_eq!(get(&server, &format!("{PODS}/a")).await.1["metadata"]["deletionTimestamp"], Value::Null);
    let (code, said) = evict(&server, "a", Value::Null).await;
    assert_eq!(
        (code, said),
        (
            201,
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
        )
    );
    let (_, pod) = get(&server, &format!("{PODS}/a")).await;
    assert_has(&pod, &json!({"metadata": {"deletionGracePeriodSeconds": 30}}));
    let conditions = pod["status"]["conditions"].as_array().unwrap();
    assert!(
        conditions
            .iter()
            .any(|it| it["type"] == "DisruptionTarget" && it["reason"] == "EvictionByEvictionAPI")
    );

    let (code, said) = evict(&server, "b", Value::Null).await;
    assert_eq!(code, 429);
    let cause = json!({"reason": "DisruptionBudget", "message": "The disruption budget one needs 1 healthy pods and has 1 currently"});
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    assert_has(
        &said,
        &json!({"reason": "TooManyRequests", "message": message, "details": {"causes": [cause]}}),
    );
    assert_eq!(get(&server, &format!("{PODS}/b")).await.1["metadata"]["deletionTimestamp"], Value::Null);
    assert_eq!(evict(&server, "none", Value::Null).await.0, 404);
}

#[tokio::test]
async fn pods_that_serve_nobody_may_go() {
    let server = cluster();
    pods(&server, &["a", "b", "c"]).await;
    budget(&server, "all", json!({"minAvailable": "100%"})).await;
    merge(&server, &format!("{PODS}/a/status"), json!({"status": {"phase": "Succeeded"}})).await;
    assert_eq!(evict(&server, "a", json!({"gracePeriodSeconds": 0})).await.0, 201);
    assert_eq!(get(&server, &format!("{PODS}/a")).await.0, 404);
    set_ready(&server, "b", "False").await;
    assert_eq!(evict(&server, "b", Value::Null).await.0, 429, "it may yet become ready");
    merge(&server, &format!("{BUDGETS}/all"), json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}))
        .await;
    assert_eq!(evict(&server, "b", Value::Null).await.0, 201);
    budget(&server, "second", json!({"minAvailable": 0})).await;
    let (code, said) = evict(&server, "c", Value::Null).await;
    assert!(
        code == 500 && said["message"].as_str().unwrap().contains("more than one PodDisruptionBudget"),
        "{said}"
    );
}
