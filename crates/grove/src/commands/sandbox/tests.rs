//! Faults on an API server in memory.

use grove_apiserver::{ApiServer, Resources};
use k8s_openapi::{
    api::core::v1::{Node, Pod},
    jiff::Timestamp,
};
use kube::{Api, Client, ResourceExt, api::PostParams};
use serde_json::json;

use super::{
    Done,
    node::{self, NodeFault},
    pod::{self, PodFault},
};
use crate::cluster::Cluster;

/// The simulated node `sim` and the real node `real`, each with a pod; and a pod without a node.
async fn cluster() -> Cluster {
    let server =
        ApiServer::new(Resources::kubernetes(), || Timestamp::from_second(1_800_000_000).unwrap(), 1);
    let client = Client::new(server.service(), "default");
    let cluster =
        Cluster { client, server: "https://example.com".to_owned(), namespace: "default".to_owned() };
    for (name, provider) in [("sim", "sandbox://sim"), ("real", "aws:///i-0")] {
        let node = json!({ "metadata": { "name": name }, "spec": { "providerID": provider } });
        let node: Node = serde_json::from_value(node).unwrap();
        nodes(&cluster).create(&PostParams::default(), &node).await.unwrap();
    }
    for (name, node) in [("chat-0", Some("sim")), ("prod-0", Some("real")), ("new-0", None)] {
        let pod = json!({
            "metadata": { "name": name },
            "spec": { "containers": [{ "name": "a", "image": "x" }], "nodeName": node },
        });
        let pod: Pod = serde_json::from_value(pod).unwrap();
        pods(&cluster).create(&PostParams::default(), &pod).await.unwrap();
    }
    cluster
}

fn nodes(cluster: &Cluster) -> Api<Node> {
    Api::all(cluster.client.clone())
}

fn pods(cluster: &Cluster) -> Api<Pod> {
    Api::default_namespaced(cluster.client.clone())
}

fn said(done: Done) -> String {
    match done {
        Done::Said(text) => text,
        other => panic!("{other:?}"),
    }
}

fn refused(done: Done) -> String {
    match done {
        Done::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_simulated_node_is_lost_and_comes_back() {
    let cluster = cluster().await;
    let lost = async || {
        nodes(&cluster).get("sim").await.unwrap().annotations().get("sandbox.grove.io/lost").cloned()
    };
    let text = said(node::act(&cluster, NodeFault::Lose, "sim").await.unwrap());
    assert_eq!(lost().await.as_deref(), Some("true"));
    assert!(text.contains("--node-grace") && text.contains("grove sandbox node return sim"), "{text}");
    let text = said(node::act(&cluster, NodeFault::Return, "sim").await.unwrap());
    assert_eq!(lost().await, None);
    assert!(text.starts_with("node sim is back"), "{text}");
}

#[tokio::test]
async fn a_simulated_node_is_cordoned_and_drained() {
    let cluster = cluster().await;
    let cordoned = async || nodes(&cluster).get("sim").await.unwrap().spec.and_then(|it| it.unschedulable);
    said(node::act(&cluster, NodeFault::Cordon, "sim").await.unwrap());
    assert_eq!(cordoned().await, Some(true));
    said(node::act(&cluster, NodeFault::Uncordon, "sim").await.unwrap());
    assert_eq!(cordoned().await, None);
    let text = said(node::act(&cluster, NodeFault::Drain, "sim").await.unwrap());
    assert_eq!(cordoned().await, Some(true));
    assert!(text.contains("1 pod evicted"), "{text}");
}

#[tokio::test]
async fn nothing_is_written_to_a_node_that_is_not_simulated() {
    let cluster = cluster().await;
    let before = (nodes(&cluster).get("real").await.unwrap(), pods(&cluster).get("prod-0").await.unwrap());
    for fault in
        [NodeFault::Lose, NodeFault::Return, NodeFault::Cordon, NodeFault::Uncordon, NodeFault::Drain]
    {
        let why = refused(node::act(&cluster, fault, "real").await.unwrap());
        assert!(why.starts_with("node real at https://example.com is not simulated"), "{why}");
    }
    for fault in [PodFault::Fail { exit_code: 1 }, PodFault::Crash, PodFault::Unready, PodFault::Ready] {
        let why = refused(pod::act(&cluster, fault, "default", "prod-0").await.unwrap());
        assert!(
            why.starts_with("pod prod-0 is on node real: node real at https://example.com is not"),
            "{why}"
        );
    }
    let after = (nodes(&cluster).get("real").await.unwrap(), pods(&cluster).get("prod-0").await.unwrap());
    assert_eq!(before, after);
}

#[tokio::test]
async fn names_that_do_not_exist() {
    let cluster = cluster().await;
    let rows = [
        (
            node::act(&cluster, NodeFault::Lose, "sin").await,
            "no node \"sin\" at https://example.com; did you mean \"sim\"?",
        ),
        (
            node::act(&cluster, NodeFault::Lose, "elsewhere").await,
            "no node \"elsewhere\" at https://example.com",
        ),
        (
            pod::act(&cluster, PodFault::Crash, "default", "chat-1").await,
            "no pod \"chat-1\" in namespace \"default\" at https://example.com; did you mean \"chat-0\"?",
        ),
        (
            pod::act(&cluster, PodFault::Crash, "other", "chat-0").await,
            "no pod \"chat-0\" in namespace \"other\" at https://example.com",
        ),
        (
            pod::act(&cluster, PodFault::Crash, "default", "new-0").await,
            "pod new-0 is not bound to a node yet",
        ),
    ];
    for (got, want) in rows {
        assert_eq!(refused(got.unwrap()), want);
    }
}

#[tokio::test]
async fn pods_fail_crash_and_are_not_ready() {
    let cluster = cluster().await;
    let annotation = async |name: &str| {
        let pod = pods(&cluster).get("chat-0").await.unwrap();
        pod.annotations().get(&format!("sandbox.grove.io/{name}")).cloned()
    };
    let text =
        said(pod::act(&cluster, PodFault::Fail { exit_code: 137 }, "default", "chat-0").await.unwrap());
    assert!(text.contains("exit code 137"), "{text}");
    assert_eq!(annotation("exit-code").await.as_deref(), Some("137"));
    said(pod::act(&cluster, PodFault::Crash, "default", "chat-0").await.unwrap());
    assert_eq!(annotation("crash").await.as_deref(), Some("true"));
    said(pod::act(&cluster, PodFault::Unready, "default", "chat-0").await.unwrap());
    assert_eq!(annotation("never-ready").await.as_deref(), Some("true"));
    said(pod::act(&cluster, PodFault::Ready, "default", "chat-0").await.unwrap());
    assert_eq!(annotation("never-ready").await, None);
}
