//! The tables of keys as a JSON schema, for tools that check a file before the operator sees it.

use serde_json::{Map, Value, json};

use super::{
    keys,
    shape::{Key, Shape},
};

/// The schema of the configuration file. It accepts whatever [`load`](super::load()) accepts; what compares fields with each
/// other, or depends on the scheduler, only `load` checks.
pub fn file_schema() -> Value {
    let mut schema = json_schema(&keys::FILE);
    for accepted in keys::ACCEPTED {
        let mut at = &mut schema;
        for key in accepted.path.split('.') {
            at = &mut at["properties"][key];
        }
        // Those that have a meaning, too, are in the tables.
        if at.is_null() {
            *at = json!({ "description": accepted.warning });
        }
    }
    schema
}

/// The schema of values of this shape.
pub fn json_schema(shape: &Shape) -> Value {
    match *shape {
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Shape::Text => json!({ "type": "string" }),
        // Empty counts as absent.
        Shape::Name => {
            json!({ "type": "string", "maxLength": 253, "pattern": "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$" })
        }
        Shape::Host => json!({ "type": "string", "pattern": "^[-A-Za-z0-9.:]*$" }),
        Shape::Duration => {
            json!({ "type": "string", "pattern": "^[-+]?([0-9]*\\.?[0-9]*(ns|us|µs|μs|ms|s|m|h))+$|^[-+]?0$" })
        }
        Shape::OneOf(supported) => {
            let all: Vec<&str> = supported.iter().copied().chain([""]).collect();
            json!({ "type": "string", "enum": all })
        }
        Shape::AnyObject => json!({ "type": "object" }),
        Shape::Object(keys) => object(keys),
        Shape::List(element) => json!({ "type": "array", "items": json_schema(element) }),
    }
}

fn object(keys: &[Key]) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), json_schema(&key.shape))).collect();
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_every_accepted_key_is_in_the_schema() {
        let schema = file_schema();
        let properties = &schema["properties"];
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["apiVersion", "kind"]));
        assert_eq!(properties["logLevel"]["enum"], json!(["debug", "info", "error", ""]));
        let webhooks = &properties["server"]["properties"]["webhooks"]["properties"];
        assert_eq!(webhooks["port"], json!({ "type": "integer", "minimum": 1, "maximum": 65_535 }));
        for accepted in keys::ACCEPTED {
            let pointer = format!("/properties/{}", accepted.path.replace('.', "/properties/"));
            assert!(schema.pointer(&pointer).is_some(), "{pointer}");
        }
        // A key that has a meaning keeps its shape.
        assert_eq!(properties["schedulerName"], json!({ "type": "string" }));
    }
}
