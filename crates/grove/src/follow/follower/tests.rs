//! A follower of an API server in memory.

use std::time::Duration;

use grove_api::schema::CRDS;
use grove_apiserver::{ApiServer, Resources};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;

fn server() -> ApiServer {
    let mut resources = Resources::cluster();
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1)
}

fn client(server: &ApiServer) -> Client {
    Client::new(server.service(), "default")
}

async fn create_pod(server: &ApiServer, name: &str, labels: Value) {
    let pod = json!({
        "metadata": { "name": name, "labels": labels },
        "spec": { "containers": [{ "name": "a", "image": "x" }] },
    });
    let pod: Pod = serde_json::from_value(pod).unwrap();
    Api::<Pod>::default_namespaced(client(server)).create(&PostParams::default(), &pod).await.unwrap();
}

fn of_set() -> Value {
    json!({ "app.kubernetes.io/part-of": "chat", "grove.io/podclique": "chat-0-a", "grove.io/podgang": "chat-0" })
}

/// Fails where a change is not reported.
async fn changed(follower: &mut Follower) {
    timeout(Duration::from_secs(20), follower.changed()).await.expect("no change was reported");
}

/// Waits until the snapshot is as wanted, however many changes it takes.
async fn until(follower: &mut Follower, is_so: impl Fn(&Snapshot) -> bool) {
    while !is_so(&follower.snapshot()) {
        changed(follower).await;
    }
}

#[tokio::test]
async fn a_snapshot_follows_the_cluster() {
    let server = server();
    let mut follower = Follower::start(client(&server), None);
    follower.synced().await;
    assert_eq!(follower.snapshot(), Snapshot::default());
    changed(&mut follower).await;

    create_pod(&server, "stranger", json!({})).await;
    create_pod(&server, "chat-0-a-0", of_set()).await;
    changed(&mut follower).await;
    let names = |it: &Snapshot| it.pods.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&follower.snapshot()), ["chat-0-a-0"]);

    let nodes: Api<Node> = Api::all(client(&server));
    let node = json!({ "metadata": { "name": "n" } });
    nodes.create(&PostParams::default(), &serde_json::from_value(node).unwrap()).await.unwrap();
    let gang = json!({
        "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": { "name": "chat-0" },
        "spec": { "podgroups": [{ "name": "chat-0-a", "podReferences": [], "minReplicas": 1 }] },
    });
    let gangs: Api<PodGang> = Api::default_namespaced(client(&server));
    gangs.create(&PostParams::default(), &serde_json::from_value(gang).unwrap()).await.unwrap();
    until(&mut follower, |it| it.nodes.len() == 1 && it.gangs.len() == 1).await;

    let pods: Api<Pod> = Api::default_namespaced(client(&server));
    let params = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    pods.delete("chat-0-a-0", &params).await.unwrap();
    until(&mut follower, |it| it.pods.is_empty()).await;
    assert_eq!(follower.problem(), None);
}

#[tokio::test]
async fn changes_count_once_for_each_clone_and_only_where_they_matter() {
    let server = server();
    create_pod(&server, "chat-0-a-0", of_set()).await;
    let mut follower = Follower::start(client(&server), Some("default"));
    follower.synced().await;
    changed(&mut follower).await;
    let mut clone = follower.clone();

    let pods: Api<Pod> = Api::default_namespaced(client(&server));
    let patch = |it: Value| (PatchParams::default(), Patch::Merge(it));
    let (params, unimportant) = patch(json!({ "metadata": { "annotations": { "a": "b" } } }));
    pods.patch("chat-0-a-0", &params, &unimportant).await.unwrap();
    assert!(timeout(Duration::from_millis(200), follower.changed()).await.is_err(), "nothing that is kept");

    for message in ["True", "False", "True"] {
        let status = json!({ "status": { "conditions": [{ "type": "Ready", "status": message }] } });
        let (params, status) = patch(status);
        pods.patch_status("chat-0-a-0", &params, &status).await.unwrap();
    }
    until(&mut follower, |it| it.pods[0].ready).await;
    changed(&mut clone).await;
    let rest = async {
        loop {
            clone.changed().await;
        }
    };
    assert!(timeout(Duration::from_millis(200), rest).await.is_err());
    assert!(clone.snapshot().pods[0].ready);
}

#[tokio::test]
async fn other_namespaces_are_left_out() {
    let server = server();
    create_pod(&server, "chat-0-a-0", of_set()).await;
    let mut follower = Follower::start(client(&server), Some("ml"));
    follower.synced().await;
    assert!(follower.snapshot().pods.is_empty());
}

#[tokio::test]
async fn a_cluster_that_cannot_be_watched_is_a_problem() {
    let server = ApiServer::new(Resources::cluster(), || Timestamp::UNIX_EPOCH, 1);
    let mut follower = Follower::start(client(&server), None);
    while follower.problem().is_none() {
        changed(&mut follower).await;
    }
    let problem = follower.problem().unwrap();
    assert!(problem.starts_with("PodGang: "), "{problem}");
}
