//! Gangs on described and on read clusters.

use grove_api::{schema::CRDS, validation::Environment};
use grove_apiserver::{ApiServer, Resources};
use grove_scheduler::builtin::builtin;
use k8s_openapi::{api::core::v1 as core, jiff::Timestamp};
use kube::{Api, Client, api::PostParams};
use serde_json::{Value, json};

use super::*;
use crate::{
    cluster::Cluster as Asked,
    commands::plan::{room, schedulers::Schedulers, sets::Sets},
    findings::Report,
    input::Source,
};

/// A clique `NAME=MINIMUM/PODS` of pods with so many GPUs each.
fn clique(text: &str, gpus: u32) -> Value {
    let (name, numbers) = text.split_once('=').unwrap();
    let (minimum, pods) = numbers.split_once('/').unwrap();
    let numbers = |it: &str| it.parse::<u32>().unwrap();
    json!({ "name": name, "spec": {
        "roleName": name, "replicas": numbers(pods), "minAvailable": numbers(minimum),
        "podSpec": { "containers": [{ "name": "c", "image": "i",
            "resources": { "limits": { "nvidia.com/gpu": gpus.to_string() } } }] },
    } })
}

fn set(cliques: &[Value], template: &Value) -> Value {
    let mut set = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": "s" },
        "spec": { "replicas": 1, "template": template },
    });
    set["spec"]["template"]["cliques"] = json!(cliques);
    set
}

/// By gang: `GANG yes NODES[, UNPLACED left]` or `GANG no: WHY`.
fn planned(mut room: Room, sets: &[Value]) -> Vec<String> {
    let registry = builtin();
    let mut schedulers = Schedulers::new(&registry, None, &mut Report::default()).unwrap().unwrap();
    let text = |it: &Value| Source { name: "set".to_owned(), text: it.to_string() };
    let sources: Vec<Source> = sets.iter().map(text).collect();
    let sets = Sets::read(&sources, Environment::default(), Some(&room), &mut schedulers, "default");
    let sets = sets.map_err(|it| it.findings).unwrap().sets;
    let objects: Vec<Objects> = sets.iter().map(|it| Objects::of(it).unwrap()).collect();
    room.prepare(&sets);
    let fits = place_all(&room, &objects).unwrap();
    let gangs = objects.iter().flat_map(|it| &it.gangs).zip(fits.into_iter().flatten());
    gangs.map(|(gang, fit)| format!("{} {}", gang.tree.name, told(fit))).collect()
}

fn told(fit: Fit) -> String {
    match fit {
        Fit::Fits { nodes, unplaced, .. } => format!("yes {}, {} left", nodes.len(), unplaced.len()),
        Fit::NoRoom { why } => format!("no: {why}"),
        Fit::Waits { base } => format!("waits for {base}"),
        Fit::Unknown { tried } => format!("gave up after {tried}"),
    }
}

fn described(text: &str) -> Room {
    Room::described(text).unwrap()
}

#[test]
fn pods_above_a_minimum_take_no_room_that_another_gang_needs() {
    let mut two = set(&[clique("a=1/3", 8)], &json!({}));
    two["spec"]["replicas"] = json!(2);
    // Placed gang by gang with all pods, the first would take all three nodes.
    assert_eq!(
        planned(described("hosts=3,gpus=8"), &[two.clone()]),
        ["s-0 yes 2, 1 left", "s-1 yes 1, 2 left"]
    );
    assert_eq!(
        planned(described("hosts=6,gpus=8"), &[two.clone()]),
        ["s-0 yes 3, 0 left", "s-1 yes 3, 0 left"]
    );
    let none = planned(described("hosts=1,gpus=8"), &[two]);
    assert_eq!(none[0], "s-0 yes 1, 0 left".replace("0 left", "2 left"));
    assert!(none[1].starts_with("s-1 no: "), "{none:?}");
}

#[test]
fn a_scaled_gang_goes_after_its_base_gang() {
    let groups = json!({ "podCliqueScalingGroups": [
        { "name": "g", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1 } ] });
    let set = set(&[clique("a=1/1", 8), clique("b=1/1", 8)], &groups);
    assert_eq!(
        planned(described("hosts=3,gpus=8"), std::slice::from_ref(&set)),
        ["s-0 yes 2, 0 left", "s-0-g-0 yes 1, 0 left"]
    );
    let short = planned(described("hosts=2,gpus=8"), std::slice::from_ref(&set));
    assert_eq!(short[0], "s-0 yes 2, 0 left");
    assert!(short[1].starts_with("s-0-g-0 no: "), "{short:?}");
    // Its own pod would have room.
    let none = planned(described("hosts=1,gpus=8"), &[set]);
    assert!(none[0].starts_with("s-0 no: "), "{none:?}");
    assert_eq!(none[1], "s-0-g-0 waits for s-0");
}

