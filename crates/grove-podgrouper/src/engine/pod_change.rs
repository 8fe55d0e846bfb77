//! What has to be written so that a pod is found in its group. Pure.

use std::collections::BTreeMap;

use grove_scheduler::workload::Grouped;
use serde_json::{Map, Value, json};

use super::pod_view::PodView;

/// A JSON merge patch of the pod; nothing where it carries all that it should. It holds for this pod, and for no other
/// one of its name.
pub(crate) fn change(pod: &PodView, grouped: &Grouped) -> Option<Value> {
    let mut metadata = Map::new();
    let carried = [
        ("labels", &grouped.labels, &pod.metadata.labels),
        ("annotations", &grouped.annotations, &pod.metadata.annotations),
    ];
    for (field, wanted, there) in carried {
        let differing = differing(wanted, there.as_ref());
        if !differing.is_empty() {
            metadata.insert(field.to_owned(), differing.into());
        }
    }
    if metadata.is_empty() {
        return None;
    }
    metadata.insert("uid".to_owned(), pod.uid().into());
    Some(json!({ "metadata": metadata }))
}

fn differing(
    wanted: &BTreeMap<String, Option<String>>,
    there: Option<&BTreeMap<String, String>>,
) -> Map<String, Value> {
    let there = |key: &str| there.and_then(|it| it.get(key));
    let differs = |(key, value): &(&String, &Option<String>)| there(key) != value.as_ref();
    let patch = |(key, value): (&String, &Option<String>)| (key.clone(), json!(value));
    wanted.iter().filter(differs).map(patch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(labels: &Value, annotations: &Value) -> PodView {
        let metadata = json!({ "name": "p", "uid": "1", "labels": labels, "annotations": annotations });
        serde_json::from_value(json!({ "metadata": metadata })).unwrap()
    }

    fn grouped(sub_group: Option<&str>) -> Grouped {
        Grouped {
            labels: [("sub".to_owned(), sub_group.map(str::to_owned))].into(),
            annotations: [("group".to_owned(), Some("g".to_owned()))].into(),
            ..Grouped::default()
        }
    }

    #[test]
    fn pods_are_patched_where_they_differ() {
        let uid = |mut metadata: Value| {
            metadata["uid"] = "1".into();
            Some(json!({ "metadata": metadata }))
        };
        let (none, other) = (Value::Null, json!({ "other": "x" }));
        for (labels, annotations, sub_group, expected) in [
            (
                &none,
                &none,
                Some("a"),
                uid(json!({ "labels": { "sub": "a" }, "annotations": { "group": "g" } })),
            ),
            (&other, &other, None, uid(json!({ "annotations": { "group": "g" } }))),
            (&json!({ "sub": "a" }), &json!({ "group": "g" }), Some("a"), None),
            (&none, &json!({ "group": "g" }), None, None),
            // Another group, another part, none at all any more.
            (
                &json!({ "sub": "a" }),
                &json!({ "group": "old" }),
                Some("a"),
                uid(json!({ "annotations": { "group": "g" } })),
            ),
            (
                &json!({ "sub": "b" }),
                &json!({ "group": "g" }),
                Some("a"),
                uid(json!({ "labels": { "sub": "a" } })),
            ),
            (
                &json!({ "sub": "b" }),
                &json!({ "group": "g" }),
                None,
                uid(json!({ "labels": { "sub": null } })),
            ),
        ] {
            assert_eq!(
                change(&pod(labels, annotations), &grouped(sub_group)),
                expected,
                "{labels} {annotations}"
            );
        }
    }
}
