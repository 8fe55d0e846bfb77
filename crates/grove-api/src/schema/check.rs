//! Checks a JSON value against a structural schema, offline, the way the API server does.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{PoisonError, RwLock},
};

use regex_lite::Regex;
use serde_json::{Map, Value};

use crate::field::{Error, Errors, Path};

/// What is wrong with `value` by `schema`: wrong types, missing and unknown fields, values out of bounds.
///
/// CEL rules are not evaluated: the validation functions have the same rules in Rust.
pub fn check(schema: &Value, value: &Value) -> Errors {
    let mut errors = Errors::new();
    walk(schema, value, &Trail::Start(&Path::root()), &mut errors);
    errors
}

/// Likewise for a value that stands at `path` of an object.
pub(crate) fn check_at(schema: &Value, value: &Value, path: &Path, errors: &mut Errors) {
    walk(schema, value, &Trail::Start(path), errors);
}

/// The way to a field, which becomes a path only where something is wrong: most fields are right, and there are many.
enum Trail<'a> {
    Start(&'a Path),
    Field(&'a Trail<'a>, &'a str),
    Index(&'a Trail<'a>, usize),
    Key(&'a Trail<'a>, &'a str),
}

impl Trail<'_> {
    fn path(&self) -> Path {
        match self {
            Self::Start(path) => (*path).clone(),
            Self::Field(parent, name) => parent.path().child(name),
            Self::Index(parent, index) => parent.path().index(*index),
            Self::Key(parent, key) => parent.path().key(key),
        }
    }
}

fn walk(schema: &Value, value: &Value, path: &Trail<'_>, errors: &mut Errors) {
    if schema.get("x-kubernetes-int-or-string").is_some() {
        int_or_string(schema, value, path, errors);
        return;
    }
    match (schema.get("type").and_then(Value::as_str), value) {
        (Some("object"), Value::Object(fields)) => object(schema, fields, path, errors),
        (Some("array"), Value::Array(items)) => list(schema, items, path, errors),
        (Some("string"), Value::String(text)) => string(schema, text, path, errors),
        (Some("integer"), Value::Number(number)) if number.is_i64() || number.is_u64() => {
            integer(schema, value, path, errors);
        }
        (Some("number"), Value::Number(_)) | (Some("boolean"), Value::Bool(_)) | (None, _) => {}
        (Some(want), _) => errors.push(Error::type_invalid(path.path(), value, wrong_type(want, value))),
    }
}

fn wrong_type(want: &str, value: &Value) -> String {
    let hint = match (want, value) {
        ("string", Value::Number(_) | Value::Bool(_)) => "; put it in quotes",
        _ => "",
    };
    format!("must be of type {want}, not {}{hint}", type_name(value))
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn object(schema: &Value, fields: &Map<String, Value>, path: &Trail<'_>, errors: &mut Errors) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let values = schema.get("additionalProperties").filter(|it| it.is_object());
    let open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
        || (properties.is_none() && values.is_none());
    for name in
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        let has_default =
            || properties.and_then(|it| it.get(name)).is_some_and(|it| it.get("default").is_some());
        // An explicit null counts as absent: the server drops it.
        if fields.get(name).is_none_or(Value::is_null) && !has_default() {
            errors.push(Error::required(path.path().child(name), ""));
        }
    }
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        if let Some(schema) = properties.and_then(|it| it.get(name)) {
            walk(schema, value, &Trail::Field(path, name), errors);
        } else if let Some(schema) = values {
            walk(schema, value, &Trail::Key(path, name), errors);
        } else if !open {
            let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
            errors.push(Error::unknown(path.path().child(name), crate::field::closest(name, known)));
        }
    }
}

fn list(schema: &Value, items: &[Value], path: &Trail<'_>, errors: &mut Errors) {
    if let Some(max) = limit(schema, "maxItems").filter(|&max| items.len() > max) {
        // The items themselves are not looked at: the list is refused whatever they are.
        errors.push(Error::too_many(path.path(), items.len(), max));
        return;
    }
    if let Some(min) = limit(schema, "minItems").filter(|&min| items.len() < min) {
        let detail = format!("must have at least {min} {}", if min == 1 { "item" } else { "items" });
        errors.push(if items.is_empty() {
            Error::required(path.path(), detail)
        } else {
            Error::invalid(path.path(), items.len(), detail)
        });
    }
    duplicates(schema, items, path, errors);
    if let Some(schema) = schema.get("items") {
        for (index, item) in items.iter().enumerate() {
            walk(schema, item, &Trail::Index(path, index), errors);
        }
    }
}

