//! Whole answers of two servers to the same requests: they may differ in UIDs, resource versions and times, and in nothing else.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::client::Answer;

/// Headers that are compared. Others are about the connection, or name the server.
const HEADERS: [&str; 4] = ["content-type", "warning", "retry-after", "allow"];
/// Fields that are different each time, whatever they hold.
const FIELDS: [(&str, &str); 4] = [
    ("uid", "<uid>"),
    ("resourceVersion", "<resourceVersion>"),
    // They hold a resource version.
    ("continue", "<continue>"),
    ("storageVersionHash", "<hash>"),
];

static UID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").ok());
static TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").ok());
/// Of a document, in the URL that it is served at.
static HASH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("hash=[0-9A-F]+").ok());
/// A resource version in a message.
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\(\d+\)|current: \d+").ok());

/// An answer without what is different each time.
pub(super) fn normalised(answer: &Answer) -> Value {
    let mut headers = Map::new();
    for (name, value) in &answer.headers {
        let name = name.to_ascii_lowercase();
        if HEADERS.contains(&name.as_str()) {
            let values = headers.entry(name).or_insert_with(|| json!([]));
            values.as_array_mut().into_iter().for_each(|it| it.push(text(value).into()));
        }
    }
    json!({ "status": answer.status, "headers": headers, "body": value(&answer.body) })
}

fn value(given: &Value) -> Value {
    match given {
        // The keys of managed fields may have UIDs.
        Value::Object(fields) => fields.iter().map(|(key, it)| (text(key), field(fields, key, it))).collect(),
        // What discovery and OpenAPI list has no order.
        Value::Array(items) if items.iter().all(is_listed) && !items.is_empty() => {
            items.iter().filter_map(|it| Some((name(it)?.to_owned(), value(it)))).collect()
        }
        Value::Array(items) if !items.is_empty() && items.iter().all(is_verb) => {
            let mut verbs: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            verbs.sort_unstable();
            verbs.into()
        }
        // Managers come in the order of the seconds in which they wrote.
        Value::Array(items) if !items.is_empty() && items.iter().all(|it| it["fieldsV1"].is_object()) => {
            items.iter().map(|it| (manager(it), value(it))).collect()
        }
        Value::Array(items) => items.iter().map(value).collect(),
        Value::String(it) => text(it).into(),
        other => other.clone(),
    }
}

fn field(fields: &Map<String, Value>, key: &str, given: &Value) -> Value {
    if let (Some((_, word)), Value::String(it)) = (FIELDS.iter().find(|it| it.0 == key), given)
        && !it.is_empty()
    {
        return (*word).into();
    }
    // The end of a generated name is a matter of chance.
    if let ("name", Some(Value::String(prefix)), Value::String(name)) =
        (key, fields.get("generateName"), given)
        && name.starts_with(prefix)
    {
        return format!("{prefix}<chance>").into();
    }
    // A column of a table tells how old an object is.
    if let ("cells", Value::Array(cells)) = (key, given) {
        let age = |it: &Value| it.as_str().is_some_and(is_age);
        return cells.iter().map(|it| if age(it) { "<age>".into() } else { value(it) }).collect();
    }
    value(given)
}

/// Whether this is a group, a version or a resource as discovery tells them.
fn is_listed(item: &Value) -> bool {
    let is_group = item["versions"].is_array();
    let is_resource = item["verbs"].is_array() || item["subresources"].is_array();
    (is_group || is_resource || item["resources"].is_array()) && name(item).is_some()
}

fn name(item: &Value) -> Option<&str> {
    let names = ["/name", "/metadata/name", "/resource", "/subresource", "/version"];
    names.iter().find_map(|it| item.pointer(it)?.as_str())
}

/// Who wrote, and how.
fn manager(entry: &Value) -> String {
    let text = |field: &str| entry[field].as_str().unwrap_or_default();
    let words = [text("manager"), text("operation"), text("subresource"), text("apiVersion")];
    words.join(" ").replace("  ", " ")
}

fn is_verb(item: &Value) -> bool {
    const VERBS: [&str; 8] =
        ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    item.as_str().is_some_and(|it| VERBS.contains(&it))
}

