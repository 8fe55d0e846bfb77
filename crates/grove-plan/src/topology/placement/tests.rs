//! What gangs are told of a `schedulingPolicyConfig`. How `topologyConstraint` is lowered is in the tests of gangs.

use grove_api::wire::{PodCliqueSet, TopologyLevel};
use serde_json::{Value, json};

use super::*;
use crate::{
    fixture::set,
    objects::{self, Context},
};

const BASE: Place<'_> = Place::Base { replica: 1 };
const SCALED: Place<'_> = Place::Scaled { replica: 1, group: "pd", group_replica: 2 };

/// Topology `hall` of Kueue's kind: zone, rack, host.
fn hall() -> Topology {
    let level = |key: &str| TopologyLevel { domain: key.to_owned(), key: key.to_owned() };
    Topology { name: "hall".to_owned(), levels: ["zone", "rack", "host"].map(level).into() }
}

/// Cliques `fe` and `be`, and group `pd` of `pre` and `dec` with two of three replicas in the base gang.
fn with(policy: Value) -> PodCliqueSet {
    let mut set = set("fe=2/1 be=1/1 pre=1/1 dec=2/2 | pd=3/2:pre,dec");
    set.spec.template.scheduling_policy_config = serde_json::from_value(policy).unwrap();
    set
}

fn required(key: &str) -> Value {
    json!({ "required": { "topologyKey": key } })
}

fn gang(set: &PodCliqueSet, place: Place<'_>, topology: Option<&Topology>) -> Value {
    let context = Context {
        set,
        default_scheduler: "default-scheduler",
        form: "",
        gang_names: &crate::gang_names::OurNames,
    };
    serde_json::to_value(objects::gang(context, place, topology, |_| Some(Vec::new())).unwrap()).unwrap()
}

fn pack(pack: &Value) -> Value {
    json!({ "packConstraint": pack })
}

/// Paragraph "Automatic Global Constraints", and "User-specified required constraints pass through directly".
#[test]
fn every_gang_gets_what_the_user_requires_and_prefers_the_narrowest_level() {
    let rows = [
        ("a name alone", json!({ "topologyName": "hall" }), json!({ "preferred": "host" })),
        (
            "a level",
            json!({ "topologyName": "hall", "groupingConstraints": required("zone") }),
            json!({ "required": "zone", "preferred": "host" }),
        ),
        (
            "the narrowest level",
            json!({ "topologyName": "hall", "groupingConstraints": required("host") }),
            json!({ "required": "host" }),
        ),
        (
            "a level that is gone",
            json!({ "topologyName": "hall", "groupingConstraints": required("moon") }),
            json!({ "preferred": "host" }),
        ),
        (
            "no level",
            json!({ "topologyName": "hall", "groupingConstraints": {} }),
            json!({ "preferred": "host" }),
        ),
    ];
    for (what, policy, want) in rows {
        let set = with(policy);
        for place in [BASE, SCALED] {
            let got = gang(&set, place, Some(&hall()));
            assert_eq!(got["spec"]["topologyConstraint"], pack(&want), "{what}: {place:?}");
            assert_eq!(got["spec"].get("topologyConstraintGroupConfigs"), None, "{what}: {place:?}");
            assert_eq!(got["metadata"]["annotations"]["grove.io/topology-name"], "hall", "{what}: {place:?}");
            let groups = got["spec"]["podgroups"].as_array().unwrap();
            assert!(groups.iter().all(|it| it.get("topologyConstraint").is_none()), "{what}: {groups:?}");
        }
    }
}

/// Paragraph "PodClique template names map to created PodCliques": standalone cliques are there once for each set replica.
#[test]
fn a_pack_group_of_standalone_cliques_is_in_the_base_gang() {
    let group = json!({ "cliqueNames": ["be", "fe"], "topologyConstraint": required("rack") });
    let set = with(json!({ "topologyName": "hall", "networkPackGroupConfigs": [group] }));
    assert_eq!(
        gang(&set, BASE, Some(&hall()))["spec"]["topologyConstraintGroupConfigs"],
        json!([{
            "name": "inf-1--pack0",
            "podGroupNames": ["inf-1-fe", "inf-1-be"],
            "topologyConstraint": pack(&json!({ "required": "rack" })),
        }])
    );
    assert_eq!(gang(&set, SCALED, Some(&hall()))["spec"].get("topologyConstraintGroupConfigs"), None);
}

