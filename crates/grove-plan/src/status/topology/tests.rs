//! Every row of the condition.

use serde_json::{Value, json};

use super::*;
use crate::fixture::set;

/// A set with this policy.
fn policy(policy: Value) -> PodCliqueSet {
    let mut set = set("a=1/1");
    set.spec.template.scheduling_policy_config = serde_json::from_value(policy).unwrap();
    set
}

fn topology() -> Topology {
    let levels = json!([{ "domain": "zone", "key": "z" }, { "domain": "rack", "key": "r" }]);
    Topology { name: "dc".to_owned(), levels: serde_json::from_value(levels).unwrap() }
}

/// Constraints of the set, its group and its clique.
fn constrained(all: [Value; 3]) -> PodCliqueSet {
    let mut set = set("a=1/1 | g=1/1:a");
    let [of_set, of_group, of_clique] = all.map(|it| serde_json::from_value(it).unwrap());
    set.spec.template.topology_constraint = of_set;
    set.spec.template.scaling_groups[0].topology_constraint = of_group;
    set.spec.template.cliques[0].topology_constraint = of_clique;
    set
}

fn say(set: &PodCliqueSet, seen: TopologySeen<'_>) -> Option<(Option<bool>, &'static str, String)> {
    condition(set, seen).map(|it| {
        assert_eq!(it.type_, "TopologyLevelsUnavailable");
        (it.status, it.reason, it.message)
    })
}

#[test]
fn every_case_has_its_reason() {
    let topology = topology();
    let (there, gone) = (TopologySeen::On(Some(&topology)), TopologySeen::On(None));
    let none = || constrained([Value::Null, Value::Null, Value::Null]);
    let of_set =
        |pack: Value| constrained([json!({ "topologyName": "dc", "pack": pack }), Value::Null, Value::Null]);
    let rack = || of_set(json!({ "required": "rack" }));
    let nameless = constrained([json!({ "pack": { "required": "rack" } }), Value::Null, Value::Null]);
    let rows = [
        ("off, none", none(), TopologySeen::Off, None),
        ("off", rack(), TopologySeen::Off, Some((None, "TopologyAwareSchedulingDisabled"))),
        ("on, none", none(), gone, Some((Some(false), "AllClusterTopologyLevelsAvailable"))),
        ("all there", rack(), there, Some((Some(false), "AllClusterTopologyLevelsAvailable"))),
        (
            "level missing",
            of_set(json!({ "required": "moon" })),
            there,
            Some((Some(true), "ClusterTopologyLevelsUnavailable")),
        ),
        (
            "preferred missing",
            of_set(json!({ "preferred": "moon" })),
            there,
            Some((Some(true), "ClusterTopologyLevelsUnavailable")),
        ),
        ("no binding", rack(), gone, Some((None, "ClusterTopologyNotFound"))),
        ("no name", nameless.clone(), gone, Some((None, "TopologyNameMissing"))),
        ("no name, off", nameless, TopologySeen::Off, Some((None, "TopologyAwareSchedulingDisabled"))),
    ];
    for (what, set, seen, want) in rows {
        assert_eq!(say(&set, seen).map(|(status, reason, _)| (status, reason)), want, "{what}");
    }
}

