//! Fields that are left out, where the schema says what they are then.

use serde_json::{Map, Value};

use super::Schema;

/// Fills in the defaults. A null where there may be none counts as left out.
pub(super) fn fill(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => fill_map(schema, map),
        Value::Array(list) => {
            let Some(items) = &schema.items else { return };
            for item in list {
                if item.is_null()
                    && !items.nullable
                    && let Some(default) = &items.default
                {
                    *item = default.clone();
                }
                fill(items, item);
            }
        }
        _ => {}
    }
}

fn fill_map(schema: &Schema, map: &mut Map<String, Value>) {
    let is_own = |field: &str| !(schema.is_resource && matches!(field, "apiVersion" | "kind" | "metadata"));
    let is_left_out = |value: Option<&Value>, schema: &Schema| match value {
        None => true,
        Some(value) => value.is_null() && !schema.nullable,
    };
    for (field, child) in schema.properties.iter().filter(|(field, _)| is_own(field)) {
        if is_left_out(map.get(field), child) {
            match &child.default {
                Some(default) => drop(map.insert(field.clone(), default.clone())),
                None => drop(map.shift_remove(field)),
            }
        }
    }
    if let Some(additional) = schema.additional_schema().filter(|it| !it.nullable) {
        match &additional.default {
            Some(default) => {
                map.values_mut().filter(|it| it.is_null()).for_each(|it| *it = default.clone());
            }
            None => map.retain(|_, it| !it.is_null()),
        }
    }
    for (field, value) in map.iter_mut().filter(|(field, _)| is_own(field)) {
        if let Some(child) = schema.child(field) {
            fill(child, value);
        }
    }
}