/// Each replica of a scaling group is packed on its own, those of the base gang and those that come later: constraints are
/// kept on scale-out.
#[test]
fn a_pack_group_of_a_scaling_group_is_in_each_of_its_replicas() {
    let group = json!({ "cliqueNames": ["dec", "pre"], "topologyConstraint": required("rack") });
    let set = with(json!({ "topologyName": "hall", "networkPackGroupConfigs": [group] }));
    let entry = |replica: u32| {
        json!({
            "name": format!("inf-1--pack0-pd-{replica}"),
            "podGroupNames": [format!("inf-1-pd-{replica}-pre"), format!("inf-1-pd-{replica}-dec")],
            "topologyConstraint": pack(&json!({ "required": "rack" })),
        })
    };
    let configs = |place| gang(&set, place, Some(&hall()))["spec"]["topologyConstraintGroupConfigs"].clone();
    assert_eq!(configs(BASE), json!([entry(0), entry(1)]));
    assert_eq!(configs(SCALED), json!([entry(2)]));
}

#[test]
fn pack_groups_keep_their_numbers_and_may_be_a_part_of_a_group() {
    let set = with(json!({ "topologyName": "hall", "networkPackGroupConfigs": [
        { "cliqueNames": ["dec"], "topologyConstraint": required("host") },
        { "cliqueNames": ["fe"], "topologyConstraint": required("rack") },
    ] }));
    let names = |place| {
        let configs = &gang(&set, place, Some(&hall()))["spec"]["topologyConstraintGroupConfigs"];
        let name = |it: &Value| format!("{} of {}", it["name"].as_str().unwrap(), it["podGroupNames"]);
        configs.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(
        names(BASE),
        [
            r#"inf-1--pack0-pd-0 of ["inf-1-pd-0-dec"]"#,
            r#"inf-1--pack0-pd-1 of ["inf-1-pd-1-dec"]"#,
            r#"inf-1--pack1 of ["inf-1-fe"]"#,
        ]
    );
    assert_eq!(names(SCALED), [r#"inf-1--pack0-pd-2 of ["inf-1-pd-2-dec"]"#]);
}

/// Paragraph "NetworkPackGroupConfigs": the constraint is optional, and who gives none wants the best that can be had.
#[test]
fn a_pack_group_without_a_constraint_prefers_the_narrowest_level() {
    for (what, constraint) in [("none", Value::Null), ("empty", json!({})), ("gone", required("moon"))] {
        let mut group = json!({ "cliqueNames": ["fe"] });
        if !constraint.is_null() {
            group["topologyConstraint"] = constraint;
        }
        let set = with(json!({ "topologyName": "hall", "networkPackGroupConfigs": [group] }));
        let got = gang(&set, BASE, Some(&hall()));
        let config = &got["spec"]["topologyConstraintGroupConfigs"][0];
        assert_eq!(config["topologyConstraint"], pack(&json!({ "preferred": "host" })), "{what}");
    }
}

/// Paragraph "Configuration Consistency": without a topology no feature is applied, whatever the user says.
#[test]
fn without_a_topology_nothing_is_applied() {
    let plain = |place| gang(&with(Value::Null), place, None);
    let policy = json!({
        "topologyName": "hall",
        "groupingConstraints": required("zone"),
        "networkPackGroupConfigs": [{ "cliqueNames": ["fe"], "topologyConstraint": required("rack") }],
    });
    for place in [BASE, SCALED] {
        assert_eq!(gang(&with(policy.clone()), place, None), plain(place));
        assert_eq!(gang(&with(Value::Null), place, Some(&hall())), plain(place), "nothing is asked for");
        assert_eq!(gang(&with(json!({})), place, Some(&hall())), plain(place), "nothing is asked for");
    }
}

#[test]
fn what_has_to_be_in_one_domain_is_known() {
    let topology = hall();
    let binds = |policy: Value| {
        let set = with(policy);
        let placement = Placement::of(&set, &topology).unwrap();
        let bound = ["fe", "be", "pre", "dec"].into_iter().filter(|it| placement.binds(it));
        (placement.binds_whole(), bound.collect::<Vec<_>>().join(" "))
    };
    let packed = |key: &str| {
        let group = json!({ "cliqueNames": ["fe", "be"], "topologyConstraint": required(key) });
        json!({ "topologyName": "hall", "networkPackGroupConfigs": [group, { "cliqueNames": ["pre"] }] })
    };
    let whole = json!({ "topologyName": "hall", "groupingConstraints": required("zone") });
    assert_eq!(binds(json!({ "topologyName": "hall" })), (false, String::new()));
    assert_eq!(binds(whole), (true, "fe be pre dec".to_owned()));
    assert_eq!(binds(packed("rack")), (false, "fe be".to_owned()));
    assert_eq!(binds(packed("moon")), (false, String::new()), "nobody asks for a level that is not there");
}
