//! Which value of the old object a value of the new one was before: fields by name, items of lists by their keys.

use serde_json::{Map, Value};

use super::{ListType, Schema};

/// The old value of a place, if there was one that can be told.
#[derive(Clone, Copy)]
pub(super) struct Old<'a> {
    pub(super) value: Option<&'a Value>,
    /// Whether the value, or what it is in, is what it was before.
    pub(super) unchanged: bool,
}

impl<'a> Old<'a> {
    /// What there was, next to what there is.
    pub(super) fn new(new: &Value, old: Option<&'a Value>) -> Self {
        Self { value: old, unchanged: old == Some(new) }
    }

    fn of(self, new: &Value, old: Option<&'a Value>) -> Self {
        match old {
            // Where the parts of something unchanged cannot be told apart, they are unchanged all the same.
            None => Self { value: None, unchanged: self.unchanged },
            Some(_) if self.unchanged => Self { value: old, unchanged: true },
            Some(_) => Self::new(new, old),
        }
    }

    /// The old value of a field or entry.
    pub(super) fn field(self, schema: &Schema, name: &str, new: &Value) -> Self {
        let old = self.value.filter(|_| !schema.is_atomic_map).and_then(|it| it.get(name));
        self.of(new, old)
    }

    /// The old values of the items of a list, in the order of the new ones.
    pub(super) fn items(self, schema: &Schema, new: &[Value]) -> Vec<Self> {
        let old = self.value.and_then(Value::as_array);
        let (Some(old), ListType::Map(keys)) = (old, &schema.list_type) else {
            return new.iter().map(|it| self.of(it, None)).collect();
        };
        let identity = |item: &Value| identity(schema, keys, item);
        let mut known: std::collections::BTreeMap<String, &'a Value> = std::collections::BTreeMap::new();
        for item in old {
            if let Some(identity) = identity(item) {
                known.entry(identity).or_insert(item);
            }
        }
        new.iter().map(|it| self.of(it, identity(it).and_then(|it| known.get(&it).copied()))).collect()
    }
}

/// What an item of a list is known by, as a text. None if it lacks a key.
pub(super) fn identity(schema: &Schema, keys: &[String], item: &Value) -> Option<String> {
    let item = item.as_object()?;
    let known: Option<Vec<&Value>> = keys.iter().map(|key| key_of(schema, item, key)).collect();
    Some(known?.into_iter().map(canonical).collect::<Vec<_>>().join(","))
}

fn key_of<'a>(schema: &'a Schema, item: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    let default = || schema.items.as_ref()?.properties.get(key)?.default.as_ref();
    item.get(key).or_else(default)
}

/// A value as a text that is the same for the same values, whatever the order of their fields.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<String> =
                map.iter().map(|(key, value)| format!("{key:?}:{}", canonical(value))).collect();
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}
