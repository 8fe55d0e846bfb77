//! What has to be written so that a group's object is as it should be. Pure.

use serde_json::{Map, Value, json};

/// A write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroupChange {
    /// It is not there.
    Create(Value),
    /// It is not as it should be: a JSON merge patch, which holds for the version that was looked at.
    Patch(Value),
}

/// The write that makes `existing` what is wanted; nothing where it is so.
///
/// Labels and annotations are added and changed, never removed: others have theirs there too. Spec and owners are ours.
pub(crate) fn change(wanted: &Value, existing: Option<&Value>) -> Option<GroupChange> {
    let Some(existing) = existing else { return Some(GroupChange::Create(wanted.clone())) };
    let mut metadata = Map::new();
    for field in ["labels", "annotations"] {
        let missing = missing(&wanted["metadata"][field], &existing["metadata"][field]);
        if !missing.is_empty() {
            metadata.insert(field.to_owned(), missing.into());
        }
    }
    let owners = &wanted["metadata"]["ownerReferences"];
    if !means_the_same(owners, &existing["metadata"]["ownerReferences"]) {
        metadata.insert("ownerReferences".to_owned(), owners.clone());
    }
    let spec = difference(&wanted["spec"], &existing["spec"]);
    if metadata.is_empty() && spec.is_empty() {
        return None;
    }
    metadata.insert("resourceVersion".to_owned(), existing["metadata"]["resourceVersion"].clone());
    let mut patch = json!({ "metadata": metadata });
    if !spec.is_empty() {
        patch["spec"] = spec.into();
    }
    Some(GroupChange::Patch(patch))
}

