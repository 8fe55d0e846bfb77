//! The admin's default topology.

use super::*;

/// The topology that a set has behind the defaulting webhook of an operator whose default is `dc`.
fn topology_of(operation: &str, object: &Value, old: &Value) -> Value {
    template_of(operation, object, old)["schedulingPolicyConfig"].clone()
}

/// Likewise, its whole template.
fn template_of(operation: &str, object: &Value, old: &Value) -> Value {
    let environment = Environment { default_topology: Some("dc".to_owned()), ..environment() };
    let snapshot = Snapshot { environment, ..Snapshot::default() };
    let verdict = judge(webhooks::SET_DEFAULTING.path, &request(operation, object, old), &snapshot);
    let mut stored = object.clone();
    json_patch::patch(&mut stored, &verdict.patch.unwrap_or_default()).unwrap();
    stored["spec"]["template"].clone()
}

/// Sent again without the name by whoever never wrote it, the set keeps it.
#[test]
fn constraints_without_a_name_get_the_default_topology() {
    let nameless = json!({ "pack": { "required": "rack" } });
    let named = json!({ "topologyName": "dc", "pack": { "required": "rack" } });
    for pointer in ["/topologyConstraint", "/cliques/0/topologyConstraint"] {
        let at = format!("/spec/template{pointer}");
        let (sent, stored) = (with(&at, nameless.clone()), with(&at, named.clone()));
        for (operation, old) in [("CREATE", Value::Null), ("UPDATE", stored.clone())] {
            let template = template_of(operation, &sent, &old);
            assert_eq!(template.pointer(pointer), Some(&named), "{operation}");
            assert_eq!(template.get("schedulingPolicyConfig"), None, "a set uses one API");
        }
        assert_eq!(template_of("UPDATE", &sent, &sent).pointer(pointer), Some(&nameless), "made before");
    }
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