#[test]
fn a_policy_has_the_same_reasons() {
    let topology = topology();
    let (there, gone) = (TopologySeen::On(Some(&topology)), TopologySeen::On(None));
    let key = |key: &str| json!({ "required": { "topologyKey": key } });
    let whole = |it: &str| policy(json!({ "topologyName": "dc", "groupingConstraints": key(it) }));
    let packed = |it: &str| {
        let group = json!({ "cliqueNames": ["a"], "topologyConstraint": key(it) });
        policy(json!({ "topologyName": "dc", "networkPackGroupConfigs": [group] }))
    };
    let named = || policy(json!({ "topologyName": "dc" }));
    let nameless = || policy(json!({ "networkPackGroupConfigs": [{ "cliqueNames": ["a"] }] }));
    let (off, all) = ("TopologyAwareSchedulingDisabled", "AllClusterTopologyLevelsAvailable");
    let missing = "ClusterTopologyLevelsUnavailable";
    let rows = [
        ("off, empty", policy(json!({})), TopologySeen::Off, None),
        ("off, a name", named(), TopologySeen::Off, Some((None, off))),
        ("off, pack groups", nameless(), TopologySeen::Off, Some((None, off))),
        ("empty", policy(json!({ "topologyName": "" })), there, Some((Some(false), all))),
        ("a name", named(), there, Some((Some(false), all))),
        ("a level of the set", whole("z"), there, Some((Some(false), all))),
        ("a level of a pack group", packed("r"), there, Some((Some(false), all))),
        ("no level of the set", whole("zone"), there, Some((Some(true), missing))),
        ("no level of a pack group", packed("moon"), there, Some((Some(true), missing))),
        ("no topology", named(), gone, Some((None, "ClusterTopologyNotFound"))),
        ("no name", nameless(), gone, Some((None, "TopologyNameMissing"))),
    ];
    for (what, set, seen, want) in rows {
        assert_eq!(say(&set, seen).map(|(status, reason, _)| (status, reason)), want, "{what}");
    }
    let (.., message) = say(&named(), gone).unwrap();
    assert!(message.contains("ClusterTopologyBinding") && message.contains("Kueue"), "{message}");
}

/// Whether pods wait for the topology or are placed without it is what a user has to know.
#[test]
fn a_topology_that_is_gone_says_what_becomes_of_pods() {
    let constraint =
        |pack: Value| constrained([json!({ "topologyName": "dc", "pack": pack }), Value::Null, Value::Null]);
    let key = json!({ "required": { "topologyKey": "r" } });
    let rows = [
        (constraint(json!({ "required": "rack" })), "stay gated until it is created"),
        (constraint(json!({ "preferred": "rack" })), "pods are placed without it"),
        (policy(json!({ "topologyName": "dc" })), "pods are placed without it"),
        (
            policy(json!({ "topologyName": "dc", "groupingConstraints": key })),
            "stay gated until it is created",
        ),
    ];
    for (set, want) in rows {
        let (status, reason, message) = say(&set, TopologySeen::On(None)).unwrap();
        assert_eq!((status, reason), (None, "ClusterTopologyNotFound"));
        assert!(message.ends_with(want), "{message}");
    }
}

#[test]
fn every_level_of_the_set_is_looked_at() {
    let topology = topology();
    let pack = |domain: &str| json!({ "topologyName": "dc", "pack": { "required": domain } });
    let set = constrained([pack("zone"), pack("moon"), pack("mars")]);
    let (status, _, message) = say(&set, TopologySeen::On(Some(&topology))).unwrap();
    assert_eq!(status, Some(true));
    assert!(message.contains("mars") && message.contains("moon") && !message.contains("zone"), "{message}");
    assert!(message.ends_with("new ones stay gated until it has them"), "{message}");
    let wish = json!({ "topologyName": "dc", "pack": { "preferred": "moon" } });
    let set = constrained([wish, pack("rack"), Value::Null]);
    let (.., message) = say(&set, TopologySeen::On(Some(&topology))).unwrap();
    assert!(message.ends_with("has no level moon"), "{message}");
    let old = constrained([json!({ "topologyName": "dc", "packDomain": "moon" }), Value::Null, Value::Null]);
    assert_eq!(
        say(&old, TopologySeen::On(Some(&topology))).unwrap().0,
        Some(true),
        "the deprecated spelling"
    );
}

#[test]
fn the_name_is_the_first_that_is_given() {
    let named = |name: &str| json!({ "topologyName": name, "pack": { "required": "rack" } });
    let rows = [
        ([named("a"), named("b"), named("c")], Some("a")),
        ([Value::Null, named("b"), named("c")], Some("b")),
        ([named(""), Value::Null, named("c")], Some("c")),
        ([Value::Null, Value::Null, Value::Null], None),
    ];
    for (all, want) in rows {
        assert_eq!(topology_name(&constrained(all.clone())), want, "{all:?}");
    }
    assert_eq!(topology_name(&policy(json!({ "topologyName": "dc" }))), Some("dc"));
    assert_eq!(topology_name(&policy(json!({ "topologyName": "" }))), None);
}
