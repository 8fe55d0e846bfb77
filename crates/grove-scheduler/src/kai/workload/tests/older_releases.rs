//! What KAI before 0.17, and before 0.15, takes.

use crate::{kai::form, probe::Probed};

use super::*;

#[test]
fn none_is_one_where_the_definition_wants_one() {
    let none = Group { min_members: 0, ..group() };
    assert_eq!(spec(&V15, &none), with(plain(), json!({ "minMember": 1 })));
    let no_parts = Group { min_sub_groups: Some(0), sub_groups: vec![leaf("a", 1, &["p"])], ..group() };
    assert_eq!(spec(&V15, &no_parts)["minSubGroup"], 1);
    assert_eq!(spec(&NEWEST, &no_parts)["minSubGroup"], 0);
    assert_eq!(spec(&V12, &none).get("minMember"), None);
}

#[test]
fn delays_need_0_17() {
    let group = Group {
        preemption_delay: Some("1s".to_owned()),
        staleness_grace_period: Some("1s".to_owned()),
        ..group()
    };
    for (kai, version) in [(V15, "0.15 or 0.16"), (V12, "0.12 to 0.14")] {
        let grouped = grouped(&kai, &group, None);
        assert_eq!(grouped.object["spec"], plain());
        let told = |field: &str| format!("{field} has no effect in KAI {version}: it needs 0.17 or newer");
        assert_eq!(grouped.remarks, [told("preemptionDelay"), told("stalenessGracePeriod")]);
    }
}

#[test]
fn parents_say_nothing_before_0_15() {
    let parts = vec![
        parent("w", 2),
        inside("w", leaf("w-replica-0", 4, &["p"])),
        inside("w", leaf("w-replica-1", 4, &[])),
    ];
    let grouped = grouped(&V12, &Group { min_sub_groups: Some(1), sub_groups: parts, ..group() }, None);
    let expected = json!({ "minMember": 8, "subGroups": [
        { "name": "w" },
        { "name": "w-replica-0", "parent": "w", "minMember": 4 },
        { "name": "w-replica-1", "parent": "w", "minMember": 4 },
    ] });
    assert_eq!(grouped.object["spec"], with(plain(), expected));
    assert_eq!(grouped.remarks, [""; 0]);
}

#[test]
fn what_stands_beside_parents_gets_one() {
    let parts = vec![
        leaf("master", 1, &["p"]),
        parent("worker", 2),
        inside("worker", leaf("worker-0", 2, &[])),
        inside("worker", leaf("alone-0", 2, &[])),
    ];
    let grouped = grouped(&V12, &Group { min_members: 5, sub_groups: parts, ..group() }, None);
    let expected = json!({ "minMember": 5, "subGroups": [
        { "name": "alone-1" },
        { "name": "master", "parent": "alone-1", "minMember": 1 },
        { "name": "worker" },
        { "name": "worker-0", "parent": "worker", "minMember": 2 },
        { "name": "alone-0", "parent": "worker", "minMember": 2 },
    ] });
    assert_eq!(grouped.object["spec"], with(plain(), expected));
    assert_eq!(grouped.labels["kai.scheduler/subgroup-name"].as_deref(), Some("master"));
    assert_eq!(grouped.remarks, [""; 0]);
}

/// Its pods may never come, as the one that submits a RayJob.
#[test]
fn a_part_that_needs_no_pods_holds_nobody_up_before_0_15() {
    let parts = vec![leaf("a", 2, &["p"]), leaf("b", 0, &[])];
    let grouped = grouped(&V12, &Group { sub_groups: parts, ..group() }, None);
    assert_eq!(grouped.object["spec"], with(plain(), json!({ "minMember": 2 })));
    assert_eq!(grouped.labels["kai.scheduler/subgroup-name"], None);
    assert_eq!(
        grouped.remarks,
        [
            "part \"b\" can do without pods, which KAI 0.12 to 0.14 does not support: any 2 pods of the group are placed \
          together, and placement of parts has no effect; update KAI to 0.15 or newer"
        ]
    );
}

#[test]
fn some_parts_of_many_are_pods_of_all_before_0_15() {
    let told = |whose: &str, pods: u32| {
        format!(
            "{whose} needs only some of its parts, which KAI 0.12 to 0.14 does not support: any {pods} pods of the group are \
             placed together, and placement of parts has no effect; update KAI to 0.15 or newer"
        )
    };
    // A JobSet whose jobs start one after the other.
    let in_order = Group {
        min_sub_groups: Some(1),
        sub_groups: vec![leaf("first", 3, &["p"]), leaf("second", 8, &[])],
        ..group()
    };
    let below = vec![parent("w", 1), inside("w", leaf("x", 2, &["p"])), inside("w", leaf("y", 4, &[]))];
    let below = Group { min_sub_groups: Some(1), sub_groups: below, ..group() };
    for (group, pods, whose) in [(in_order, 3, "the group"), (below, 2, "part \"w\"")] {
        let grouped = grouped(&V12, &group, None);
        assert_eq!(grouped.object["spec"], with(plain(), json!({ "minMember": pods })));
        assert_eq!(grouped.labels["kai.scheduler/subgroup-name"], None);
        assert_eq!(grouped.remarks, [told(whose, pods)]);
    }
}

#[test]
fn a_level_that_is_preferred_and_required_is_required_before_0_15() {
    let group = Group { topology: Some(topology(Some("rack"), Some("rack"))), ..group() };
    let required = json!({ "topology": "dc", "requiredTopologyLevel": "rack" });
    assert_eq!(spec(&V12, &group)["topologyConstraint"], required);
    let group = Group { topology: Some(topology(Some("rack"), Some("host"))), ..group };
    let both = with(required, json!({ "preferredTopologyLevel": "host" }));
    assert_eq!(spec(&V12, &group)["topologyConstraint"], both);
}

#[test]
fn the_definition_says_whether_it_takes_none() {
    let cluster = |min_member: Value| {
        let spec = json!({ "properties": { "minMember": min_member } });
        let schema = json!({ "openAPIV3Schema": { "properties": { "spec": spec } } });
        let versions = json!([{ "name": "v2alpha2", "served": true, "schema": schema }]);
        Probed::default()
            .with_definition("podgroups.scheduling.run.ai", json!({ "spec": { "versions": versions } }))
    };
    for (min_member, least) in [
        (json!({ "minimum": 1 }), 1),
        (json!({ "minimum": 1.0 }), 1),
        (json!({ "minimum": 0 }), 0),
        (json!({}), 0),
    ] {
        assert_eq!(form::least(&cluster(min_member)), least);
    }
}
