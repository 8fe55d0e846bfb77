//! Translation of topology, and the scheduler of a gang.

use grove_api::wire::{ClusterTopologyBinding, PodCliqueSet, ScalingGroupConfig, TopologyConstraint};
use serde_json::{Value, json};

use super::*;
use crate::fixture::set;

/// Topology `dc` with the levels zone and rack.
fn binding() -> ClusterTopologyBinding {
    let level = |domain: &str| json!({ "domain": domain, "key": format!("example.com/{domain}") });
    let levels = [level("zone"), level("rack")];
    serde_json::from_value(json!({ "metadata": { "name": "dc" }, "spec": { "levels": levels } })).unwrap()
}

fn constraint(pack: &Value) -> Option<TopologyConstraint> {
    serde_json::from_value(json!({ "topologyName": "dc", "pack": pack })).ok()
}

/// Clique `fe`, and group `pd` of `pre` and `dec` with two of three replicas in the base gang.
fn packed(of_set: &Value, of_group: &Value, of_clique: &Value) -> PodCliqueSet {
    let mut set = set("fe=2/1 pre=1/1 dec=2/2 | pd=3/2:pre,dec");
    let given = |it: &Value| if it.is_null() { None } else { constraint(it) };
    let template = &mut set.spec.template;
    template.topology_constraint = given(of_set);
    template.scaling_groups[0].topology_constraint = given(of_group);
    template.cliques[0].topology_constraint = given(of_clique);
    set
}

fn built(set: &PodCliqueSet, place: Place<'_>, binding: Option<&ClusterTopologyBinding>) -> Value {
    let context = Context {
        set,
        default_scheduler: "default-scheduler",
        form: "",
        gang_names: &crate::gang_names::OurNames,
    };
    let topology = binding.map(Topology::from);
    serde_json::to_value(gang(context, place, topology.as_ref(), |_| Some(Vec::new())).unwrap()).unwrap()
}

const BASE: Place<'_> = Place::Base { replica: 0 };
const SCALED: Place<'_> = Place::Scaled { replica: 0, group: "pd", group_replica: 2 };

fn keys(pack: &Value) -> Value {
    json!({ "packConstraint": pack })
}

#[test]
fn the_base_gang_has_all_three_levels() {
    let set = packed(
        &json!({ "required": "zone" }),
        &json!({ "required": "rack" }),
        &json!({ "preferred": "rack" }),
    );
    let got = built(&set, BASE, Some(&binding()));
    let (spec, rack) = (&got["spec"], keys(&json!({ "required": "example.com/rack" })));
    let whole = keys(&json!({ "required": "example.com/zone" }));
    assert_eq!(spec["topologyConstraint"], whole, "nothing is preferred that nobody asked for");
    assert_eq!(spec["podgroups"][0]["topologyConstraint"], keys(&json!({ "preferred": "example.com/rack" })));
    assert_eq!(spec["podgroups"][1].get("topologyConstraint"), None);
    assert_eq!(
        spec["topologyConstraintGroupConfigs"],
        json!([
            { "name": "inf-0-pd-0", "podGroupNames": ["inf-0-pd-0-pre", "inf-0-pd-0-dec"], "topologyConstraint": rack },
            { "name": "inf-0-pd-1", "podGroupNames": ["inf-0-pd-1-pre", "inf-0-pd-1-dec"], "topologyConstraint": rack },
        ])
    );
    assert_eq!(got["metadata"]["annotations"]["grove.io/topology-name"], "dc");
}

#[test]
fn a_scaled_gang_has_that_of_its_group_or_else_of_the_set() {
    let (zone, rack) = (json!({ "required": "zone" }), json!({ "required": "rack" }));
    let rows = [
        (packed(&zone, &rack, &Value::Null), json!({ "required": "example.com/rack" })),
        (packed(&zone, &Value::Null, &Value::Null), json!({ "required": "example.com/zone" })),
    ];
    for (set, want) in rows {
        let spec = &built(&set, SCALED, Some(&binding()))["spec"];
        assert_eq!(spec["topologyConstraint"], keys(&want));
        assert_eq!(spec.get("topologyConstraintGroupConfigs"), None);
    }
}

