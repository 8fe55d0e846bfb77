use serde_json::json;

use super::*;

#[test]
fn groups_as_kube_scheduler_reads_them() {
    let refused = json!([{ "type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable", "message": "no" }]);
    let placed = json!([{ "type": "PodGroupInitiallyScheduled", "status": "True" }]);
    let rows = [
        (json!({ "gang": { "minCount": 3 } }), &placed, Some(3), None),
        (json!({ "gang": { "minCount": 3 } }), &refused, Some(3), Some("g: no")),
        (json!({ "basic": {} }), &placed, None, None),
    ];
    for (policy, conditions, pods, words) in rows {
        let object = json!({
            "metadata": { "name": "g" },
            "spec": {
                "schedulingPolicy": policy, "priorityClassName": "high", "parentCompositePodGroupName": "above",
            },
            "status": { "conditions": conditions },
        });
        let seen = Groups.read(&object);
        assert_eq!(seen.minimum, Minimum { pods, parts: None });
        assert_eq!((seen.priority_class.as_deref(), seen.above.as_deref()), (Some("high"), Some("above")));
        assert_eq!(seen.refusal.map(|it| (it.about, it.words)), words.map(|it| (About::Room, it.to_owned())));
    }
}

#[test]
fn what_is_said_of_a_pod_is_readable() {
    let words = "pod group is unschedulable, minCount (3) cannot be satisfied: 1 scheduled, 1 remaining";
    assert_eq!(Groups.readable(words), "room for at most 2 of the 3 that are needed");
}

#[test]
fn a_pod_names_its_group() {
    let pod =
        |spec: &Value| -> Pod { serde_json::from_value(json!({ "metadata": {}, "spec": spec })).unwrap() };
    let member = pod(&json!({ "containers": [], "schedulingGroup": { "podGroupName": "g" } }));
    assert_eq!(Groups.group_of(&member), Some("g"));
    assert_eq!(Groups.group_of(&pod(&json!({ "containers": [] }))), None);
}
