//! The admin's default topology.

use super::*;

/// The topology that a set has behind the defaulting webhook of an operator whose default is `dc`.
fn topology_of(operation: &str, object: &Value, old: &Value) -> Value {
    let environment = Environment { default_topology: Some("dc".to_owned()), ..environment() };
    let snapshot = Snapshot { environment, ..Snapshot::default() };
    let verdict = judge(webhooks::SET_DEFAULTING.path, &request(operation, object, old), &snapshot);
    let mut stored = object.clone();
    json_patch::patch(&mut stored, &verdict.patch.unwrap_or_default()).unwrap();
    stored["spec"]["template"]["schedulingPolicyConfig"].clone()
}

#[test]
fn a_new_set_gets_the_default_topology_and_an_old_one_does_not() {
    let policy = "/spec/template/schedulingPolicyConfig";
    let pack = json!({ "topologyName": "mine", "pack": { "required": "rack" } });
    let named = with(policy, json!({ "topologyName": "mine" }));
    let constrained = with("/spec/template/topologyConstraint", pack);
    let nothing = Value::Null;
    assert_eq!(topology_of("CREATE", &set(), &nothing), json!({ "topologyName": "dc" }));
    assert_eq!(topology_of("CREATE", &named, &nothing), json!({ "topologyName": "mine" }));
    assert_eq!(topology_of("CREATE", &constrained, &nothing), nothing);
    assert_eq!(topology_of("UPDATE", &set(), &set()), nothing, "the default came later");
    let earlier = with(policy, json!({ "topologyName": "earlier" }));
    let kept = topology_of("UPDATE", &set(), &earlier);
    assert_eq!(kept, json!({ "topologyName": "earlier" }), "it was the default when the set was made");
}

#[test]
fn a_default_topology_that_is_not_there_is_told_as_what_it_is() {
    let environment = Environment { default_topology: Some("dc".to_owned()), ..environment() };
    let snapshot = Snapshot { environment, ..Snapshot::default() };
    let of = |name: &str| {
        let set = with("/spec/template/schedulingPolicyConfig", json!({ "topologyName": name }));
        let verdict = judge(webhooks::SET_VALIDATING.path, &request("CREATE", &set, &Value::Null), &snapshot);
        message(&verdict).to_owned()
    };
    assert!(of("dc").contains("it is the default of the operator's configuration"), "{}", of("dc"));
    assert!(of("mine").contains("there is no ClusterTopologyBinding"), "{}", of("mine"));
    assert!(!of("mine").contains("default of"), "{}", of("mine"));
}
