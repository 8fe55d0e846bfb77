use serde_json::{Value, json};

use super::*;

fn binding(status: &Value) -> ClusterTopologyBinding {
    serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding",
        "metadata": { "name": "racks", "generation": 3 },
        "spec": { "levels": [{ "domain": "rack", "key": "example.com/rack" }] },
        "status": status,
    }))
    .unwrap()
}

fn compared(scheduler: &str, found: Found) -> Compared {
    Compared { scheduler: scheduler.to_owned(), reference: "racks".to_owned(), generation: Some(7), found }
}

fn different() -> Found {
    Found::Different("its levels are others".to_owned())
}

fn unknown() -> Found {
    Found::Unknown("it is not configured".to_owned())
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Status and reason of the condition.
fn said(status: &ClusterTopologyBindingStatus) -> Option<(&str, &str)> {
    find(&status.conditions, "SchedulerTopologyDrift").map(|it| (it.status.as_str(), it.reason.as_str()))
}

#[test]
fn the_worst_that_was_found_is_the_condition() {
    let rows = [
        (vec![], None),
        (vec![Found::Same], Some(("False", "InSync"))),
        (vec![Found::Same, different()], Some(("True", "Drift"))),
        (vec![different(), unknown(), Found::Same], Some(("Unknown", "TopologyNotFound"))),
    ];
    for (found, wanted) in rows {
        let all: Vec<Compared> = found.into_iter().map(|it| compared("a", it)).collect();
        assert_eq!(said(&binding_status(&binding(&json!({})), &all, None, true, at(1))), wanted, "{all:?}");
    }
}

#[test]
fn each_scheduler_has_an_entry() {
    let all = [compared("a", Found::Same), compared("b", different())];
    let status = binding_status(&binding(&json!({})), &all, None, true, at(1));
    let entries = serde_json::to_value(&status.scheduler_topology_statuses).unwrap();
    let entry = |name: &str, in_sync: bool| {
        json!({
            "schedulerName": name, "topologyReference": "racks", "inSync": in_sync,
            "schedulerBackendTopologyObservedGeneration": 7,
        })
    };
    let mut differs = entry("b", false);
    differs["message"] = json!("its levels are others");
    assert_eq!(entries, json!([entry("a", true), differs]));
    assert_eq!(status.observed_generation, Some(3));
    let message = &status.conditions[0].message;
    assert_eq!(message, r#"b "racks": its levels are others"#);
}

#[test]
fn a_generation_that_was_not_carried_out_is_not_observed() {
    let before = json!({ "observedGeneration": 2 });
    let status = binding_status(&binding(&before), &[compared("a", different())], None, false, at(1));
    assert_eq!(status.observed_generation, Some(2));
}

#[test]
fn conditions_of_others_stay_and_ours_goes_when_no_scheduler_has_objects() {
    let condition = |type_: &str| {
        json!({
            "type": type_, "status": "True", "reason": "X", "message": "",
            "lastTransitionTime": "2027-01-15T08:00:00Z",
        })
    };
    let before = json!({ "conditions": [condition("Theirs"), condition("SchedulerTopologyDrift")] });
    let status = binding_status(&binding(&before), &[], None, true, at(1));
    let left: Vec<&str> = status.conditions.iter().map(|it| it.type_.as_str()).collect();
    assert_eq!(left, ["Theirs"]);
}

#[test]
fn only_a_change_is_news() {
    let status =
        |found: Found| binding_status(&binding(&json!({})), &[compared("a", found)], None, true, at(1));
    let (same, differs, unknown) = (status(Found::Same), status(different()), status(unknown()));
    let reason =
        |old: Option<&ClusterTopologyBindingStatus>, new| binding_news(old, new).map(|it| (it.0, it.1));
    let (drift, in_sync) = (Some((true, "TopologyDriftDetected")), Some((false, "TopologyInSync")));
    assert_eq!(reason(None, &same), in_sync);
    assert_eq!(reason(None, &differs), drift);
    assert_eq!(reason(Some(&same), &differs), drift);
    assert_eq!(reason(Some(&differs), &same), in_sync);
    assert_eq!(reason(Some(&unknown), &same), in_sync);
    assert_eq!(reason(Some(&same), &unknown), None);
    assert_eq!(reason(Some(&same), &same), None);
    assert_eq!(reason(Some(&differs), &differs), None);
}

#[test]
fn nodes_that_lack_a_label_are_counted() {
    let said = |nodes: usize, zone: usize, rack: usize| {
        let lacking = vec![("example.com/zone".to_owned(), zone), ("example.com/rack".to_owned(), rack)];
        let coverage = Coverage::Counted { nodes, lacking };
        let status = binding_status(&binding(&json!({})), &[], Some(&coverage), true, at(1));
        let condition = find(&status.conditions, "NodesLabelled").unwrap().clone();
        assert_eq!(condition.observed_generation, Some(3));
        (condition.status, condition.reason, condition.message)
    };
    let verdict = |status: &str, reason: &str, message: &str| {
        (status.to_owned(), reason.to_owned(), message.to_owned())
    };
    let all = verdict("True", "AllNodesLabelled", "all nodes have the labels of all levels");
    assert_eq!(said(5, 0, 0), all);
    // One node more, and nothing has to be written.
    assert_eq!(said(6, 0, 0), all);
    let two = "nodes without the label of a level: example.com/zone: 1, example.com/rack: 4";
    assert_eq!(said(5, 1, 4), verdict("False", "LabelsMissing", two));
    assert_eq!(
        said(6, 0, 4),
        verdict("False", "LabelsMissing", "nodes without the label of a level: example.com/rack: 4")
    );
    assert_eq!(said(0, 0, 0), verdict("Unknown", "NoNodes", "there are no nodes"));
}

#[test]
fn where_nobody_looks_at_nodes_nothing_is_said_of_them() {
    let before = json!({ "conditions": [{
        "type": "NodesLabelled", "status": "True", "reason": "X", "message": "",
        "lastTransitionTime": "2027-01-15T08:00:00Z",
    }] });
    assert!(binding_status(&binding(&before), &[], None, true, at(1)).conditions.is_empty());
}

/// Nobody should take nodes that may not be looked at for nodes that are not there.
#[test]
fn nodes_that_may_not_be_listed_are_told() {
    let status = binding_status(&binding(&json!({})), &[], Some(&Coverage::NotReadable), true, at(1));
    let condition = find(&status.conditions, "NodesLabelled").unwrap();
    assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("Unknown", "NodesNotReadable"));
}
