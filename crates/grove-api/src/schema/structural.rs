//! Turns definitions that refer to each other into one structural schema, as a CRD needs it.

use serde_json::{Map, Value, json};

use super::definitions::Definitions;

/// Keywords that schemars writes and a CRD must not have, or that would change its meaning.
///
/// `nullable` is among them: with it an explicit `null` would be stored, without it the API server drops the
/// null and fills in the default, which is what upstream does.
const DROPPED: &[&str] = &["$schema", "title", "nullable", "writeOnly", "readOnly", "examples"];

/// The schema of `type_` with every reference replaced by what it refers to.
pub(super) fn resolve(definitions: &Definitions, type_: &str) -> Value {
    let schema = definitions.get(type_).cloned().unwrap_or_else(|| json!({ "type": "object" }));
    inline(&schema, definitions, is_kubernetes_type(type_))
}

/// Whether the type is Kubernetes' own. Their descriptions are left out: they are four fifths of the text,
/// `kubectl explain pod.spec` has them, and without them a CRD fits into the annotation of a client-side apply.
fn is_kubernetes_type(type_: &str) -> bool {
    type_.starts_with("io.k8s.")
}

fn inline(schema: &Value, definitions: &Definitions, foreign: bool) -> Value {
    let Some(object) = schema.as_object() else {
        return schema.clone();
    };
    let mut out = Map::new();
    for (keyword, value) in object {
        match keyword.as_str() {
            "$ref" => merge(&mut out, referred(value, definitions)),
            // `allOf` with one reference: how a description is put beside a reference.
            "allOf" => {
                for part in alternatives(value) {
                    merge(&mut out, inline(part, definitions, foreign));
                }
            }
            // An optional type: the type, or null.
            "anyOf" if alternatives(value).any(is_null) => {
                for part in alternatives(value).filter(|part| !is_null(part)) {
                    merge(&mut out, inline(part, definitions, foreign));
                }
            }
            "oneOf" => match string_enum(value) {
                Some(values) => {
                    out.insert("type".to_owned(), json!("string"));
                    out.insert("enum".to_owned(), values);
                }
                None => {
                    out.insert(keyword.clone(), value.clone());
                }
            },
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let resolved = properties.map(|(name, it)| (name.clone(), inline(it, definitions, foreign)));
                out.insert(keyword.clone(), Value::Object(resolved.collect()));
            }
            "items" | "additionalProperties" => {
                out.insert(keyword.clone(), inline(value, definitions, foreign));
            }
            "description" if foreign => {}
            "description" => {
                out.insert(keyword.clone(), json!(flowed(value.as_str().unwrap_or_default())));
            }
            "default" if is_empty_default(value) && !foreign => {}
            // `double` and friends say nothing that `number` does not.
            "format" if value == "double" => {}
            dropped if DROPPED.contains(&dropped) => {}
            _ => {
                out.insert(keyword.clone(), value.clone());
            }
        }
    }
    if out.get("type") == Some(&json!("object")) && out.get("additionalProperties") == Some(&json!(false)) {
        out.remove("additionalProperties");
    }
    sort_required(&mut out);
    Value::Object(out)
}

fn referred(reference: &Value, definitions: &Definitions) -> Value {
    let name = reference.as_str().and_then(|it| it.rsplit('/').next()).unwrap_or_default();
    match definitions.get(name) {
        Some(schema) => inline(schema, definitions, is_kubernetes_type(name)),
        None => json!({ "type": "object" }),
    }
}

fn alternatives(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn is_null(schema: &Value) -> bool {
    schema.get("nullable") == Some(&Value::Bool(true)) && schema.get("type").is_none()
}

/// What stands beside a reference (a description, a list type) wins over what the type says of itself.
fn merge(out: &mut Map<String, Value>, more: Value) {
    if let Value::Object(more) = more {
        for (keyword, value) in more {
            out.entry(keyword).or_insert(value);
        }
    }
}

/// The values of an enum whose variants have descriptions, which schemars writes as alternatives.
fn string_enum(alternatives: &Value) -> Option<Value> {
    let value =
        |it: &Value| it.get("const").or_else(|| it.get("enum")?.get(0)).filter(|v| v.is_string()).cloned();
    alternatives.as_array()?.iter().map(value).collect::<Option<Vec<_>>>().map(Value::Array)
}

/// serde's defaults of absent lists, maps and strings are no defaults of the wire; `null` is how a type
/// takes back a default of its own.
fn is_empty_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Doc comments are wrapped for the source; a schema has one line per paragraph.
fn flowed(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn sort_required(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        if required.is_empty() {
            schema.remove("required");
        }
    }
}