fn is_age(text: &str) -> bool {
    text.strip_suffix('s').is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

fn text(given: &str) -> String {
    let replace = |regex: &LazyLock<Option<Regex>>, text: &str, word: &dyn Fn(&Captures<'_>) -> String| {
        regex.as_ref().map_or_else(|| text.to_owned(), |it| it.replace_all(text, word).into_owned())
    };
    let given = replace(&UID, given, &|_| "<uid>".to_owned());
    let given = replace(&HASH, &given, &|_| "hash=<hash>".to_owned());
    let given = replace(&TIME, &given, &|_| "<time>".to_owned());
    replace(&NUMBER, &given, &|it| {
        if it[0].starts_with('(') {
            "(<resourceVersion>)".to_owned()
        } else {
            "current: <resourceVersion>".to_owned()
        }
    })
}

/// Where two answers differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// A JSON pointer.
    pub(super) at: String,
    pub(super) real: Option<Value>,
    pub(super) ours: Option<Value>,
}

/// All differences of two normalised answers.
pub(super) fn differences(real: &Value, ours: &Value) -> Vec<Difference> {
    let mut out = Vec::new();
    compare(Some(real), Some(ours), "", &mut out);
    out
}

fn compare(real: Option<&Value>, ours: Option<&Value>, at: &str, out: &mut Vec<Difference>) {
    match (real, ours) {
        (Some(Value::Object(real)), Some(Value::Object(ours))) => {
            let added = ours.keys().filter(|it| !real.contains_key(*it));
            for key in real.keys().chain(added) {
                let segment = key.replace('~', "~0").replace('/', "~1");
                compare(real.get(key), ours.get(key), &format!("{at}/{segment}"), out);
            }
        }
        (Some(Value::Array(real)), Some(Value::Array(ours))) if real.len() == ours.len() => {
            for (index, (real, ours)) in real.iter().zip(ours).enumerate() {
                compare(Some(real), Some(ours), &format!("{at}/{index}"), out);
            }
        }
        _ if real == ours => {}
        _ => out.push(Difference { at: at.to_owned(), real: real.cloned(), ours: ours.cloned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: Value) -> Value {
        normalised(&Answer { status: 200, headers: Vec::new(), body })
    }

    #[test]
    fn what_is_different_each_time_is_no_difference() {
        let made = |uid: &str, version: &str, time: &str| {
            let metadata = json!({
                "uid": uid, "resourceVersion": version, "creationTimestamp": time,
                "generateName": "a-", "name": format!("a-{version}"),
            });
            let message = format!("the UID ({uid}) and the version ({version}) of {time}");
            answer(
                json!({ "metadata": metadata, "message": message, "rows": [{ "cells": [1, format!("{version}s")] }] }),
            )
        };
        let one = made("0a0a0a0a-0000-4000-8000-0123456789ab", "7", "2026-01-01T00:00:00Z");
        let other = made("fafafafa-0000-4000-8000-0123456789ab", "4711", "2027-01-01T00:00:00.123456Z");
        assert_eq!(differences(&one, &other), []);
    }

    #[test]
    fn managers_are_told_apart_by_who_they_are() {
        let manager = |name: &str, field: &str| json!({ "manager": name, "operation": "Update", "apiVersion": "v1", "fieldsV1": { field: {} } });
        let (one, other) = (manager("one", "f:a"), manager("other", "f:b"));
        let first = answer(json!({ "managedFields": [one, other] }));
        assert_eq!(differences(&first, &answer(json!({ "managedFields": [other, one] }))), []);
        let changed = answer(json!({ "managedFields": [one, manager("other", "f:c")] }));
        let at = "/body/managedFields/other Update v1/fieldsV1/f:b";
        assert_eq!(differences(&first, &changed)[0].at, at);
    }

    #[test]
    fn everything_else_is_one() {
        let real = answer(json!({ "a": 1, "list": [1, 2], "same/slash": { "x": 1 } }));
        let ours = answer(json!({ "a": "1", "list": [1], "same/slash": {}, "more": null }));
        let found: Vec<String> = differences(&real, &ours).into_iter().map(|it| it.at).collect();
        assert_eq!(found, ["/body/a", "/body/list", "/body/same~1slash/x", "/body/more"]);
    }

    #[test]
    fn headers_about_the_content_are_compared() {
        let with = |name: &str, value: &str| {
            let headers = vec![(name.to_owned(), value.to_owned())];
            normalised(&Answer { status: 200, headers, body: Value::Null })
        };
        assert_eq!(differences(&with("Content-Type", "a"), &with("content-type", "b")).len(), 1);
        assert_eq!(differences(&with("Date", "a"), &with("date", "b")), []);
    }
}
