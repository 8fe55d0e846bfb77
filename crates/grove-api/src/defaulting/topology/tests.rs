//! Which sets get the admin's default topology, where its name is written, and what stays in updates.

use serde_json::{Value, json};

use super::*;

/// A set of clique `a`, in scaling group `g`, and clique `b`.
fn set(part: &Value) -> PodCliqueSet {
    let clique = |name: &str| json!({ "name": name, "spec": { "podSpec": { "containers": [] } } });
    let groups = json!([{ "name": "g", "cliqueNames": ["a"] }]);
    let mut template = json!({ "cliques": [clique("a"), clique("b")], "podCliqueScalingGroups": groups });
    json_patch::merge(&mut template, part);
    let set = json!({ "metadata": { "name": "s" }, "spec": { "template": template } });
    serde_json::from_value(set).unwrap()
}

/// The policy of a set with this part of a template, after defaulting.
fn policy(part: &Value, old: Option<&Value>, default: Option<&str>) -> Value {
    let (mut new, old) = (set(part), old.map(set));
    default_topology(&mut new, old.as_ref(), default);
    serde_json::to_value(&new.spec.template).unwrap()["schedulingPolicyConfig"].clone()
}

/// Names in a set with constraints at the set, `g`, `a` and `b`: `-` is a constraint without a name, empty is no constraint.
fn with_names([of_set, g, a, b]: [&str; 4]) -> PodCliqueSet {
    let constraint = |name: &str| {
        let mut constraint = json!({ "pack": { "required": "rack" } });
        if name != "-" {
            constraint["topologyName"] = name.into();
        }
        (!name.is_empty()).then(|| serde_json::from_value(constraint).unwrap())
    };
    let mut set = set(&json!({}));
    let template = &mut set.spec.template;
    template.topology_constraint = constraint(of_set);
    template.scaling_groups[0].topology_constraint = constraint(g);
    template.cliques[0].topology_constraint = constraint(a);
    template.cliques[1].topology_constraint = constraint(b);
    set
}

/// Whether these constraints get those names.
fn assert_named(names: [&str; 4], old: Option<[&str; 4]>, want: [&str; 4]) {
    let mut set = with_names(names);
    default_topology(&mut set, old.map(with_names).as_ref(), Some("dc"));
    assert_eq!(set, with_names(want), "{names:?} after {old:?}");
    let once = set.clone();
    default_topology(&mut set, old.map(with_names).as_ref(), Some("dc"));
    assert_eq!(set, once, "{names:?} twice");
}

/// Seed 003: the default is filled in wherever a user names no topology; the broadest constraint has the name for those
/// inside of it. No policy is added: a set uses one API or the other.
#[test]
fn constraints_without_a_name_get_the_default() {
    assert_named(["-", "", "", ""], None, ["dc", "", "", ""]);
    assert_named(["-", "-", "-", "-"], None, ["dc", "-", "-", "-"]);
    assert_named(["", "-", "-", "-"], None, ["", "dc", "-", "dc"]);
    assert_named(["", "", "-", ""], None, ["", "", "dc", ""]);
    let mut named = with_names(["-", "", "", ""]);
    default_topology(&mut named, None, None);
    assert_eq!(named, with_names(["-", "", "", ""]), "there is no default");
}

/// Whoever names a topology somewhere has chosen: what lacks a name is for the rules to tell, and not for us to guess.
#[test]
fn a_topology_that_is_named_anywhere_is_left_alone() {
    for names in [["mine", "-", "", ""], ["-", "mine", "", ""], ["", "", "mine", "-"], ["", "dc", "", "-"]] {
        assert_named(names, None, names);
    }
    let mut empty = with_names(["", "", "", ""]);
    empty.spec.template.topology_constraint = serde_json::from_value(json!({ "topologyName": "" })).unwrap();
    default_topology(&mut empty, None, Some("dc"));
    let constraint = empty.spec.template.topology_constraint.unwrap();
    assert_eq!(constraint.topology_name.as_deref(), Some("dc"), "an empty name is none");
}

/// A client that sends the manifest again as it was written need not know the name that it got; it cannot be changed.
#[test]
fn constraints_keep_the_name_that_they_got() {
    assert_named(["-", "", "", ""], Some(["old", "", "", ""]), ["old", "", "", ""]);
    assert_named(["", "-", "-", "-"], Some(["", "old", "-", "old"]), ["", "old", "-", "old"]);
    // The default came later, or the constraint did.
    assert_named(["-", "", "", ""], Some(["-", "", "", ""]), ["-", "", "", ""]);
    assert_named(["-", "", "", ""], Some(["", "", "", ""]), ["-", "", "", ""]);
    // No default writes such names: a user did, and that they are gone is for the rules.
    assert_named(["-", "-", "", ""], Some(["old", "old", "", ""]), ["-", "-", "", ""]);
    assert_named(["new", "", "", ""], Some(["old", "", "", ""]), ["new", "", "", ""]);
}

