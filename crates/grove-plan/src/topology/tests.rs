//! Topologies of both kinds.

use grove_api::wire::{KueueTopologyLevel, KueueTopologySpec};
use serde_json::json;

use super::*;

fn binding() -> ClusterTopologyBinding {
    let level = |domain: &str| json!({ "domain": domain, "key": format!("example.com/{domain}") });
    let levels = [level("zone"), level("rack")];
    serde_json::from_value(json!({ "metadata": { "name": "dc" }, "spec": { "levels": levels } })).unwrap()
}

fn kueue(labels: &[&str]) -> KueueTopology {
    let levels = labels.iter().map(|it| KueueTopologyLevel { node_label: (*it).to_owned() }).collect();
    let mut topology = KueueTopology { spec: KueueTopologySpec { levels }, ..KueueTopology::default() };
    topology.metadata.name = Some("hall".to_owned());
    topology
}

#[test]
fn a_binding_has_names_for_its_levels() {
    let topology = Topology::from(&binding());
    assert_eq!(topology.name, "dc");
    assert_eq!(topology.key_of("rack"), Some("example.com/rack"));
    assert_eq!(topology.key_of("example.com/rack"), None, "that is its label");
    assert!(topology.has_key("example.com/rack") && !topology.has_key("rack"));
    assert_eq!(topology.narrowest(), Some("example.com/rack"));
}

#[test]
fn a_topology_of_kueue_calls_its_levels_by_their_labels() {
    let topology = Topology::from(&kueue(&["example.com/block", "kubernetes.io/hostname"]));
    assert_eq!(topology.name, "hall");
    assert_eq!(topology.key_of("example.com/block"), Some("example.com/block"));
    assert!(topology.has_key("example.com/block") && !topology.has_key("block"));
    assert_eq!(topology.narrowest(), Some("kubernetes.io/hostname"));
    assert_eq!(Topology::from(&kueue(&[])).narrowest(), None);
}
