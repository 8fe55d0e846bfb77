//! Volcano as different clusters have it.

use std::sync::Arc;

use grove_scheduler::{Gang, Object, Probed, Scheduler, SchedulerBackend, volcano::VolcanoBackend};
use kube::core::GroupVersionResource;
use serde_json::{Value, json};

/// Releases whose PodGroups differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Volcano {
    V11,
    V12,
    V14,
}

/// The CRD of a release, as far as it is looked at.
pub(crate) fn definition(release: Volcano) -> Value {
    let mut spec = json!({ "minMember": {}, "minTaskMember": {}, "queue": {} });
    if release != Volcano::V11 {
        spec["networkTopology"] = json!({ "properties": { "mode": {}, "highestTierAllowed": {} } });
    }
    if release == Volcano::V14 {
        spec["networkTopology"]["properties"]["highestTierName"] = json!({});
        spec["subGroupPolicy"] = json!({ "items": { "properties": { "name": {}, "minSubGroups": {} } } });
    }
    let schema = json!({ "openAPIV3Schema": { "properties": { "spec": { "properties": spec } } } });
    json!({ "spec": { "versions": [{ "name": "v1beta1", "served": true, "schema": schema }] } })
}

/// The resource of HyperNodes.
pub(crate) fn hyper_nodes() -> GroupVersionResource {
    GroupVersionResource::gvr("topology.volcano.sh", "v1alpha1", "hypernodes")
}

/// A HyperNode.
pub(crate) fn hyper_node(tier: i64, tier_name: &str) -> Value {
    json!({ "spec": { "tier": tier, "tierName": tier_name } })
}

/// A cluster with that CRD and nothing that says a word about HyperNodes.
pub(crate) fn bare(release: Volcano) -> Probed {
    Probed::default().with_definition("podgroups.scheduling.volcano.sh", definition(release))
}

/// A cluster with that CRD, and HyperNodes of racks, blocks and zones.
pub(crate) fn cluster(release: Volcano) -> Probed {
    let nodes =
        vec![hyper_node(1, "rack"), hyper_node(1, "rack"), hyper_node(2, "block"), hyper_node(3, "zone")];
    bare(release).with_served(&hyper_nodes(), true).with_objects(&hyper_nodes(), nodes)
}

/// The scheduler of a cluster.
pub(crate) fn volcano(cluster: &Probed) -> Arc<dyn Scheduler> {
    VolcanoBackend.init(&json!({}), cluster).unwrap()
}

/// What is rendered for a gang, which is always one PodGroup.
pub(crate) fn rendered(release: Volcano, gang: &Gang, existing: &[Value]) -> Object {
    let mut objects = volcano(&cluster(release)).render(gang, existing).unwrap();
    assert_eq!(objects.len(), 1);
    objects.remove(0)
}

/// The PodGroup of `web-0` with this spec.
pub(crate) fn pod_group(spec: Value) -> Value {
    json!({
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": { "name": "web-0", "namespace": "ns", "labels": { "app.kubernetes.io/part-of": "web" } },
        "spec": spec,
    })
}

/// The policy of one group.
pub(crate) fn policy(name: &str, size: u32) -> Value {
    json!({
        "name": name,
        "labelSelector": { "matchLabels": { "grove.io/podclique": name } },
        "matchLabelKeys": ["grove.io/podclique"],
        "subGroupSize": size,
        "minSubGroups": 1,
    })
}

/// The policy of a bundle.
pub(crate) fn bundle_policy(name: &str, groups: &[&str], size: u32) -> Value {
    json!({
        "name": name,
        "labelSelector": {
            "matchExpressions": [{ "key": "grove.io/podclique", "operator": "In", "values": groups }],
        },
        "matchLabelKeys": ["grove.io/podgang"],
        "subGroupSize": size,
        "minSubGroups": 1,
    })
}

/// One domain of a level has to hold.
pub(crate) fn hard(key: &str) -> Value {
    json!({ "mode": "hard", "highestTierName": key })
}

/// As close together as possible.
pub(crate) fn soft() -> Value {
    json!({ "mode": "soft" })
}

/// A policy with a placement.
pub(crate) fn with_network(mut policy: Value, network: Value) -> Value {
    policy["networkTopology"] = network;
    policy
}
