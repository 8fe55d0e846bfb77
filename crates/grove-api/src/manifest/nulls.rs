//! Fields without a value.

use serde_json::Value;

/// The value without fields that are null: the API server drops them, and templating tools write many.
/// A null in a list stays, there it is an item.
pub fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
