use serde_json::json;

use super::*;

fn group(spec: &Value, status: &Value) -> Value {
    json!({ "apiVersion": "scheduling.volcano.sh/v1beta1", "spec": spec, "status": status })
}

fn read(spec: &Value) -> SeenGroup {
    Groups.read(&group(spec, &json!({})))
}

fn pod(annotations: &Value, labels: &Value) -> Pod {
    serde_json::from_value(json!({ "metadata": { "annotations": annotations, "labels": labels } })).unwrap()
}

/// A policy that asks for so many sub-groups of so many pods.
fn policy(name: &str, size: u64, count: u64, selector: &Value) -> Value {
    json!({
        "name": name, "subGroupSize": size, "minSubGroups": count, "matchLabelKeys": ["k"], "labelSelector": selector,
    })
}

#[test]
fn minima_as_volcano_reads_them() {
    let role = |it: &str| json!({ "matchLabels": { "role": it } });
    let mut no_keys = policy("a", 2, 1, &role("a"));
    no_keys["matchLabelKeys"] = json!([]);
    let rows = [
        (json!({ "minMember": 3 }), Some(3), vec![]),
        (json!({ "minMember": 3, "minTaskMember": { "a": 1, "b": 2 } }), Some(3), vec![("a", 1), ("b", 2)]),
        // Ignored, since the whole asks for less.
        (json!({ "minMember": 2, "minTaskMember": { "a": 1, "b": 2 } }), Some(2), vec![]),
        (
            json!({
                "minMember": 6, "minTaskMember": { "a": 1 },
                "subGroupPolicy": [policy("a", 2, 1, &role("a")), policy("b", 2, 2, &role("b"))],
            }),
            Some(6),
            vec![("a", 2), ("b", 4)],
        ),
        // Without keys, or without a duty, a policy has no effect.
        (
            json!({ "minMember": 2, "subGroupPolicy": [no_keys, policy("b", 2, 0, &role("b"))] }),
            Some(2),
            vec![],
        ),
    ];
    for (spec, pods, want) in rows {
        let seen = read(&spec);
        let parts: Vec<(&str, u64)> =
            seen.parts.iter().map(|it| (it.name.as_str(), it.minimum.pods.unwrap())).collect();
        let needed = (!want.is_empty()).then_some(want.len() as u64);
        assert_eq!((seen.minimum, parts), (Minimum { pods, parts: needed }, want), "{spec}");
    }
    let queue = |spec: &Value| read(spec).queue;
    assert_eq!(queue(&json!({ "queue": "q" })).as_deref(), Some("q"));
    assert_eq!(queue(&json!({})).as_deref(), Some("default"));
}

#[test]
fn a_pod_and_its_part() {
    let expressions = json!({ "matchExpressions": [
        { "key": "role", "operator": "In", "values": ["b", "c"] },
        { "key": "spare", "operator": "DoesNotExist" },
    ] });
    let policies =
        [policy("one", 1, 1, &json!({ "matchLabels": { "role": "a" } })), policy("two", 1, 1, &expressions)];
    let by_policy = group(&json!({ "subGroupPolicy": policies }), &json!({}));
    let by_task = group(&json!({ "minTaskMember": { "a": 1 } }), &json!({}));
    let labels = |labels: &Value| pod(&json!({}), labels);
    let rows = vec![
        (&by_policy, labels(&json!({ "role": "a" })), Some("one")),
        (&by_policy, labels(&json!({ "role": "c" })), Some("two")),
        (&by_policy, labels(&json!({ "role": "c", "spare": "" })), None),
        (&by_policy, labels(&json!({ "role": "d" })), None),
        (&by_task, labels(&json!({ "volcano.sh/task-spec": "a" })), Some("a")),
        (&by_task, labels(&json!({ "volcano.sh/task-spec": "b" })), None),
        (&by_task, pod(&json!({ "volcano.sh/task-spec": "a" }), &json!({})), Some("a")),
        (&by_task, labels(&json!({})), None),
    ];
    for (object, pod, want) in rows {
        assert_eq!(Groups.part_of(object, &pod).as_deref(), want, "{:?}", pod.metadata.labels);
    }
    let member = pod(&json!({ "scheduling.k8s.io/group-name": "g" }), &json!({}));
    assert_eq!((Groups.group_of(&member), Groups.group_of(&labels(&json!({})))), (Some("g"), None));
}

#[test]
fn what_a_refusal_is_about() {
    let said = |type_: &str| json!([{ "type": type_, "status": "True", "message": "no room" }]);
    let rows = [
        (json!({ "phase": "Pending" }), Some(About::Queue)),
        (json!({ "phase": "Inqueue" }), Some(About::Queue)),
        (json!({ "phase": "Inqueue", "conditions": said("Unschedulable") }), Some(About::Room)),
        (json!({ "phase": "Unknown" }), Some(About::Room)),
        (json!({ "phase": "Running", "conditions": said("Scheduled") }), None),
        (json!({ "phase": "Running" }), None),
        (json!({}), None),
    ];
    for (status, want) in rows {
        let refusal = Groups.read(&group(&json!({ "queue": "q" }), &status)).refusal;
        assert_eq!(refusal.map(|it| it.about), want, "{status}");
    }
}
