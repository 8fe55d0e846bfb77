use std::sync::{Arc, Mutex};

use grove_apiserver::{ApiServer, Resource, Resources};
use k8s_openapi::jiff::Timestamp;
use kube::{api::PostParams, client::Body};
use serde_json::{Value, json};

use super::*;
use crate::commands::topology::fixture::ZONE;

fn cluster(client: Client) -> Cluster {
    Cluster { client, server: "in memory".to_owned(), namespace: "default".to_owned() }
}

/// A server that answers what `answer` says to a path with its query.
fn answering(answer: impl Fn(&str) -> (u16, Value) + Clone + Send + Sync + 'static) -> Client {
    let service = move |request: http::Request<Body>| {
        let (code, value) = answer(&request.uri().to_string());
        async move { http::Response::builder().status(code).body(Body::from(value.to_string().into_bytes())) }
    };
    Client::new(tower::service_fn(service), "default")
}

fn refusal(code: u16, message: &str) -> (u16, Value) {
    (
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code }),
    )
}

fn list(names: &[&str], next: &str) -> (u16, Value) {
    let items: Vec<Value> = names.iter().map(|it| json!({ "metadata": { "name": it } })).collect();
    (200, json!({ "kind": "NodeList", "apiVersion": "v1", "metadata": { "continue": next }, "items": items }))
}

#[tokio::test]
async fn lists_come_in_pages_and_begin_anew_where_a_page_is_too_old() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    // The second page is too old the first time.
    let client = answering(move |uri| {
        let mut log = log.lock().unwrap();
        let first_time = !log.iter().any(|it: &String| it.contains("continue=second"));
        log.push(uri.to_owned());
        match uri {
            it if it.contains("continue=second") && first_time => refusal(410, "too old"),
            it if it.contains("continue=second") => list(&["c"], ""),
            _ => list(&["b", "a"], "second"),
        }
    });
    let nodes = nodes(&cluster(client), "nvidia.com/gpu").await.unwrap();
    let names: Vec<&str> = nodes.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 4, "{asked:?}");
    assert!(asked.iter().all(|it| it.contains("limit=500")), "{asked:?}");
}

#[tokio::test]
async fn lists_that_are_always_too_old_end() {
    let client = answering(|_| refusal(410, "too old"));
    let error = nodes(&cluster(client), "nvidia.com/gpu").await.unwrap_err();
    assert_eq!(error.to_string(), "in memory: too old");
}

/// One binding, and a refusal of what the path of a request has in it.
fn refusing(what: &'static str, code: u16) -> Cluster {
    cluster(answering(move |uri| {
        let empty = json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": [] });
        let binding = json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "cluster" },
            "spec": { "levels": [{ "domain": "zone", "key": ZONE }] },
        });
        let versions = json!([{ "groupVersion": "kueue.x-k8s.io/v1beta2", "version": "v1beta2" }]);
        match uri {
            it if it.contains(what) => refusal(code, "it is forbidden"),
            it if it.ends_with("/apis") => (
                200,
                json!({
                    "kind": "APIGroupList", "apiVersion": "v1",
                    "groups": [{ "name": "kueue.x-k8s.io", "versions": versions }],
                }),
            ),
            it if it.contains("/clustertopologybindings") => {
                (200, json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": [binding] }))
            }
            _ => (200, empty),
        }
    }))
}

#[tokio::test]
async fn what_must_not_be_read_stops_only_what_needs_it() {
    let rows = [
        ("/pods", 403, Ok((false, true, false))),
        ("/podgangs", 403, Ok((true, false, false))),
        ("/podgangs", 404, Ok((true, false, false))),
        ("/topologies", 403, Ok((true, true, true))),
        ("/topologies", 404, Ok((true, true, false))),
        ("/nothing", 403, Ok((true, true, false))),
        ("/nodes", 403, Err("in memory: it is forbidden")),
        ("/clustertopologybindings", 403, Err("in memory: it is forbidden")),
        ("/pods", 500, Err("in memory: it is forbidden")),
        ("/topologies", 500, Err("in memory: it is forbidden")),
    ];
    for (what, code, want) in rows {
        let facts = read(&refusing(what, code), None, "nvidia.com/gpu").await;
        let got = facts.map(|it| (it.pods.is_some(), it.gangs.is_some(), it.kueue_refused));
        assert_eq!(got.map_err(|it| it.to_string()), want.map_err(str::to_owned), "{what} {code}");
    }
}

