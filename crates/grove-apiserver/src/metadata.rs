//! Reading and writing the metadata of objects that are JSON.

use serde_json::{Map, Value};

/// The metadata of an object.
pub(crate) fn of(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// The metadata of an object, made if there is none. An object that is no JSON object becomes one.
pub(crate) fn of_mut(object: &mut Value) -> &mut Map<String, Value> {
    map_mut(map_mut(object).entry("metadata").or_insert(Value::Null))
}

/// The fields of a value, which becomes an empty object if it was none.
pub(crate) fn map_mut(value: &mut Value) -> &mut Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => {
            *other = Value::Object(Map::new());
            map_mut(other)
        }
    }
}

/// A field of the metadata, if it is a text.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    of(object)?.get(name)?.as_str()
}

/// A field of the metadata, if it is a number.
pub(crate) fn number(object: &Value, name: &str) -> Option<i64> {
    of(object)?.get(name)?.as_i64()
}

/// A field of the metadata, if it is a list; else no elements.
pub(crate) fn list<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    of(object).and_then(|it| it.get(name)).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Sets a field of the metadata, or removes it.
pub(crate) fn set(object: &mut Value, name: &str, value: Option<Value>) {
    match value {
        Some(value) => of_mut(object).insert(name.to_owned(), value),
        None => of_mut(object).shift_remove(name),
    };
}

/// Makes a field of the metadata what it is in another object.
pub(crate) fn keep(object: &mut Value, old: &Value, name: &str) {
    set(object, name, of(old).and_then(|it| it.get(name)).cloned());
}

/// Removes metadata that says nothing: in Kubernetes every field of it is left out when it is empty.
pub(crate) fn tidy(object: &mut Value) {
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    };
    let metadata = of_mut(object);
    for field in ["labels", "annotations"] {
        if let Some(Value::Object(map)) = metadata.get_mut(field) {
            map.retain(|_, value| !value.is_null());
        }
    }
    metadata.retain(|_, value| says_something(value));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tidy_keeps_what_says_something() {
        let mut object = json!({"metadata": {
            "name": "a", "namespace": "", "creationTimestamp": null, "labels": {"a": null}, "finalizers": [],
            "annotations": {"b": "", "c": null}, "deletionGracePeriodSeconds": 0,
        }});
        tidy(&mut object);
        let expected =
            json!({"metadata": {"name": "a", "annotations": {"b": ""}, "deletionGracePeriodSeconds": 0}});
        assert_eq!(object, expected);
    }

    #[test]
    fn metadata_is_made_where_there_is_none() {
        let mut object = json!({"metadata": "odd"});
        set(&mut object, "name", Some("a".into()));
        set(&mut object, "uid", None);
        assert_eq!(object, json!({"metadata": {"name": "a"}}));
    }
}
