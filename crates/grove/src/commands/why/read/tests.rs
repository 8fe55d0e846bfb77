use grove_api::schema::{CRDS, Crd};
use grove_apiserver::{ApiServer, Resources};
use k8s_openapi::jiff::Timestamp;
use kube::{api::PostParams, client::Body};
use serde_json::json;

use super::*;
use crate::commands::why::fixture::{after, backend, gang, pod};

/// A cluster with Grove's kinds but those that `without` names.
fn server(without: &str) -> ApiServer {
    let mut resources = Resources::kubernetes();
    for crd in CRDS.iter().map(Crd::to_value).filter(|it| it["spec"]["names"]["kind"] != without) {
        resources = resources.with_crd(&crd).unwrap();
    }
    ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1)
}

fn cluster(server: &ApiServer) -> Cluster {
    let client = Client::new(server.service(), "default");
    Cluster { client, server: "in memory".to_owned(), namespace: "default".to_owned() }
}

/// Two gangs of the set `chat`, and a pod of each; and strangers.
async fn filled(without: &str) -> Cluster {
    let cluster = cluster(&server(without));
    let params = PostParams::default();
    let set: PodCliqueSet = serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": "chat" },
        "spec": { "replicas": 1, "template": { "cliques": [] } },
    }))
    .unwrap();
    Api::default_namespaced(cluster.client.clone()).create(&params, &set).await.unwrap();
    let gangs: Api<PodGang> = Api::default_namespaced(cluster.client.clone());
    for name in ["chat-0", "chat-0-b-0"] {
        gangs.create(&params, &gang(name, &[])).await.unwrap();
    }
    let mut stranger = gang("other-0", &[]);
    stranger.metadata.labels = None;
    gangs.create(&params, &stranger).await.unwrap();
    let pods: Api<Pod> = Api::default_namespaced(cluster.client.clone());
    pods.create(&params, &pod("p", "chat-0-a", "chat-0", &json!({}))).await.unwrap();
    let scaled = pod("q", "chat-0-b", "chat-0-b-0", &json!({}));
    pods.create(&params, &after(scaled, "chat-0")).await.unwrap();
    let mut stranger = pod("alone", "", "", &json!({}));
    stranger.metadata.labels = None;
    pods.create(&params, &stranger).await.unwrap();
    if without.is_empty() {
        let backends: Api<SchedulerBackend> = Api::all(cluster.client.clone());
        backends.create(&params, &backend("volcano", "True", "", "")).await.unwrap();
    }
    cluster
}

fn names<K: kube::Resource>(objects: &[K]) -> Vec<String> {
    objects.iter().map(ResourceExt::name_any).collect()
}

async fn gangs(cluster: &Cluster, target: &str) -> Option<Facts> {
    match read(cluster, "default", &Registry::default(), &target.parse().unwrap()).await.unwrap() {
        Answer::Gangs(facts) => Some(*facts),
        Answer::Foreign(_) | Answer::Missing => None,
    }
}

#[tokio::test]
async fn what_belongs_to_what_was_asked_about() {
    let cluster = filled("").await;
    let facts = |target: &str| {
        let (cluster, target) = (cluster.clone(), target.to_owned());
        async move { gangs(&cluster, &target).await }
    };
    let set = facts("chat").await.unwrap();
    assert_eq!(
        (names(&set.gangs), names(&set.pods)),
        (vec!["chat-0".to_owned(), "chat-0-b-0".to_owned()], vec!["p".to_owned(), "q".to_owned()])
    );
    assert_eq!((set.gang, set.pod), (None, None));
    assert_eq!(set.backends.map(|it| it.len()), Some(1));

    let gang = facts("podgang/chat-0-b-0").await.unwrap();
    assert_eq!((gang.set.as_str(), gang.gang.as_deref()), ("chat", Some("chat-0-b-0")));
    assert_eq!(names(&gang.pods), ["q"]);

    let pod = facts("pod/p").await.unwrap();
    assert_eq!((pod.gang.as_deref(), pod.pod.as_deref()), (Some("chat-0"), Some("p")));
    assert_eq!(names(&pod.pods), ["p"]);

    for missing in ["other", "podgang/chat", "pod/chat-0"] {
        assert!(facts(missing).await.is_none(), "{missing}");
    }
}

#[tokio::test]
async fn a_pod_of_nobody_is_another_s() {
    let cluster = filled("").await;
    let answer =
        read(&cluster, "default", &Registry::default(), &Target::Pod("alone".to_owned())).await.unwrap();
    assert!(matches!(answer, Answer::Foreign(pod) if pod.name_any() == "alone"));
}

#[tokio::test]
async fn backends_that_cannot_be_read_stop_nothing() {
    let cluster = filled("SchedulerBackend").await;
    let facts = gangs(&cluster, "chat").await.unwrap();
    assert_eq!((facts.gangs.len(), facts.backends), (2, None));
}

#[tokio::test]
async fn only_who_is_refused_does_without_backends() {
    for (code, stops) in [(403, false), (404, false), (500, true)] {
        let answer = move |_: http::Request<Body>| async move {
            let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "code": code });
            let body = Body::from(status.to_string().into_bytes());
            http::Response::builder().status(code).body(body)
        };
        let client = Client::new(tower::service_fn(answer), "default");
        let cluster = Cluster { client, server: "in memory".to_owned(), namespace: String::new() };
        assert_eq!(backends(&cluster).await.is_err(), stops, "{code}");
    }
}

