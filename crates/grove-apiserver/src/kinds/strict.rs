//! Holds an object against its kind: takes out what the kind does not know, and says what is of the wrong type. Values
//! become what Go makes of them: null is the same as nothing, quantities have one spelling.

use serde_json::{Map, Value};

use super::{Definition, Type, by_name, quantity};
use crate::schema::Path;

/// As many unknown fields as are told. A body has room for more than anybody reads.
const MOST_UNKNOWN: usize = 100;

/// What is wrong with an object.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Problem {
    /// The paths of fields that are not known; they are gone from the object.
    pub(crate) unknown: Vec<String>,
    /// The first value of the wrong type, in the words of the real server.
    pub(crate) wrong: Option<String>,
}

/// Checks the whole of an object.
pub(crate) fn check(kind: &str, definition: &'static Definition, object: &mut Value) -> Problem {
    let mut walk = Walk { kind, problem: Problem::default() };
    if let Value::Object(fields) = object {
        walk.object(definition, fields, &Path::Root);
    }
    walk.problem
}

struct Walk<'a> {
    kind: &'a str,
    problem: Problem,
}

impl Walk<'_> {
    /// JSON is at most 128 levels deep, so this recursion is, too.
    fn object(&mut self, definition: &'static Definition, fields: &mut Map<String, Value>, path: &Path<'_>) {
        fields.retain(|name, value| {
            let path = path.field(name);
            let Some(field) = definition.field(name) else {
                if self.problem.unknown.len() < MOST_UNKNOWN {
                    self.problem.unknown.push(path.to_string());
                }
                return false;
            };
            if !value.is_null() {
                self.value(&field.holds, value, &path);
            }
            !value.is_null()
        });
    }

    fn value(&mut self, of: &Type, value: &mut Value, path: &Path<'_>) {
        match (of, &mut *value) {
            (Type::Object(name), Value::Object(fields)) => {
                if let Some(definition) = by_name(name) {
                    self.object(definition, fields, path);
                }
            }
            (Type::List(item), Value::Array(list)) => {
                for (at, value) in list.iter_mut().enumerate() {
                    self.value(item, value, &path.index(at));
                }
            }
            (Type::Map(item), Value::Object(map)) => {
                for (key, value) in map {
                    if value.is_null() {
                        *value = zero(item);
                    } else {
                        self.value(item, value, &path.field(key));
                    }
                }
            }
            (Type::Quantity, Value::String(_) | Value::Number(_)) => match quantity::canonical(value) {
                Some(text) => *value = text.into(),
                None => self.wrong(
                    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                        .to_owned(),
                ),
            },
            (Type::Any, _)
            | (Type::Text | Type::Bytes | Type::Time | Type::IntOrText, Value::String(_))
            | (Type::Boolean, Value::Bool(_))
            | (Type::Number, Value::Number(_)) => {}
            (Type::Integer | Type::IntOrText, Value::Number(number)) if number.is_i64() => {}
            // The first one is told.
            _ if self.problem.wrong.is_some() => {}
            (of, value) => {
                let found = match value {
                    Value::Null => "null",
                    Value::Bool(_) => "bool",
                    Value::Number(_) => "number",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                let message = format!(
                    "json: cannot unmarshal {found} into Go struct field {}.{path} of type {}",
                    self.kind,
                    shown(of)
                );
                self.wrong(message);
            }
        }
    }

    fn wrong(&mut self, message: String) {
        self.problem.wrong.get_or_insert(message);
    }
}

/// What null becomes in a map, whose values are not pointers.
fn zero(of: &Type) -> Value {
    match of {
        Type::Text | Type::Bytes => "".into(),
        Type::Integer | Type::Number => 0.into(),
        Type::Boolean => false.into(),
        Type::Quantity => "0".into(),
        _ => Value::Null,
    }
}

/// The type, as Go calls it.
fn shown(of: &Type) -> String {
    match of {
        Type::Any => "interface {}".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Bytes => "[]uint8".to_owned(),
        Type::Time => "v1.Time".to_owned(),
        Type::Integer => "int32".to_owned(),
        Type::Number => "float64".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Quantity => "resource.Quantity".to_owned(),
        Type::IntOrText => "intstr.IntOrString".to_owned(),
        Type::Object(name) => {
            let mut parts: Vec<&str> = name.rsplitn(3, '.').take(2).collect();
            parts.reverse();
            parts.join(".")
        }
        Type::List(item) => format!("[]{}", shown(item)),
        Type::Map(item) => format!("map[string]{}", shown(item)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::of_kind;

    fn checked(kind: &str, mut object: Value) -> (Value, Problem) {
        let problem = check(kind, of_kind("", "v1", kind).unwrap(), &mut object);
        (object, problem)
    }

    #[test]
    fn unknown_fields_go_and_are_named() {
        let (object, problem) = checked(
            "Pod",
            json!({
                "metadata": {"name": "a", "labels": {"any": "x"}, "colour": 1}, "datum": {},
                "spec": {"containers": [{"name": "a"}, {"name": "b", "imgae": "x", "args": null}], "nodeSelector": {"k": null}},
            }),
        );
        assert_eq!(problem.unknown, ["metadata.colour", "datum", "spec.containers[1].imgae"]);
        assert_eq!(problem.wrong, None);
        let expected = json!({
            "metadata": {"name": "a", "labels": {"any": "x"}},
            "spec": {"containers": [{"name": "a"}, {"name": "b"}], "nodeSelector": {"k": ""}},
        });
        assert_eq!(object, expected);
    }

    #[test]
    fn values_of_the_wrong_type() {
        for (kind, object, expected) in [
            (
                "ConfigMap",
                json!({"data": {"c": 5}}),
                "number into Go struct field ConfigMap.data.c of type string",
            ),
            ("Pod", json!({"spec": []}), "array into Go struct field Pod.spec of type v1.PodSpec"),
            (
                "Pod",
                json!({"spec": {"containers": {}}}),
                "object into Go struct field Pod.spec.containers of type []v1.Container",
            ),
            (
                "Pod",
                json!({"spec": {"priority": 1.5}}),
                "number into Go struct field Pod.spec.priority of type int32",
            ),
            (
                "Pod",
                json!({"spec": {"hostNetwork": "yes"}}),
                "string into Go struct field Pod.spec.hostNetwork of type bool",
            ),
        ] {
            let wrong = checked(kind, object).1.wrong.unwrap();
            assert_eq!(wrong, format!("json: cannot unmarshal {expected}"));
        }
        let requests =
            json!({"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "much"}}}]}});
        assert!(checked("Pod", requests).1.wrong.unwrap().starts_with("quantities must match"));
    }

    #[test]
    fn quantities_have_one_spelling() {
        let requests = json!({"cpu": 0.5, "memory": "1024Mi", "example.com/gpu": 8});
        let (object, problem) = checked(
            "Pod",
            json!({"spec": {"containers": [{"name": "a", "resources": {"requests": requests}}]}}),
        );
        assert_eq!(problem, Problem::default());
        let expected = json!({"cpu": "500m", "memory": "1Gi", "example.com/gpu": "8"});
        assert_eq!(object.pointer("/spec/containers/0/resources/requests"), Some(&expected));
    }

    #[test]
    fn there_is_an_end_to_what_is_told() {
        let many: Map<String, Value> = (0..1000).map(|it| (format!("f{it}"), Value::Null)).collect();
        assert_eq!(checked("Pod", Value::Object(many)).1.unknown.len(), MOST_UNKNOWN);
    }
}
