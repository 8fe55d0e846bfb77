//! KAI's Topology objects, and KAI without them.

use grove_api::wire::ClusterTopologyBinding;
use grove_scheduler::{Answer, Feature, SchedulerBackend, kai::KaiBackend};
use serde_json::json;

use crate::{
    cluster::{Kai, kai, queued, without_topologies},
    common::{both, gang, group, placed, preferred, required},
};

const WHY: &str =
    "the cluster has no CRD topologies.kai.scheduler that serves v1alpha1: install KAI's Topology CRD";

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

/// What a set may ask for follows what the cluster has.
#[test]
fn without_topologies_nothing_is_placed_by_them() {
    use Feature::{
        NestedRequiredTopology, PreferredTopology, RequiredAndPreferredTopology, RequiredTopologyBundle,
        RequiredTopologyGang, RequiredTopologyGroup,
    };
    let bare = KaiBackend.init(&json!({}), &without_topologies(Kai::V17)).unwrap().capabilities();
    let whole = kai(Kai::V17).capabilities();
    for feature in Feature::ALL {
        let expected = match feature {
            RequiredTopologyGang
            | RequiredTopologyBundle
            | RequiredTopologyGroup
            | NestedRequiredTopology
            | RequiredAndPreferredTopology => Answer::Reject(WHY),
            PreferredTopology => Answer::Pass(WHY),
            other => whole.of(*other),
        };
        assert_eq!(bare.of(*feature), expected, "{feature:?}");
    }
    assert_eq!((whole.required_topology_gang, whole.preferred_topology), (Answer::Native, Answer::Native));
}

/// KAI never places what names a topology that does not exist: a preference is left out, and what is required waits.
#[test]
fn without_topologies_preferences_are_left_out_and_requirements_are_not_told() {
    let bare = KaiBackend.init(&json!({}), &without_topologies(Kai::V17)).unwrap();
    let loose = json!({ "podgroups": [placed(group("a", 2, 2), preferred("host"))] });
    let written = bare.render(&queued(gang(placed(loose, preferred("rack")))), &[]).unwrap().remove(0).value;
    assert!(written["spec"].get("topologyConstraint").is_none(), "{written:#}");
    assert!(written["spec"]["subGroups"][0].get("topologyConstraint").is_none(), "{written:#}");

    for bound in [
        placed(json!({ "podgroups": [group("a", 2, 2)] }), both("rack", "host")),
        json!({ "podgroups": [placed(group("a", 2, 2), required("host"))] }),
    ] {
        let error = bare.render(&queued(gang(bound)), &[]).unwrap_err();
        assert_eq!(error.to_string(), WHY);
    }
}