/// Kueue with its Topology in one version, and another kind in another.
fn kueue_server(version: &str, other: &str) -> ApiServer {
    let mut topology = Resource::custom(KueueTopology::GROUP, version, "Topology", "topologies");
    topology.namespaced = false;
    let resources = Resources::kubernetes().with(topology).with(Resource::custom(
        KueueTopology::GROUP,
        other,
        "LocalQueue",
        "localqueues",
    ));
    ApiServer::new(resources, || Timestamp::UNIX_EPOCH, 1)
}

#[tokio::test]
async fn topologies_of_kueue_in_whichever_version_is_served() {
    for (version, other) in [("v1beta2", "v1beta1"), ("v1beta1", "v1beta2"), ("v1alpha1", "v1beta1")] {
        let cluster = cluster(Client::new(kueue_server(version, other).service(), "default"));
        let resource = ApiResource::from_gvk_with_plural(
            &GroupVersionKind::gvk(KueueTopology::GROUP, version, "Topology"),
            "topologies",
        );
        let api: Api<DynamicObject> = Api::all_with(cluster.client.clone(), &resource);
        let levels = [
            "cloud.google.com/gce-topology-block",
            "cloud.provider.com/topology-block",
            "kubernetes.io/hostname",
        ];
        let object = DynamicObject::new("default", &resource).data(json!({
            "spec": { "levels": levels.map(|it| json!({ "nodeLabel": it })) },
        }));
        api.create(&PostParams::default(), &object).await.unwrap();
        // Without Grove's kinds, too.
        let facts = read(&cluster, None, "nvidia.com/gpu").await.unwrap();
        let [topology] = &facts.topologies[..] else { panic!("{version}: {:?}", facts.topologies) };
        assert_eq!((topology.name.as_str(), topology.kind), ("default", Kind::Kueue), "{version}");
        let got: Vec<(&str, &str)> =
            topology.levels.iter().map(|it| (it.domain.as_str(), it.key.as_str())).collect();
        assert_eq!(got, [("block", levels[0]), ("block-2", levels[1]), ("host", levels[2])], "{version}");
        assert_eq!((facts.gangs.is_none(), facts.kueue_refused), (true, false), "{version}");
    }
}

#[test]
fn which_nodes_pods_may_come_to() {
    let rows = [
        (json!({}), json!([{ "type": "Ready", "status": "True" }]), NodeState::Usable),
        (
            json!({ "unschedulable": true }),
            json!([{ "type": "Ready", "status": "True" }]),
            NodeState::Cordoned,
        ),
        (
            json!({ "unschedulable": true }),
            json!([{ "type": "Ready", "status": "False" }]),
            NodeState::NotReady,
        ),
        (json!({}), json!([{ "type": "Ready", "status": "Unknown" }]), NodeState::NotReady),
        (json!({}), json!([{ "type": "MemoryPressure", "status": "True" }]), NodeState::NotReady),
        // One that no kubelet has spoken for yet.
        (json!({}), json!([]), NodeState::NotReady),
    ];
    for (spec, conditions, want) in rows {
        let object = json!({
            "metadata": { "name": "n" }, "spec": spec, "status": { "conditions": conditions, "allocatable": { "a": "3" } },
        });
        let seen = node(serde_json::from_value(object).unwrap(), "a");
        assert_eq!((seen.state, seen.allocatable), (want, Amount::whole(3)));
    }
}