/// Items that server-side apply could not tell apart.
fn duplicates(schema: &Value, items: &[Value], path: &Trail<'_>, errors: &mut Errors) {
    let keys: Vec<&str> = match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("set") => Vec::new(),
        Some("map") => schema["x-kubernetes-list-map-keys"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect(),
        _ => return,
    };
    let defaults = schema.get("items").and_then(|it| it.get("properties"));
    let identity = |item: &Value| -> Value {
        if keys.is_empty() {
            return item.clone();
        }
        let part = |key: &&str| {
            let default = || defaults.and_then(|it| it.get(*key)?.get("default"));
            ((*key).to_owned(), item.get(*key).or_else(default).cloned().unwrap_or(Value::Null))
        };
        Value::Object(keys.iter().map(part).collect())
    };
    // As text, because JSON values have no order; the list is the user's and may be long.
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let identity = identity(item);
        if !seen.insert(identity.to_string()) {
            errors.push(Error::duplicate(path.path().index(index), &identity));
        }
    }
}

fn string(schema: &Value, text: &str, path: &Trail<'_>, errors: &mut Errors) {
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        if !allowed.contains(&text) {
            errors.push(Error::not_supported(path.path(), text, &allowed));
        }
        return;
    }
    if let Some(max) = limit(schema, "maxLength").filter(|&max| text.chars().count() > max) {
        errors.push(Error::too_long(path.path(), max));
        return;
    }
    if limit(schema, "minLength").is_some_and(|min| text.chars().count() < min) {
        errors.push(Error::required(path.path(), "must not be empty"));
        return;
    }
    pattern(schema, text, path, errors);
    if schema.get("format").and_then(Value::as_str) == Some("date-time")
        && text.parse::<k8s_openapi::jiff::Timestamp>().is_err()
    {
        errors.push(Error::invalid(path.path(), text, "must be a time such as 2026-01-31T12:00:00Z"));
    }
}

fn pattern(schema: &Value, text: &str, path: &Trail<'_>, errors: &mut Errors) {
    let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else {
        return;
    };
    if !matches(pattern, text) {
        let detail = describe(pattern).map_or_else(|| format!("must match '{pattern}'"), str::to_owned);
        errors.push(Error::invalid(path.path(), text, detail));
    }
}

/// Whether a text matches a pattern. The patterns are ours and few, so each is compiled once; one that does not compile is
/// found by the test that compiles them all.
fn matches(pattern: &str, text: &str) -> bool {
    static COMPILED: RwLock<BTreeMap<String, Option<Regex>>> = RwLock::new(BTreeMap::new());
    let is_match = |regex: &Option<Regex>| regex.as_ref().is_none_or(|it| it.is_match(text));
    if let Some(regex) = COMPILED.read().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        return is_match(regex);
    }
    let mut compiled = COMPILED.write().unwrap_or_else(PoisonError::into_inner);
    is_match(compiled.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).ok()))
}

/// A pattern in words, where users meet it often.
fn describe(pattern: &str) -> Option<&'static str> {
    match pattern {
        super::patterns::DNS_LABEL => Some(
            "must have only lower-case letters, digits and dashes, and begin and end with a letter or digit",
        ),
        super::patterns::QUANTITY => Some("must be a quantity such as 500m, 2 or 8Gi"),
        _ => None,
    }
}

fn integer(schema: &Value, value: &Value, path: &Trail<'_>, errors: &mut Errors) {
    let number = value.as_i64();
    if schema.get("format").and_then(Value::as_str) == Some("int32")
        && number.is_none_or(|it| i32::try_from(it).is_err())
    {
        errors.push(Error::invalid(path.path(), value, "must fit into 32 bits"));
        return;
    }
    let Some(number) = number else { return };
    if let Some(min) = schema.get("minimum").and_then(as_integer).filter(|&min| number < min) {
        errors.push(Error::invalid(path.path(), value, format!("must be greater than or equal to {min}")));
    }
    if let Some(max) = schema.get("maximum").and_then(as_integer).filter(|&max| number > max) {
        errors.push(Error::invalid(path.path(), value, format!("must be less than or equal to {max}")));
    }
}

fn int_or_string(schema: &Value, value: &Value, path: &Trail<'_>, errors: &mut Errors) {
    match value {
        Value::String(text) => pattern(schema, text, path, errors),
        Value::Number(number) if !number.is_f64() => {}
        // YAML's `cpu: 0.5` is a number; the server refuses it as it is no integer.
        _ => errors.push(Error::type_invalid(
            path.path(),
            value,
            "must be an integer or a string; put it in quotes",
        )),
    }
}

/// schemars writes bounds as floats or integers alike.
#[expect(clippy::cast_possible_truncation, reason = "bounds are small whole numbers")]
fn as_integer(bound: &Value) -> Option<i64> {
    bound.as_i64().or_else(|| bound.as_f64().map(|it| it as i64))
}

fn limit(schema: &Value, keyword: &str) -> Option<usize> {
    schema.get(keyword).and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Times stand in status only, which no manifest sets: the tables of manifests cannot show them.
    #[test]
    fn times_are_checked() {
        let schema = json!({ "type": "string", "format": "date-time" });
        assert_eq!(check(&schema, &json!("2026-01-31T12:00:00Z")), []);
        assert_eq!(check(&schema, &json!("yesterday")).len(), 1);
    }
}
