//! The actions of the tour on an API server in memory.

use std::time::Duration;

use grove_api::{schema::CRDS, wire::ClusterTopologyBinding};
use grove_apiserver::{ApiServer, Resources};
use k8s_openapi::{
    api::core::v1::{Node, Pod},
    jiff::Timestamp,
};
use kube::{api::PostParams, core::object::HasSpec as _, runtime::wait::await_condition};

use super::*;
use crate::tour::{Ended, Said, Step, Tour, drive, steps};

fn server() -> ApiServer {
    let mut resources = Resources::cluster();
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1)
}

fn cluster(server: &ApiServer) -> LiveCluster {
    let client = Client::new(server.service(), "default");
    let follower = Follower::start(client.clone(), Some("default"));
    LiveCluster::new(client, follower)
}

/// All actions of the script, in order.
fn actions() -> Vec<Action> {
    steps().into_iter().flat_map(|it: Step| it.actions).collect()
}

async fn create<K>(cluster: &LiveCluster, object: Value)
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::Serialize
        + serde::de::DeserializeOwned,
{
    let object: K = serde_json::from_value(object).unwrap();
    cluster.api::<K>().create(&PostParams::default(), &object).await.unwrap();
}

#[tokio::test]
async fn every_action_of_the_script_is_carried_out() {
    let server = server();
    let mut cluster = cluster(&server);
    let nodes: Api<Node> = Api::all(cluster.client.clone());
    let node: Node = serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let group = json!({
        "metadata": { "name": "chat-0-decode" }, "spec": { "replicas": 1, "minAvailable": 1, "cliqueNames": ["leader"] },
    });
    create::<PodCliqueScalingGroup>(&cluster, group).await;
    for action in actions() {
        let action = match action {
            Action::LoseNode(_) => Action::LoseNode(Target::Node("n".to_owned())),
            other => other,
        };
        cluster.act(&action).await.unwrap_or_else(|error| panic!("{action:?}: {error}"));
    }
    let sets = cluster.api::<PodCliqueSet>();
    assert!(sets.get_opt("training").await.unwrap().is_none(), "deleted");
    let bindings: Api<ClusterTopologyBinding> = Api::all(cluster.client.clone());
    assert!(bindings.get_opt("tour").await.unwrap().is_some());
    let lost = nodes.get("n").await.unwrap();
    assert_eq!(lost.metadata.annotations.unwrap()["sandbox.grove.io/lost"], "true");
    let group = cluster.api::<PodCliqueScalingGroup>().get("chat-0-decode").await.unwrap();
    assert_eq!(group.spec.replicas, 2);
    let chat = sets.get("chat").await.unwrap();
    let images: Vec<String> = chat
        .spec()
        .template
        .cliques
        .iter()
        .map(|it| serde_json::to_value(&it.spec.pod_spec).unwrap()["containers"][0]["image"].to_string())
        .collect();
    let [router, engine] = ["\"registry.example.com/router:1.0\"", "\"registry.example.com/engine:2.0\""];
    assert_eq!(images, [router, engine, engine], "only cliques that request GPUs");
    // Deleting it again is no failure.
    cluster.act(&Action::DeleteSet("training")).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_done_says_why() {
    let server = server();
    let mut cluster = cluster(&server);
    let rows = [
        (Action::Apply("kind: [a"), ""),
        (Action::Apply("apiVersion: v1\nkind: Poem\nmetadata: { name: x }\n"), "Poem"),
        (Action::LoseNode(Target::OfGang("g")), "gang g"),
        (Action::LoseNode(Target::Node("n".to_owned())), "\"n\" not found"),
        (Action::ScaleGroup { name: "g", replicas: 2 }, "\"g\" not found"),
        (Action::SetImage { set: "s", image: "x" }, "\"s\" not found"),
    ];
    for (action, want) in rows {
        let error = cluster.act(&action).await.unwrap_err().to_string();
        assert!(error.contains(want), "{action:?}: {error}");
    }
}

#[tokio::test]
async fn drive_waits_for_what_the_follower_reports() {
    let server = server();
    let mut cluster = cluster(&server);
    let step = steps().into_iter().next().unwrap();
    let pods = cluster.api::<Pod>();
    let gangs = cluster.api::<grove_api::wire::PodGang>();
    let sets = cluster.api::<PodCliqueSet>();
    // What the operator, the scheduler and the kubelets would do.
    let playing = async {
        await_condition(sets, "training", |set: Option<&PodCliqueSet>| set.is_some()).await.unwrap();
        let gang = json!({
            "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
            "metadata": { "name": "training-0", "labels": { "app.kubernetes.io/part-of": "training" } },
            "spec": { "podgroups": [{ "name": "training-0-worker", "podReferences": [], "minReplicas": 5 }] },
        });
        let gang: grove_api::wire::PodGang = serde_json::from_value(gang).unwrap();
        gangs.create(&PostParams::default(), &gang).await.unwrap();
        let status = json!({ "status": { "phase": "Running", "conditions": [{
            "type": "Scheduled", "status": "True", "reason": "MinimumBound", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }] } });
        gangs.patch_status("training-0", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
        for index in 0..5 {
            let name = format!("training-0-worker-{index}");
            let pod = json!({
                "metadata": { "name": name, "labels": {
                    "app.kubernetes.io/part-of": "training", "grove.io/podgang": "training-0",
                    "grove.io/podclique": "training-0-worker",
                } },
                "spec": { "containers": [{ "name": "train", "image": "x" }], "nodeName": "n" },
            });
            let pod: Pod = serde_json::from_value(pod).unwrap();
            pods.create(&PostParams::default(), &pod).await.unwrap();
            let status = json!({ "status": { "conditions": [{ "type": "Ready", "status": "True" }] } });
            pods.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
        }
    };
    let mut outcomes = Vec::new();
    let say = |said: &Said| {
        if let Said::Outcome(text) = said {
            outcomes.push(text.clone());
        }
    };
    let touring = drive(&mut cluster, Tour::new(vec![step]), Duration::ZERO, say);
    let (ended, ()) = futures::future::join(touring, playing).await;
    assert_eq!(ended, Ended::Complete);
    assert!(outcomes[0].starts_with("One host is free."), "{outcomes:?}");
}
