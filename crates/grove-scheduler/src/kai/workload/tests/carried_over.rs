//! What of a PodGroup that is there stays as it is.

use super::*;

fn there(labels: Value, spec: Value) -> Value {
    json!({ "metadata": { "name": "pg-train-u1", "labels": labels }, "spec": spec })
}

#[test]
fn fields_of_others_stay() {
    let set_by_hand = json!({ "topology": "other", "requiredTopologyLevel": "zone" });
    let wanted = json!({ "topology": "dc", "requiredTopologyLevel": "rack" });
    let with_topology = Group { topology: Some(topology(Some("rack"), None)), ..group() };
    let nameless = Topology { required: Some("rack".to_owned()), ..Topology::default() };
    let nameless = Group { topology: Some(nameless), ..group() };
    let cases = [
        (group(), json!({ "queue": "old" }), json!({ "queue": "old" })),
        // One without a queue is never placed.
        (group(), json!({ "queue": "" }), json!({})),
        (group(), json!({}), json!({})),
        (
            group(),
            json!({ "markUnschedulable": false, "schedulingBackoff": 1 }),
            json!({ "markUnschedulable": false, "schedulingBackoff": 1 }),
        ),
        (group(), json!({ "markUnschedulable": null }), json!({})),
        (group(), json!({ "topologyConstraint": set_by_hand }), json!({ "topologyConstraint": set_by_hand })),
        (
            nameless,
            json!({ "topologyConstraint": set_by_hand }),
            json!({ "topologyConstraint": set_by_hand }),
        ),
        // Nothing before, nothing now; nothing before, something now.
        (group(), json!({ "topologyConstraint": {} }), json!({})),
        (with_topology.clone(), json!({ "topologyConstraint": {} }), json!({ "topologyConstraint": wanted })),
        (with_topology.clone(), json!({}), json!({ "topologyConstraint": wanted })),
        (
            with_topology,
            json!({ "topologyConstraint": set_by_hand }),
            json!({ "topologyConstraint": wanted }),
        ),
        // The rest is the workload's.
        (
            group(),
            json!({
                "minMember": 9, "minSubGroup": 1, "priorityClassName": "high", "preemptibility": "preemptible",
                "subGroups": [{ "name": "a" }], "preemptionDelay": "1s", "backoffLimit": 3,
            }),
            json!({}),
        ),
    ];
    for (group, before, more) in cases {
        let there = there(json!({}), before);
        assert_eq!(grouped(&NEWEST, &group, Some(&there)).object["spec"], with(plain(), more), "{there}");
    }
}

#[test]
fn pool_and_queue_are_those_of_the_first_day() {
    const POOL: &str = "kai.scheduler/node-pool";
    const QUEUE: &str = "kai.scheduler/queue";
    let labels = [(POOL, "new"), (QUEUE, "new"), ("app", "x")];
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let group = Group { labels, ..group() };
    for (before, after) in [
        (json!({ POOL: "old", QUEUE: "old", "app": "y" }), json!({ POOL: "old", QUEUE: "old", "app": "x" })),
        // A pool is never added: the PodGroup would vanish from its scheduler.
        (json!({}), json!({ QUEUE: "new", "app": "x" })),
        (json!(null), json!({ QUEUE: "new", "app": "x" })),
    ] {
        let there = there(before, json!({}));
        assert_eq!(grouped(&NEWEST, &group, Some(&there)).object["metadata"]["labels"], after);
    }
}

#[test]
fn what_was_written_is_written_again() {
    let parts = vec![leaf("a", 1, &["p"]), leaf("b", 0, &[])];
    let group = Group { sub_groups: parts, topology: Some(topology(None, Some("rack"))), ..group() };
    for kai in [&NEWEST, &V15, &V12] {
        let first = grouped(kai, &group, None);
        assert_eq!(grouped(kai, &group, Some(&first.object)), first);
    }
}
