//! KAI's Topology objects.

use grove_api::wire::ClusterTopologyBinding;
use grove_scheduler::{SchedulerBackend, kai::KaiBackend};
use serde_json::json;

fn binding(keys: &[&str]) -> ClusterTopologyBinding {
    let levels: Vec<_> = keys
        .iter()
        .enumerate()
        .map(|(number, key)| json!({ "domain": format!("d{number}"), "key": key }))
        .collect();
    serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding",
        "metadata": { "name": "hall" }, "spec": { "levels": levels },
    }))
    .unwrap()
}

#[test]
fn a_topology_has_the_labels_of_the_binding_in_their_order() {
    let part = KaiBackend.topology().unwrap();
    let object = part.render(&binding(&["zone", "example.com/rack", "kubernetes.io/hostname"]));
    assert_eq!(
        object.value,
        json!({
            "apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": { "name": "hall" },
            "spec": { "levels": [
                { "nodeLabel": "zone" }, { "nodeLabel": "example.com/rack" }, { "nodeLabel": "kubernetes.io/hostname" },
            ] },
        })
    );
    assert_eq!(object.resource.plural, "topologies");
    // KAI's own rule: levels do not change.
    assert_eq!(object.immutable, ["/spec/levels"]);
}

#[test]
fn a_topology_of_somebody_else_is_compared_by_its_labels() {
    let part = KaiBackend.topology().unwrap();
    let wants = binding(&["zone", "rack"]);
    let drift = |levels: serde_json::Value| part.drift(&wants, &json!({ "spec": { "levels": levels } }));
    assert_eq!(drift(json!([{ "nodeLabel": "zone", "alias": "z" }, { "nodeLabel": "rack" }])), None);
    let told = "its levels are [rack, zone], and the binding's [zone, rack]";
    assert_eq!(drift(json!([{ "nodeLabel": "rack" }, { "nodeLabel": "zone" }])).as_deref(), Some(told));
    let told = "its levels are [], and the binding's [zone, rack]";
    assert_eq!(part.drift(&wants, &json!({})).as_deref(), Some(told));
}
