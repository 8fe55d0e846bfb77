//! A status as a merge patch: what changed, and nothing else.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// The merge patch that turns the status `old` into `new`, if the object still has this version.
pub fn status_patch<S: Serialize>(
    version: Option<&str>,
    old: Option<&S>,
    new: &S,
) -> serde_json::Result<Value> {
    let fields = |status: Option<&S>| match status.map(serde_json::to_value).transpose()? {
        Some(Value::Object(fields)) => Ok(fields),
        _ => serde_json::Result::Ok(Map::new()),
    };
    let (old, new) = (fields(old)?, fields(Some(new))?);
    let gone = old.keys().filter(|it| !new.contains_key(*it)).map(|it| (it.clone(), Value::Null));
    let changed = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let status: Map<String, Value> =
        gone.chain(changed.map(|(key, value)| (key.clone(), value.clone()))).collect();
    Ok(json!({ "metadata": { "resourceVersion": version }, "status": status }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_in_a_patch() {
        let (old, new) = (json!({ "a": 1, "b": [1], "c": 3 }), json!({ "a": 1, "b": [2], "d": 4 }));
        let patch = status_patch(Some("7"), Some(&old), &new).unwrap();
        assert_eq!(
            patch,
            json!({ "metadata": { "resourceVersion": "7" }, "status": { "b": [2], "c": null, "d": 4 } })
        );
        let first = status_patch(Some("7"), None, &json!({ "a": 1 })).unwrap();
        assert_eq!(first["status"], json!({ "a": 1 }));
    }
}