/// Entries of a map that another one does not have in this form.
fn missing(wanted: &Value, existing: &Value) -> Map<String, Value> {
    let wanted = wanted.as_object().into_iter().flatten();
    let differs = |(key, value): &(&String, &Value)| existing.get(key.as_str()) != Some(value);
    wanted.filter(differs).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Fields of a spec that differ; `null` for those that must not be there. Each is given whole.
fn difference(wanted: &Value, existing: &Value) -> Map<String, Value> {
    let fields = |value: &Value| -> Vec<String> {
        value.as_object().map(|it| it.keys().cloned().collect()).unwrap_or_default()
    };
    let mut names = fields(wanted);
    names.extend(fields(existing).into_iter().filter(|it| wanted.get(it).is_none()));
    let differs = |name: &String| !means_the_same(&wanted[name.as_str()], &existing[name.as_str()]);
    let patch = |name: String| {
        let (new, old) = (&wanted[name.as_str()], &existing[name.as_str()]);
        let value = if new.is_object() && old.is_object() {
            // In a merge patch, what is not named stays.
            Value::from(difference(new, old))
        } else {
            new.clone()
        };
        (name, value)
    };
    names.into_iter().filter(differs).map(patch).collect()
}

/// Whether two values say the same: nothing, and what has nothing in it, is all one. So Go decodes them.
fn means_the_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let nothing = Value::Null;
            let keys = a.keys().chain(b.keys());
            keys.into_iter()
                .all(|key| means_the_same(a.get(key).unwrap_or(&nothing), b.get(key).unwrap_or(&nothing)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| means_the_same(a, b))
        }
        _ => a == b || (is_nothing(a) && is_nothing(b)),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_nothing),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(labels: &Value, annotations: &Value, spec: &Value) -> Value {
        json!({
            "metadata": {
                "name": "g", "resourceVersion": "5", "labels": labels, "annotations": annotations,
                "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1" }],
            },
            "spec": spec,
        })
    }

    #[test]
    fn what_is_not_there_is_created() {
        let wanted = group(&json!({}), &json!({}), &json!({ "minMember": 1 }));
        assert_eq!(change(&wanted, None), Some(GroupChange::Create(wanted.clone())));
    }

    #[test]
    fn what_means_the_same_is_not_written() {
        let spec = json!({ "minMember": 1, "queue": "q" });
        let there = group(&json!({ "a": "b", "theirs": "x" }), &json!({ "theirs": "y" }), &spec);
        for (labels, spec) in [
            (json!({}), json!({ "minMember": 1, "queue": "q" })),
            (json!({ "a": "b" }), json!({ "minMember": 1, "queue": "q", "subGroups": [] })),
            (Value::Null, json!({ "queue": "q", "minMember": 1, "topologyConstraint": {} })),
            (json!({}), json!({ "minMember": 1, "queue": "q", "topologyConstraint": { "topology": null } })),
        ] {
            assert_eq!(change(&group(&labels, &Value::Null, &spec), Some(&there)), None, "{labels} {spec}");
        }
    }

    #[test]
    fn only_what_differs_is_patched() {
        let there = group(
            &json!({ "a": "b", "theirs": "x" }),
            &json!({}),
            &json!({ "minMember": 1, "queue": "q", "topologyConstraint": { "topology": "t", "requiredTopologyLevel": "rack" } }),
        );
        let wanted = group(
            &json!({ "a": "c" }),
            &json!({ "note": "n" }),
            &json!({ "minSubGroup": 2, "queue": "q", "topologyConstraint": { "topology": "t", "preferredTopologyLevel": "rack" } }),
        );
        let expected = json!({
            "metadata": { "labels": { "a": "c" }, "annotations": { "note": "n" }, "resourceVersion": "5" },
            "spec": {
                "minSubGroup": 2, "minMember": null,
                "topologyConstraint": { "preferredTopologyLevel": "rack", "requiredTopologyLevel": null },
            },
        });
        assert_eq!(change(&wanted, Some(&there)), Some(GroupChange::Patch(expected)));
    }

    /// Labels, or annotations, that there are and that are wanted, those that are written, and the outcome.
    #[test]
    fn texts_are_added_and_changed_and_never_removed() {
        let none = Value::Null;
        let ab = || json!({ "a": "b" });
        let cases = [
            (none.clone(), none.clone(), None, none.clone()),
            (ab(), none.clone(), None, ab()),
            (ab(), json!({}), None, ab()),
            (none, ab(), Some(ab()), ab()),
            (json!({}), ab(), Some(ab()), ab()),
            (ab(), ab(), None, ab()),
            (json!({ "a": "b", "c": "d" }), ab(), None, json!({ "a": "b", "c": "d" })),
            (json!({ "a": "c" }), ab(), Some(ab()), ab()),
            (json!({ "c": "d" }), ab(), Some(ab()), json!({ "a": "b", "c": "d" })),
            (
                json!({ "a": "c", "c": "d" }),
                json!({ "a": "b", "e": "f" }),
                Some(json!({ "a": "b", "e": "f" })),
                json!({ "a": "b", "c": "d", "e": "f" }),
            ),
        ];
        for field in ["labels", "annotations"] {
            for (there, wanted, written, outcome) in &cases {
                let with = |texts: &Value| {
                    let mut group = group(&Value::Null, &Value::Null, &json!({ "minMember": 1 }));
                    group["metadata"][field] = texts.clone();
                    group
                };
                let mut there = with(there);
                let change = change(&with(wanted), Some(&there));
                let patch = |texts: &Value| json!({ "metadata": { field: texts, "resourceVersion": "5" } });
                assert_eq!(change, written.as_ref().map(|it| GroupChange::Patch(patch(it))), "{wanted}");
                if let Some(GroupChange::Patch(patch)) = change {
                    json_patch::merge(&mut there, &patch);
                }
                assert_eq!(there["metadata"][field], *outcome, "{wanted}");
            }
        }
    }

    #[test]
    fn one_difference_is_enough() {
        let there = || group(&json!({ "a": "b" }), &json!({ "c": "d" }), &json!({ "minMember": 1 }));
        assert_eq!(change(&there(), Some(&there())), None);
        for (path, value) in [
            ("/metadata/ownerReferences/0/uid", json!("2")),
            ("/metadata/ownerReferences/0/name", json!("k")),
            ("/metadata/annotations/c", json!("e")),
            ("/metadata/labels/a", json!("c")),
            ("/spec/minMember", json!(2)),
        ] {
            let mut wanted = there();
            *wanted.pointer_mut(path).unwrap() = value;
            let mut group = there();
            let Some(GroupChange::Patch(patch)) = change(&wanted, Some(&group)) else { panic!("{path}") };
            json_patch::merge(&mut group, &patch);
            assert_eq!(group, wanted, "{path}");
        }
    }

    #[test]
    fn another_owner_is_written() {
        let there = group(&json!({}), &json!({}), &json!({}));
        let mut wanted = there.clone();
        wanted["metadata"]["ownerReferences"][0]["uid"] = "2".into();
        let owners = wanted["metadata"]["ownerReferences"].clone();
        let expected = json!({ "metadata": { "ownerReferences": owners, "resourceVersion": "5" } });
        assert_eq!(change(&wanted, Some(&there)), Some(GroupChange::Patch(expected)));
    }

    /// A patch that is carried out leaves nothing to be written.
    #[test]
    fn a_patch_reaches_what_is_wanted() {
        let mut there = group(
            &json!({ "a": "b" }),
            &json!({}),
            &json!({ "minMember": 3, "subGroups": [{ "name": "x" }] }),
        );
        let wanted = group(
            &json!({ "a": "c" }),
            &json!({ "n": "m" }),
            &json!({ "minSubGroup": 1, "subGroups": [{ "name": "y" }] }),
        );
        let Some(GroupChange::Patch(patch)) = change(&wanted, Some(&there)) else { panic!("no patch") };
        json_patch::merge(&mut there, &patch);
        assert_eq!(change(&wanted, Some(&there)), None);
    }
}