/// The workload is not held up; the set's condition says what is missing.
#[test]
fn unknown_domains_are_left_out() {
    let set = packed(
        &json!({ "required": "moon", "preferred": "rack" }),
        &json!({ "required": "moon" }),
        &Value::Null,
    );
    let got = built(&set, BASE, Some(&binding()));
    assert_eq!(got["spec"]["topologyConstraint"], keys(&json!({ "preferred": "example.com/rack" })));
    // Upstream's entries are there even where nothing is left of the constraint.
    assert_eq!(
        got["spec"]["topologyConstraintGroupConfigs"][1],
        json!({ "name": "inf-0-pd-1", "podGroupNames": ["inf-0-pd-1-pre", "inf-0-pd-1-dec"] })
    );
    let nothing = packed(&json!({ "required": "moon" }), &Value::Null, &Value::Null);
    let got = built(&nothing, BASE, Some(&binding()));
    assert_eq!(got["spec"].get("topologyConstraint"), None);
    assert_eq!(got["metadata"].get("annotations"), None, "no name where nothing was translated");
}

/// Upstream's clients and tests expect that a gang prefers no level unless its set says so: whichever part of the set has
/// a constraint, automatic packing adds nothing to any gang of it.
#[test]
fn topology_constraints_are_never_packed_automatically() {
    let (none, zone, wish) = (Value::Null, json!({ "required": "zone" }), json!({ "preferred": "zone" }));
    let zone_key = json!({ "required": "example.com/zone" });
    let rows = [
        ("of the set", packed(&zone, &none, &none), BASE, Some(zone_key.clone())),
        ("of the set", packed(&zone, &none, &none), SCALED, Some(zone_key.clone())),
        ("of a group", packed(&none, &zone, &none), BASE, None),
        ("of a group", packed(&none, &zone, &none), SCALED, Some(zone_key)),
        ("of a clique", packed(&none, &none, &zone), BASE, None),
        ("of a clique", packed(&none, &none, &zone), SCALED, None),
        ("its own wish", packed(&wish, &none, &none), BASE, Some(json!({ "preferred": "example.com/zone" }))),
    ];
    for (what, set, place, want) in rows {
        let got = built(&set, place, Some(&binding()));
        let want = want.map_or(Value::Null, |it| keys(&it));
        assert_eq!(got["spec"]["topologyConstraint"], want, "{what}: {place:?}");
    }
}

#[test]
fn without_a_topology_there_are_no_constraints() {
    let set = packed(
        &json!({ "required": "zone" }),
        &json!({ "required": "rack" }),
        &json!({ "required": "rack" }),
    );
    let got = built(&set, BASE, None);
    assert_eq!(
        got["spec"],
        built(&packed(&Value::Null, &Value::Null, &Value::Null), BASE, Some(&binding()))["spec"]
    );
    assert_eq!(got["metadata"].get("annotations"), None);
}

#[test]
fn the_scheduler_is_the_first_that_a_clique_names() {
    let rows = [
        ([None, None], "default-scheduler"),
        ([Some(""), Some("kai-scheduler")], "kai-scheduler"),
        ([Some("volcano"), None], "volcano"),
    ];
    for (named, want) in rows {
        let mut set = set("a=1/1 b=1/1");
        for (clique, name) in set.spec.template.cliques.iter_mut().zip(named) {
            clique.spec.pod_spec.scheduler_name = name.map(str::to_owned);
        }
        assert_eq!(
            built(&set, BASE, None)["metadata"]["labels"]["grove.io/scheduler-name"],
            want,
            "{named:?}"
        );
    }
}

#[test]
fn priority_belongs_to_the_gang() {
    let mut set = set("a=1/1");
    set.spec.template.priority_class_name = "high".to_owned();
    assert_eq!(built(&set, BASE, None)["spec"]["priorityClassName"], "high");
}

#[test]
fn there_is_no_gang_of_a_group_that_the_template_does_not_have() {
    let mut set = set("a=1/1 b=1/1 | g=2/1:b");
    let context = Context {
        set: &set.clone(),
        default_scheduler: "",
        form: "",
        gang_names: &crate::gang_names::OurNames,
    };
    let place = Place::Scaled { replica: 0, group: "g", group_replica: 1 };
    assert!(gang(context, place, None, |_| Some(Vec::new())).is_some());
    set.spec.template.scaling_groups = Vec::<ScalingGroupConfig>::new();
    assert_eq!(
        gang(
            Context { set: &set, default_scheduler: "", form: "", gang_names: &crate::gang_names::OurNames },
            place,
            None,
            |_| Some(Vec::new())
        ),
        None
    );
}
