use anstream::adapter::strip_str;
use clap::{Args as _, FromArgMatches as _};
use grove_api::{
    schema::{CRDS, Crd},
    wire::{ClusterTopologyBinding, PodGang},
};
use grove_apiserver::{ApiServer, Resources};
use k8s_openapi::{
    api::core::v1::{Node, Pod},
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::commands::topology::{
    facts::NodeState,
    fixture::{TEXT, cluster},
};

fn empty() -> Cluster {
    let mut resources = Resources::kubernetes();
    for crd in CRDS.iter().map(Crd::to_value) {
        resources = resources.with_crd(&crd).unwrap();
    }
    let server = ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1);
    let client = Client::new(server.service(), "default");
    Cluster { client, server: "in memory".to_owned(), namespace: "default".to_owned() }
}

async fn create<K>(api: Api<K>, object: Value)
where
    K: Clone + std::fmt::Debug + DeserializeOwned + serde::Serialize,
{
    let status = object.get("status").cloned();
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
    if let Some(status) = status {
        let status = Patch::Merge(json!({ "status": status }));
        api.patch_status(&name, &PatchParams::default(), &status).await.unwrap();
    }
}

fn pod(name: &str, node: &str, gpus: &str, gang: Option<&str>) -> Value {
    let labels = gang.map(|it| json!({ "grove.io/podgang": it })).unwrap_or(json!({}));
    let asked = json!({ "requests": { "nvidia.com/gpu": gpus } });
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "labels": labels },
        "spec": { "nodeName": node, "containers": [{ "name": "c", "image": "i", "resources": asked }] },
        "status": { "phase": "Running" },
    })
}

/// The cluster of the fixture, as an API server has it.
async fn filled() -> Cluster {
    let (facts, into) = (cluster(), empty());
    let client = || into.client.clone();
    for it in &facts.topologies {
        let levels: Vec<Value> =
            it.levels.iter().map(|it| json!({ "domain": it.domain, "key": it.key })).collect();
        let object = json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": it.name },
            "spec": { "levels": levels },
        });
        create(Api::<ClusterTopologyBinding>::all(client()), object).await;
    }
    for it in &facts.nodes {
        let ready = if it.state == NodeState::NotReady { "Unknown" } else { "True" };
        let object = json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": it.name, "labels": it.labels },
            "spec": { "unschedulable": it.state == NodeState::Cordoned },
            "status": {
                "allocatable": { "nvidia.com/gpu": it.allocatable.to_string(), "cpu": "64" },
                "conditions": [{ "type": "Ready", "status": ready }],
            },
        });
        create(Api::<Node>::all(client()), object).await;
    }
    let pods = || Api::<Pod>::default_namespaced(client());
    for (number, it) in facts.pods.iter().flatten().enumerate() {
        let gang = it.gang.as_ref().map(|it| it.name.as_str());
        create(pods(), pod(&format!("p{number}"), &it.node, &it.takes.to_string(), gang)).await;
    }
    // What has ended or has no node takes nothing, and is nowhere.
    for (name, phase) in [("done", "Succeeded"), ("broken", "Failed")] {
        let mut ended = pod(name, "node-3", "8", Some("chat-0"));
        ended["status"]["phase"] = json!(phase);
        create(pods(), ended).await;
    }
    let mut waiting = pod("waiting", "", "8", Some("chat-2"));
    waiting["spec"].as_object_mut().unwrap().shift_remove("nodeName");
    create(pods(), waiting).await;
    for it in facts.gangs.iter().flatten() {
        let constraint = it.required.as_ref().map(|it| json!({ "packConstraint": { "required": it } }));
        let object = json!({
            "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": { "name": it.name.name },
            "spec": { "podgroups": [], "topologyConstraint": constraint },
        });
        create(Api::<PodGang>::default_namespaced(client()), object).await;
    }
    into
}

fn show(arguments: &[&str]) -> Show {
    let matches = Show::augment_args(clap::Command::new("topology"))
        .try_get_matches_from(["topology"].iter().chain(arguments))
        .unwrap();
    Show::from_arg_matches(&matches).unwrap()
}