#[test]
fn constraints_beside_a_spread_over_another_topology_get_no_default() {
    for (name, want) in [(None, "dc"), (Some("dc"), "dc"), (Some("mine"), "-")] {
        let spread = json!({ "topologyName": name, "topologyDomain": "zone" });
        let spread: Option<ReplicaSpread> = serde_json::from_value(spread).unwrap();
        let mut set = with_names(["-", "", "", ""]);
        set.spec.replica_spread.clone_from(&spread);
        default_topology(&mut set, None, Some("dc"));
        let mut wanted = with_names([want, "", "", ""]);
        wanted.spec.replica_spread = spread;
        assert_eq!(set, wanted, "{name:?}");
    }
}

#[test]
fn a_new_set_without_a_topology_gets_the_default() {
    let named = |name: &str| json!({ "schedulingPolicyConfig": { "topologyName": name } });
    let pack = json!({ "topologyName": "mine", "pack": { "required": "rack" } });
    let groups = json!([{ "cliqueNames": ["a"] }]);
    let constraint = json!({ "required": { "topologyKey": "k" } });
    let rows = [
        ("nothing said", json!({}), Some("dc"), json!({ "topologyName": "dc" })),
        ("no default", json!({}), None, json!(null)),
        ("a name is kept", named("mine"), Some("dc"), json!({ "topologyName": "mine" })),
        ("an empty name is none", named(""), Some("dc"), json!({ "topologyName": "dc" })),
        (
            "pack groups without a name",
            json!({ "schedulingPolicyConfig": { "networkPackGroupConfigs": groups } }),
            Some("dc"),
            json!({ "topologyName": "dc", "networkPackGroupConfigs": groups }),
        ),
        (
            "constraints without a name",
            json!({ "schedulingPolicyConfig": { "groupingConstraints": constraint } }),
            Some("dc"),
            json!({ "topologyName": "dc", "groupingConstraints": constraint }),
        ),
        ("of the set", json!({ "topologyConstraint": pack }), Some("dc"), json!(null)),
        (
            "of a group",
            json!({ "podCliqueScalingGroups": [{ "name": "g", "cliqueNames": ["a"], "topologyConstraint": pack }] }),
            Some("dc"),
            json!(null),
        ),
        (
            "of a clique",
            json!({ "cliques": [{ "name": "a", "spec": { "podSpec": { "containers": [] } }, "topologyConstraint": pack }] }),
            Some("dc"),
            json!(null),
        ),
    ];
    for (what, part, default, want) in rows {
        assert_eq!(policy(&part, None, default), want, "{what}");
    }
}

#[test]
fn a_set_whose_replicas_are_spread_over_another_topology_gets_no_default() {
    for (name, want) in [(None, Some("dc")), (Some("dc"), Some("dc")), (Some("mine"), None)] {
        let mut set = set(&json!({}));
        let spread = json!({ "topologyName": name, "topologyDomain": "zone" });
        set.spec.replica_spread = serde_json::from_value(spread).unwrap();
        default_topology(&mut set, None, Some("dc"));
        let policy = set.spec.template.scheduling_policy_config;
        assert_eq!(policy.as_ref().and_then(SchedulingPolicyConfig::topology), want, "{name:?}");
    }
}

#[test]
fn a_set_that_exists_keeps_the_topology_that_it_has() {
    let named = |name: &str| json!({ "schedulingPolicyConfig": { "topologyName": name } });
    let packed = json!({ "schedulingPolicyConfig": { "topologyName": "dc", "networkPackGroupConfigs": [{ "cliqueNames": ["a"] }] } });
    let rows = [
        ("never filled in later", json!({}), json!({}), json!(null)),
        ("left out by whoever never wrote it", json!({}), named("old"), json!({ "topologyName": "old" })),
        ("another name is for the rules", named("new"), named("old"), json!({ "topologyName": "new" })),
        ("what somebody wrote is not put back", json!({}), packed, json!(null)),
    ];
    for (what, part, old, want) in rows {
        assert_eq!(policy(&part, Some(&old), Some("dc")), want, "{what}");
    }
}
