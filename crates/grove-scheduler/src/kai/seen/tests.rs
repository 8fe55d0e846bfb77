use serde_json::json;

use super::*;

fn group(spec: &Value, reasons: &Value) -> Value {
    let condition = json!({ "status": "True", "nodePool": "default", "reasons": reasons });
    json!({ "spec": spec, "status": { "schedulingConditions": [condition] } })
}

fn pod(annotations: &Value, labels: &Value) -> Pod {
    serde_json::from_value(json!({ "metadata": { "annotations": annotations, "labels": labels } })).unwrap()
}

const fn pods(count: u64) -> Minimum {
    Minimum { pods: Some(count), parts: None }
}

const fn parts(count: u64) -> Minimum {
    Minimum { pods: None, parts: Some(count) }
}

#[test]
fn minima_as_kai_reads_them() {
    let two = json!([{ "name": "a", "minMember": 2 }, { "name": "b" }]);
    let deep = json!([
        { "name": "top", "minSubGroup": 1 }, { "name": "all" }, { "name": "x", "parent": "Top", "minMember": 0 },
        { "name": "y", "parent": "all", "minMember": 3 }, { "name": "z", "parent": "all", "minMember": 1 },
    ]);
    let rows = [
        (json!({}), pods(1), vec![]),
        (json!({ "minMember": 4 }), pods(4), vec![]),
        // A minimum of pods has no effect beside parts.
        (json!({ "minMember": 9, "subGroups": two }), parts(2), vec![("a", pods(2)), ("b", pods(1))]),
        (json!({ "minSubGroup": 1, "subGroups": two }), parts(1), vec![("a", pods(2)), ("b", pods(1))]),
        (
            json!({ "subGroups": deep }),
            parts(2),
            vec![("top", parts(1)), ("all", parts(2)), ("x", pods(0)), ("y", pods(3)), ("z", pods(1))],
        ),
    ];
    for (spec, minimum, want) in rows {
        let seen = Groups.read(&group(&spec, &json!([])));
        let of: Vec<(&str, Minimum)> = seen.parts.iter().map(|it| (it.name.as_str(), it.minimum)).collect();
        assert_eq!((seen.minimum, of), (minimum, want), "{spec}");
    }
}

#[test]
fn a_pod_and_its_part() {
    let parts = |names: &[&str]| {
        let rows: Vec<Value> = names.iter().map(|it| json!({ "name": it })).collect();
        group(&json!({ "subGroups": rows }), &json!([]))
    };
    let labelled = pod(&json!({ "pod-group-name": "g" }), &json!({ "kai.scheduler/subgroup-name": "a" }));
    let plain = pod(&json!({}), &json!({}));
    assert_eq!(Groups.group_of(&labelled), Some("g"));
    assert_eq!(Groups.group_of(&plain), None);
    assert_eq!(Groups.group_of(&pod(&json!({ "pod-group-name": "" }), &json!({}))), None);
    assert_eq!(Groups.part_of(&parts(&["a", "b"]), &labelled).as_deref(), Some("a"));
    assert_eq!(Groups.part_of(&parts(&["b"]), &labelled), None);
    assert_eq!(Groups.part_of(&parts(&["a"]), &plain), None);
    assert_eq!(Groups.part_of(&parts(&["default"]), &plain).as_deref(), Some("default"));
}

#[test]
fn what_a_refusal_is_about() {
    let reason = |reason: &str| json!({ "reason": reason, "message": format!("because of {reason}.") });
    let rows = [
        (vec!["PodSchedulingErrors"], Some(About::Room)),
        (vec!["PreemptionDelayNotElapsed"], Some(About::Room)),
        (vec!["OverLimit"], Some(About::Share)),
        (vec!["PodSchedulingErrors", "NonPreemptibleOverQuota"], Some(About::Share)),
        (vec!["OverLimit", "QueueDoesNotExist"], Some(About::NoQueue)),
        (vec![], None),
    ];
    for (reasons, want) in rows {
        let list: Vec<Value> = reasons.iter().map(|it| reason(it)).collect();
        let refusal = Groups.read(&group(&json!({}), &json!(list))).refusal;
        assert_eq!(refusal.as_ref().map(|it| it.about), want, "{reasons:?}");
        if let (Some(refusal), Some(first)) = (refusal, reasons.first()) {
            assert!(refusal.words.starts_with(&format!("because of {first}")), "{}", refusal.words);
            assert_eq!(refusal.share, None, "nothing is known of the queue");
        }
    }
}

#[test]
fn what_kai_says_of_a_queue() {
    let details = json!({
        "name": "team-a",
        "queueRequestedResources": { "nvidia.com/gpu": "20" },
        "queueDeservedResources": { "nvidia.com/gpu": "8" },
        "queueAllocatedResources": { "nvidia.com/gpu": "12" },
        "queueAllocatedNonPreemptibleResources": { "nvidia.com/gpu": "6" },
        "queueResourceLimits": { "cpu": "-1m", "nvidia.com/gpu": "16" },
        "podGroupRequestedResources": { "nvidia.com/gpu": 5 },
        "podGroupRequestedNonPreemptibleResources": { "nvidia.com/gpu": "4" },
    });
    let of = |reason: &str| {
        let reason = json!({ "reason": reason, "message": "x", "details": { "queueDetails": details } });
        Groups.read(&group(&json!({}), &json!([reason]))).refusal.unwrap().share.unwrap()
    };
    let text = |it: &str| Some(it.to_owned());
    let gpu = ResourceShare {
        requested: text("5"),
        requested_non_preemptible: text("4"),
        queue_requested: text("20"),
        deserved: text("8"),
        allocated: text("12"),
        allocated_non_preemptible: text("6"),
        limit: text("16"),
    };
    let cpu = ResourceShare { limit: text("-1m"), ..ResourceShare::default() };
    for (reason, bound) in [("OverLimit", Bound::Limit), ("NonPreemptibleOverQuota", Bound::Quota)] {
        let resources = [("cpu".to_owned(), cpu.clone()), ("nvidia.com/gpu".to_owned(), gpu.clone())].into();
        assert_eq!(of(reason), QueueShare { queue: "team-a".to_owned(), bound, resources });
    }
}