#[test]
fn a_required_level_is_told_with_numbers() {
    let rack = json!({ "topologyConstraint": { "topologyName": "dc", "pack": { "required": "rack" } } });
    let set = set(&[clique("a=3/3", 8)], &rack);
    assert_eq!(
        planned(described("racks=2,hosts=3,gpus=8"), std::slice::from_ref(&set)),
        ["s-0 yes 3, 0 left"]
    );
    let why = planned(described("racks=3,hosts=2,gpus=8"), &[set]);
    assert_eq!(why, ["s-0 no: s-0: needs 24 nvidia.com/gpu in one rack; the best rack, rack-0, has 16 free"]);
}

/// Labels that the binding has for racks are those of the described racks.
#[test]
fn described_racks_are_those_of_the_binding() {
    let binding = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "dc" },
        "spec": { "levels": [{ "domain": "rack", "key": "example.com/rack" }] },
    });
    let rack = json!({ "topologyConstraint": { "topologyName": "dc", "pack": { "required": "rack" } } });
    let set = set(&[clique("a=2/2", 8)], &rack);
    assert_eq!(
        planned(described("racks=2,hosts=2,gpus=8"), &[binding.clone(), set.clone()]),
        ["s-0 yes 2, 0 left"]
    );
    let why = planned(described("racks=2,hosts=1,gpus=8"), &[binding, set]);
    assert!(why[0].contains("in one rack; the best rack, rack-0, has 8 free"), "{why:?}");
}

#[test]
fn sets_share_the_nodes() {
    let (one, mut other) = (set(&[clique("a=2/2", 8)], &json!({})), set(&[clique("a=2/2", 8)], &json!({})));
    other["metadata"]["name"] = json!("t");
    let got = planned(described("hosts=3,gpus=8"), &[one, other]);
    assert_eq!(got[0], "s-0 yes 2, 0 left");
    assert!(got[1].starts_with("t-0 no: "), "{got:?}");
}

async fn create<K>(client: &Client, objects: &[Value])
where
    K: kube::Resource<DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
        + serde::Serialize,
{
    for it in objects {
        let path = format!("{}?", K::url_path(&(), it["metadata"]["namespace"].as_str()));
        let body = serde_json::to_vec(it).unwrap();
        let request =
            http::Request::post(path).header("content-type", "application/json").body(body).unwrap();
        client.request::<K>(request).await.unwrap();
    }
}

#[tokio::test]
async fn a_cluster_is_read_with_its_pods_and_nothing_is_written() {
    let mut resources = Resources::kubernetes();
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    let server = ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1);
    let client = Client::new(server.service(), "default");
    let node = |name: &str| {
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
            "status": { "allocatable": { "nvidia.com/gpu": "8", "pods": "10" } } })
    };
    let pod = |name: &str, set: &str, node: &str, phase: &str| {
        json!({ "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": name, "namespace": "default", "labels": { "app.kubernetes.io/part-of": set } },
            "spec": { "nodeName": node, "containers": [{ "name": "c", "image": "i",
                "resources": { "requests": { "nvidia.com/gpu": "8" }, "limits": { "nvidia.com/gpu": "8" } } }] },
            "status": { "phase": phase } })
    };
    create::<core::Node>(&client, &[node("n1"), node("n2"), node("n3")]).await;
    // Of the set itself, of another one, and one that has ended.
    let pods = [
        pod("own", "s", "n1", "Running"),
        pod("other", "t", "n2", "Running"),
        pod("over", "t", "n3", "Succeeded"),
    ];
    create::<core::Pod>(&client, &pods).await;
    let status = Api::<core::Pod>::namespaced(client.clone(), "default");
    let over = kube::api::Patch::Merge(json!({ "status": { "phase": "Succeeded" } }));
    status.patch_status("over", &kube::api::PatchParams::default(), &over).await.unwrap();
    let nodes = Api::<core::Node>::all(client.clone());
    for name in ["n1", "n2", "n3"] {
        let patch = kube::api::Patch::Merge(
            json!({ "status": { "allocatable": { "nvidia.com/gpu": "8", "pods": "10" } } }),
        );
        nodes.patch_status(name, &kube::api::PatchParams::default(), &patch).await.unwrap();
    }
    let binding = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "dc" },
        "spec": { "levels": [{ "domain": "rack", "key": "example.com/rack" }] },
    });
    let api: Api<grove_api::wire::ClusterTopologyBinding> = Api::all(client.clone());
    api.create(&PostParams::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();

    let asked = Asked { client, server: "in memory".to_owned(), namespace: "default".to_owned() };
    let mut environment = Environment::default();
    room::topologies(&asked, &mut environment).await.unwrap();
    assert_eq!(environment.topology("dc").map(<[_]>::len), Some(1));
    let read = || async { Room::of_cluster(&asked).await.unwrap() };
    assert_eq!(planned(read().await, &[set(&[clique("a=2/2", 8)], &json!({}))]), ["s-0 yes 2, 0 left"]);
    let why = planned(read().await, &[set(&[clique("a=3/3", 8)], &json!({}))]);
    assert!(why[0].contains("needs 24 nvidia.com/gpu in all; 16 free"), "{why:?}");
}