fn said(stdout: &str) -> Answer {
    Answer { stdout: stdout.to_owned(), stderr: String::new(), outcome: Outcome::Success }
}

async fn answer(cluster: &Cluster, arguments: &[&str]) -> Answer {
    let mut answer = show(arguments).answer(cluster).await.unwrap();
    answer.stdout = strip_str(&answer.stdout).to_string();
    answer
}

#[tokio::test]
async fn a_cluster_as_it_is() {
    let cluster = filled().await;
    assert_eq!(answer(&cluster, &[]).await, said(TEXT));
    assert_eq!(answer(&cluster, &["cluster"]).await, said(TEXT));
    let json: Value = serde_json::from_str(&answer(&cluster, &["-o", "json"]).await.stdout).unwrap();
    assert_eq!(json["topologies"][0]["tree"]["free"], 5);
    let cpu = answer(&cluster, &["--resource", "cpu", "--depth", "zone"]).await.stdout;
    // Seven nodes of 64, two of which have nothing free.
    assert!(cpu.starts_with("cluster (ClusterTopologyBinding): 7 nodes, 320 of 448 cpu free\n"), "{cpu}");
}

/// It takes its GPUs until it is gone, but its gang is no longer there.
#[tokio::test]
async fn a_pod_that_is_being_deleted() {
    let cluster = filled().await;
    let pods = Api::<Pod>::default_namespaced(cluster.client.clone());
    let keep = Patch::Merge(json!({ "metadata": { "finalizers": ["example.com/keep"] } }));
    pods.patch("p3", &PatchParams::default(), &keep).await.unwrap();
    pods.delete("p3", &DeleteParams::default()).await.unwrap();
    let text = answer(&cluster, &[]).await.stdout;
    assert!(
        text.starts_with("cluster (ClusterTopologyBinding): 7 nodes, 5 of 48 nvidia.com/gpu free\n"),
        "{text}"
    );
    assert!(text.contains("\n          - default/chat-1: 1 pod, 4 nvidia.com/gpu, on 1 node\n"), "{text}");
}

#[tokio::test]
async fn no_such_topology() {
    let none = "grove: no topology found: the cluster has neither a ClusterTopologyBinding nor a Kueue Topology; `grove \
                topology detect` proposes one from node labels\n";
    let other = "grove: no topology \"other\"; `grove topology` lists all\n";
    let rows =
        [(empty(), &[][..], none), (empty(), &["--depth", "x"], none), (filled().await, &["other"], other)];
    for (cluster, arguments, stderr) in rows {
        let want = Answer { stdout: String::new(), stderr: stderr.to_owned(), outcome: Outcome::Findings };
        assert_eq!(answer(&cluster, arguments).await, want, "{arguments:?}");
    }
    let json = answer(&empty(), &["-o", "json"]).await;
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&value["topologies"], json.outcome), (&json!([]), Outcome::Findings));
}

#[tokio::test]
async fn a_level_that_no_topology_has() {
    let error = show(&["--depth", "row"]).answer(&filled().await).await.unwrap_err();
    assert_eq!(error.to_string(), "--depth: no level \"row\"; cluster has zone, rack, host");
}

/// What is proposed for a cluster is taken by its API server, and shown.
#[tokio::test]
async fn what_is_detected_is_shown() {
    let cluster = filled().await;
    let matches = Detect::augment_args(clap::Command::new("detect"))
        .try_get_matches_from(["detect", "--name", "found", "-o", "json"])
        .unwrap();
    let found = Detect::from_arg_matches(&matches).unwrap().answer(&cluster).await.unwrap();
    assert_eq!((found.stderr.as_str(), found.outcome), ("", Outcome::Success));
    create(
        Api::<ClusterTopologyBinding>::all(cluster.client.clone()),
        serde_json::from_str(&found.stdout).unwrap(),
    )
    .await;
    let want = TEXT.replacen("cluster (", "found (", 1);
    assert_eq!(answer(&cluster, &["found"]).await, said(&want));
}
