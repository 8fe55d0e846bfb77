//! Topologies that the caches do not have yet.

use grove_api::{schema::CRDS, wire::TopologyLevel};
use grove_apiserver::{Action, ApiServer, Resources, WriteRequest};
use k8s_openapi::jiff::Timestamp;
use kube::{Client, api::ApiResource, core::GroupVersionKind};

use super::*;
use crate::admission::live::{read, unknown_topology};

const POLICY: &str = "/spec/template/schedulingPolicyConfig";
/// A topology that the caches have.
const KNOWN: &str = "known";

/// The topology that is asked for before a request about this set is refused.
fn asked_for(operation: &str, set: &Value) -> Option<String> {
    let mut environment = environment();
    let level = TopologyLevel { domain: "rack".to_owned(), key: "a/rack".to_owned() };
    environment.topologies.insert(KNOWN.to_owned(), vec![level]);
    let snapshot = Snapshot { environment, ..Snapshot::default() };
    let old = if operation == "CREATE" { Value::Null } else { stored(&super::set()) };
    let request = request(operation, set, &old);
    unknown_topology(&request, &judge(webhooks::SET_VALIDATING.path, &request, &snapshot))
}

#[test]
fn only_a_topology_that_nobody_knows_is_asked_for() {
    let named = |name: &str| with(POLICY, json!({ "topologyName": name }));
    let constraint = json!({ "topologyName": "dc", "pack": { "required": "rack" } });
    assert_eq!(asked_for("CREATE", &named("dc")).as_deref(), Some("dc"));
    assert_eq!(
        asked_for("CREATE", &with("/spec/template/topologyConstraint", constraint)).as_deref(),
        Some("dc")
    );
    let spread = json!({ "topologyName": "dc", "topologyDomain": "zone" });
    assert_eq!(asked_for("CREATE", &with("/spec/replicaSpread", spread.clone())).as_deref(), Some("dc"));
    let mut spread_later = stored(&set());
    spread_later["spec"]["replicaSpread"] = spread;
    assert_eq!(asked_for("UPDATE", &spread_later).as_deref(), Some("dc"));
    // The cache may have levels that were changed since.
    let deep = |level: &str| {
        let constraint = json!({ "topologyName": KNOWN, "pack": { "required": level } });
        asked_for("CREATE", &with("/spec/template/topologyConstraint", constraint))
    };
    assert_eq!((deep("moon").as_deref(), deep("rack")), (Some(KNOWN), None));
    let key =
        json!({ "topologyName": KNOWN, "groupingConstraints": { "required": { "topologyKey": "a/moon" } } });
    assert_eq!(asked_for("CREATE", &with(POLICY, key)).as_deref(), Some(KNOWN));
    // Neither what is taken nor what is refused for something else costs a question.
    assert_eq!(asked_for("CREATE", &stored(&set())), None);
    let wrong = with("/spec/template/cliques/0/spec/minAvailable", json!(5));
    assert_eq!(asked_for("CREATE", &wrong), None);
}

/// The name becomes a part of a path: it must not lead to other objects.
#[test]
fn only_names_of_objects_are_asked_for() {
    let long = "a".repeat(254);
    for name in
        ["../pods", "a/b", "a?watch=1", "a#b", "..", ".", "A", "a b", "a%2fb", "-a", "a-", long.as_str()]
    {
        assert_eq!(asked_for("CREATE", &with(POLICY, json!({ "topologyName": name }))), None, "{name}");
    }
    for name in ["a", "gpu-hall.example", "0"] {
        let asked = asked_for("CREATE", &with(POLICY, json!({ "topologyName": name })));
        assert_eq!(asked.as_deref(), Some(name));
    }
}

/// An API server with a ClusterTopologyBinding `dc` and a Topology `hall` of Kueue.
fn server() -> (Client, ApiResource) {
    let kind = GroupVersionKind::gvk("kueue.x-k8s.io", "v1beta1", "Topology");
    let kueue = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "topologies.kueue.x-k8s.io" },
        "spec": {
            "group": "kueue.x-k8s.io", "scope": "Cluster",
            "names": { "kind": "Topology", "plural": "topologies", "singular": "topology", "listKind": "TopologyList" },
            "versions": [{ "name": "v1beta1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            } } }],
        },
    });
    let mut resources = Resources::kubernetes().with_crd(&kueue).unwrap();
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    let server = ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1);
    let topology = json!({
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology", "metadata": { "name": "hall" },
        "spec": { "levels": [{ "nodeLabel": "a/rack" }] },
    });
    let mut dc = binding("kai-scheduler", "rack");
    dc["metadata"]["name"] = "dc".into();
    for (resource, object) in
        [("clustertopologybindings.grove.io", dc), ("topologies.kueue.x-k8s.io", topology)]
    {
        let resource = Arc::clone(server.resources().by_id(resource).unwrap());
        let action = Action::Create(object);
        let request = WriteRequest {
            resource,
            namespace: String::new(),
            name: String::new(),
            subresource: None,
            manager: "admin".to_owned(),
            dry_run: false,
            action,
        };
        server.write(request).unwrap();
    }
    let resource = ApiResource::from_gvk_with_plural(&kind, "topologies");
    (Client::new(server.service(), "grove"), resource)
}

#[tokio::test]
async fn both_kinds_of_topologies_are_read() {
    let (client, kueue) = server();
    let found =
        async |kueue: Option<&ApiResource>, name: &str| read(client.clone(), kueue.cloned(), name).await;
    let Some(LiveTopology::Binding(levels)) = found(Some(&kueue), "dc").await else { panic!("no binding") };
    assert_eq!(levels.iter().map(|it| it.domain.as_str()).collect::<Vec<_>>(), ["zone", "rack"]);
    let Some(LiveTopology::Kueue(levels)) = found(Some(&kueue), "hall").await else { panic!("no Topology") };
    assert_eq!(levels.iter().map(|it| it.key.as_str()).collect::<Vec<_>>(), ["a/rack"]);
    assert_eq!(found(None, "hall").await, None, "there is no Kueue");
    assert_eq!(found(Some(&kueue), "gone").await, None);
}