#[tokio::test]
async fn a_cluster_without_our_kinds_is_told() {
    let cluster = cluster(&ApiServer::new(Resources::kubernetes(), || Timestamp::UNIX_EPOCH, 1));
    let answer = read(&cluster, "default", &Registry::default(), &Target::Set("chat".to_owned())).await;
    let error = answer.err().unwrap().to_string();
    assert!(error.contains("grove crds | kubectl apply"), "{error}");
}

/// Nodes are asked for only where a scheduler refuses a gang, and who may not read them does without.
#[tokio::test]
async fn nodes_are_read_where_they_matter() {
    let cluster = filled("").await;
    let params = PostParams::default();
    let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(cluster.client.clone());
    let node = json!({
        "metadata": { "name": "n0", "labels": { "a": "b" } }, "spec": { "unschedulable": true },
        "status": { "allocatable": { "cpu": "8" } },
    });
    nodes.create(&params, &serde_json::from_value(node).unwrap()).await.unwrap();
    assert_eq!(gangs(&cluster, "chat").await.unwrap().nodes, None);
    let gangs_api: Api<PodGang> = Api::default_namespaced(cluster.client.clone());
    let waits = gang("chat-1", &[("Scheduled", "False", "Unschedulable", "no room")]);
    gangs_api.create(&params, &waits).await.unwrap();
    gangs_api
        .replace_status("chat-1", &params, &{
            let mut there = gangs_api.get("chat-1").await.unwrap();
            there.status = waits.status;
            there
        })
        .await
        .unwrap();
    let found = gangs(&cluster, "chat").await.unwrap().nodes.unwrap();
    assert_eq!((found.len(), found[0].name.as_str(), found[0].is_cordoned), (1, "n0", true));
    assert_eq!(gangs(&cluster, "podgang/chat-0").await.unwrap().nodes, None, "another gang was asked about");
}

#[tokio::test]
async fn nodes_that_may_not_be_read_stop_nothing() {
    for (code, stops) in [(403, false), (500, true)] {
        let answer = move |_: http::Request<Body>| async move {
            let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "code": code });
            http::Response::builder().status(code).body(Body::from(status.to_string().into_bytes()))
        };
        let client = Client::new(tower::service_fn(answer), "default");
        let cluster = Cluster { client, server: "in memory".to_owned(), namespace: String::new() };
        assert_eq!(nodes::read(&cluster).await.is_err(), stops, "{code}");
    }
}

#[tokio::test]
async fn groups_and_cliques_lead_to_their_gangs() {
    let cluster = filled("").await;
    let params = PostParams::default();
    let labelled = |name: &str, gang: &str| json!({ "name": name, "labels": { "app.kubernetes.io/part-of": "chat", "grove.io/podgang": gang } });
    let clique = json!({
        "metadata": labelled("chat-0-b", "chat-0-b-0"),
        "spec": { "roleName": "b", "replicas": 1, "minAvailable": 1, "podSpec": { "containers": [] } },
    });
    let cliques: Api<PodClique> = Api::default_namespaced(cluster.client.clone());
    cliques.create(&params, &serde_json::from_value(clique).unwrap()).await.unwrap();
    let group = json!({
        "metadata": labelled("chat-0-g", ""), "spec": { "replicas": 1, "minAvailable": 1, "cliqueNames": ["b"] },
    });
    let groups: Api<PodCliqueScalingGroup> = Api::default_namespaced(cluster.client.clone());
    groups.create(&params, &serde_json::from_value(group).unwrap()).await.unwrap();
    let pods: Api<Pod> = Api::default_namespaced(cluster.client.clone());
    let member = json!({ "metadata": { "labels": { "grove.io/podcliquescalinggroup": "chat-0-g" } } });
    pods.patch("q", &kube::api::PatchParams::default(), &kube::api::Patch::Merge(member)).await.unwrap();
    let asked = |facts: Facts| -> Vec<String> {
        names(&facts.gangs.iter().filter(|it| facts.is_asked(it)).cloned().collect::<Vec<_>>())
    };
    for target in ["pclq/chat-0-b", "pcsg/chat-0-g"] {
        assert_eq!(asked(gangs(&cluster, target).await.unwrap()), ["chat-0-b-0"], "{target}");
    }
    assert!(gangs(&cluster, "pcsg/chat-0-x").await.is_none());
}

#[tokio::test]
async fn a_name_that_is_not_there_is_like_another_one() {
    let cluster = filled("").await;
    let similar = async |target: &str| target.parse::<Target>().unwrap().similar(&cluster, "default").await;
    assert_eq!(similar("chatt").await.as_deref(), Some("chat"));
    assert_eq!(similar("gang/chat-O").await.as_deref(), Some("chat-0"));
    assert_eq!(similar("gang/something").await, None);
    assert_eq!(similar("job/chat").await, None);
}

#[tokio::test]
async fn who_preempted_a_gang_is_read_from_events() {
    let cluster = filled("").await;
    let events: Api<k8s_openapi::api::core::v1::Event> = Api::default_namespaced(cluster.client.clone());
    for (name, reason) in [("one", "Preempted"), ("two", "FailedScheduling")] {
        let event = json!({
            "metadata": { "name": name },
            "involvedObject": { "kind": "PodGroup", "namespace": "default", "name": "chat-0" },
            "reason": reason, "message": "preempted by default/high",
        });
        events.create(&PostParams::default(), &serde_json::from_value(event).unwrap()).await.unwrap();
    }
    let facts = gangs(&cluster, "chat").await.unwrap();
    let want = [(("default".to_owned(), "chat-0".to_owned()), "preempted by default/high".to_owned())];
    assert_eq!(facts.preemptions, want.into());
}
