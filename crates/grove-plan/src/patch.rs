//! Merge patches that touch only what we own.

use serde_json::{Map, Value};

/// What has to change so that `current` has everything `wanted` says. Keys that `wanted` does not name stay.
pub(crate) fn owned(current: &Value, wanted: &Value) -> Option<Value> {
    diff(current, wanted, false)
}

/// What has to change so that `current` is `wanted`, no more and no less.
pub(crate) fn exact(current: &Value, wanted: &Value) -> Option<Value> {
    diff(current, wanted, true)
}

fn diff(current: &Value, wanted: &Value, remove: bool) -> Option<Value> {
    match (current, wanted) {
        (Value::Object(current), Value::Object(wanted)) => {
            let mut patch = Map::new();
            for (key, value) in wanted {
                let old = current.get(key).unwrap_or(&Value::Null);
                if let Some(change) = diff(old, value, remove) {
                    patch.insert(key.clone(), change);
                }
            }
            if remove {
                let gone = current.keys().filter(|it| !wanted.contains_key(*it));
                patch.extend(gone.map(|it| (it.clone(), Value::Null)));
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        // An empty object and an absent one are the same to a merge patch, and to Kubernetes.
        (Value::Null, Value::Object(wanted)) if wanted.is_empty() => None,
        (current, wanted) => (current != wanted).then(|| wanted.clone()),
    }
}

/// Merges `more` into `patch`, object by object.
pub(crate) fn merge(patch: &mut Value, more: Value) {
    match (patch, more) {
        (Value::Object(patch), Value::Object(more)) => {
            for (key, value) in more {
                merge(patch.entry(key).or_insert(Value::Null), value);
            }
        }
        (patch, more) => *patch = more,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn foreign_keys_stay_and_lists_are_replaced() {
        let current = json!({ "a": 1, "b": { "x": 1, "y": 2 }, "l": [1, 2] });
        let wanted = json!({ "b": { "x": 3 }, "l": [1], "e": {} });
        assert_eq!(owned(&current, &wanted), Some(json!({ "b": { "x": 3 }, "l": [1] })));
        assert_eq!(owned(&current, &json!({ "b": { "x": 1 } })), None);
    }

    #[test]
    fn exact_removes_what_is_not_wanted() {
        let current = json!({ "a": 1, "b": { "x": 1, "y": 2 } });
        let wanted = json!({ "b": { "x": 1 } });
        assert_eq!(exact(&current, &wanted), Some(json!({ "b": { "y": null }, "a": null })));
        assert_eq!(exact(&current, &current), None);
    }

    #[test]
    fn merging_keeps_both_sides() {
        let mut patch = json!({ "metadata": { "labels": { "a": null } } });
        merge(&mut patch, json!({ "metadata": { "labels": { "b": "1" } }, "spec": 1 }));
        assert_eq!(patch, json!({ "metadata": { "labels": { "a": null, "b": "1" } }, "spec": 1 }));
    }
}
