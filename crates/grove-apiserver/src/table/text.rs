//! Short ways to the fields of objects, whatever is in them, and to the words that tables have for them.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::age;
use crate::object::Object;

pub(super) const NONE: &str = "<none>";
pub(super) const UNSET: &str = "<unset>";
pub(super) const UNKNOWN: &str = "<unknown>";

/// A field as a text; empty if it is none.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A field as a number; 0 if it is none.
pub(super) fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

/// A field as a list; empty if it is none.
pub(super) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A field as it is shown, if it is there: a text or a number.
pub(super) fn shown(value: &Value, pointer: &str) -> Option<String> {
    match value.pointer(pointer)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The text, or another one where it is empty.
pub(super) fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

/// The age of an object.
pub(super) fn age(object: &Object, now: Timestamp) -> Value {
    age::since(object.field("/metadata/creationTimestamp"), now).into()
}

/// The condition of a type.
pub(super) fn condition<'a>(value: &'a Value, kind: &str) -> Option<&'a Value> {
    list(value, "/status/conditions").iter().find(|it| it["type"] == kind)
}

/// Names and images of the containers of a pod template.
pub(super) fn containers(value: &Value, pointer: &str) -> [Value; 2] {
    let containers = list(value, pointer);
    ["/name", "/image"]
        .map(|field| containers.iter().map(|it| text(it, field)).collect::<Vec<_>>().join(",").into())
}

/// Labels as people write them: `a=1,b=2`.
pub(super) fn labels(value: Option<&Value>) -> String {
    let pairs = value.and_then(Value::as_object).into_iter().flatten();
    let mut pairs: Vec<String> =
        pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    pairs.sort();
    or(&pairs.join(","), NONE).to_owned()
}

/// A label selector as people write it: `a=1,b in (2,3),!c`.
pub(super) fn selector(value: Option<&Value>) -> String {
    let Some(value) = value.filter(|it| it.is_object()) else { return NONE.to_owned() };
    let labels = value.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
    let mut parts: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    for it in list(value, "/matchExpressions") {
        let key = text(it, "/key");
        let values: Vec<&str> = list(it, "/values").iter().filter_map(Value::as_str).collect();
        parts.push(match text(it, "/operator") {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return "<error>".to_owned(),
        });
    }
    parts.sort();
    or(&parts.join(","), NONE).to_owned()
}

/// As many of a list as fit, and how many more there are.
pub(super) fn some(items: &[String], most: usize) -> String {
    if items.is_empty() {
        return UNSET.to_owned();
    }
    let shown = items.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(",");
    match items.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors() {
        for (value, expected) in [
            (Value::Null, "<none>"),
            (json!({}), "<none>"),
            (json!({"matchLabels": {"b": "2", "a": "1"}}), "a=1,b=2"),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}),
                "a in (1,2)",
            ),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}, {"key": "b", "operator": "Exists"}]}),
                "!a,b",
            ),
            (json!({"matchExpressions": [{"key": "a", "operator": "Near"}]}), "<error>"),
        ] {
            assert_eq!(selector(Some(&value)), expected, "{value}");
        }
    }

    #[test]
    fn long_lists() {
        let items = |count: usize| (0..count).map(|it| it.to_string()).collect::<Vec<_>>();
        assert_eq!(some(&items(0), 3), "<unset>");
        assert_eq!(some(&items(3), 3), "0,1,2");
        assert_eq!(some(&items(5), 3), "0,1,2 + 2 more...");
    }
}
