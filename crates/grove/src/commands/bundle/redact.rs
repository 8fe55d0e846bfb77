//! Takes out of an object what may be a secret. All that goes into a bundle goes through here.
//!
//! Fields that hold secrets are hidden whatever is in them: values of environment variables and of HTTP headers, commands and their
//! arguments, attributes of volumes, the last words of a container, and fields whose names say that they are credentials. All other text
//! is searched for credentials.

use serde_json::{Map, Value};

use super::text::{self, REDACTED};

/// Keys of annotations with a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// A longer annotation is a document.
const MAX_ANNOTATION: usize = 1_024;
/// What the init container of the start order waits for: names and counts.
const START_ORDER: &str = "--podcliques=";
/// How names of fields with credentials end, in lower case. Names and files of secrets are none.
const CREDENTIALS: [&str; 7] =
    ["password", "token", "secret", "apikey", "accesskey", "privatekey", "credentials"];

/// Redacts an object of any kind, or a part of one.
pub(super) fn object(value: &mut Value) {
    // A template in a form of its own, which is in the PodCliqueSet in a form that is known.
    if value["kind"] == "ControllerRevision"
        && let Some(revision) = value.as_object_mut()
    {
        revision.retain(|key, _| key != "data");
    }
    walk(value);
}

/// Redacts a configuration file in YAML.
pub(super) fn configuration(text: &str) -> String {
    let parsed: Result<Value, _> = serde_saphyr::from_str(text);
    let Ok(mut value) = parsed else { return REDACTED.to_owned() };
    object(&mut value);
    serde_saphyr::to_string(&value).unwrap_or_else(|_| REDACTED.to_owned())
}

fn walk(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // Who wrote which field; keys of lists are in it.
            map.retain(|key, _| key != "managedFields");
            map.iter_mut().for_each(|(key, value)| field(key, value));
        }
        Value::Array(list) => list.iter_mut().for_each(walk),
        Value::String(words) => {
            if let Some(clean) = text::redacted(words) {
                *words = clean;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A field by its name, wherever it is: templates of pods are in many kinds. A label of the same name is text.
fn field(key: &str, value: &mut Value) {
    match (key, &mut *value) {
        ("env" | "httpHeaders", Value::Array(list)) => {
            for it in list {
                if let Some(value) = it.get_mut("value") {
                    hide(value);
                }
                walk(it);
            }
        }
        ("command" | "args", Value::Array(list)) => {
            let is_kept = |it: &Value| it.as_str().is_some_and(|it| it.starts_with(START_ORDER));
            list.iter_mut().filter(|it| !is_kept(it)).for_each(hide);
        }
        ("volumeAttributes" | "options", Value::Object(map)) => map.values_mut().for_each(hide),
        ("annotations", Value::Object(map)) => annotations(map),
        ("terminated", Value::Object(map)) => {
            // The end of its log.
            map.get_mut("message").into_iter().for_each(hide);
            map.values_mut().for_each(walk);
        }
        (_, value) if value.is_string() && is_credential(key) => hide(value),
        (_, value) => walk(value),
    }
}

/// Tools keep whole objects in annotations. One that can be read is redacted like any other.
fn annotations(map: &mut Map<String, Value>) {
    map.retain(|key, _| key != LAST_APPLIED);
    for (key, value) in map {
        let Some(words) = value.as_str() else { continue };
        match serde_json::from_str::<Value>(words) {
            Ok(mut inner @ (Value::Object(_) | Value::Array(_))) => {
                object(&mut inner);
                *value = Value::String(inner.to_string());
            }
            _ if words.len() > MAX_ANNOTATION || words.trim().contains('\n') => hide(value),
            _ => field(key, value),
        }
    }
}

/// Whether a field has a credential, by its name.
fn is_credential(key: &str) -> bool {
    let key = key.to_lowercase();
    CREDENTIALS.iter().any(|it| key.ends_with(it))
}

/// That something was set stays visible.
fn hide(value: &mut Value) {
    if *value != Value::Null && *value != "" {
        *value = Value::String(REDACTED.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(rows: &[(&str, Value, Value)]) {
        for (what, before, want) in rows {
            let mut value = before.clone();
            object(&mut value);
            assert_eq!(value, *want, "{what}");
            object(&mut value);
            assert_eq!(value, *want, "{what}: again");
        }
    }

    #[test]
    fn containers() {
        check(&[
            (
                "values of variables, in any list of containers",
                json!({ "spec": { "initContainers": [{ "env": [{ "name": "A", "value": "x" }] }] } }),
                json!({ "spec": { "initContainers": [{ "env": [{ "name": "A", "value": "<redacted>" }] }] } }),
            ),
            (
                "where variables come from stays, and that one is empty",
                json!({ "env": [{ "name": "A", "valueFrom": { "secretKeyRef": { "name": "s", "key": "k" } } }, { "name": "B", "value": "" }],
                        "envFrom": [{ "secretRef": { "name": "s" } }] }),
                json!({ "env": [{ "name": "A", "valueFrom": { "secretKeyRef": { "name": "s", "key": "k" } } }, { "name": "B", "value": "" }],
                        "envFrom": [{ "secretRef": { "name": "s" } }] }),
            ),
            (
                "commands, but for what the start order waits for",
                json!({ "command": ["sh", "-c"], "args": ["--podcliques=a:2", "--other=x"] }),
                json!({ "command": ["<redacted>", "<redacted>"], "args": ["--podcliques=a:2", "<redacted>"] }),
            ),
            (
                "probes",
                json!({ "livenessProbe": { "httpGet": { "path": "/", "httpHeaders": [{ "name": "X", "value": "x" }] } } }),
                json!({ "livenessProbe": { "httpGet": { "path": "/", "httpHeaders": [{ "name": "X", "value": "<redacted>" }] } } }),
            ),
            (
                "volumes",
                json!({ "csi": { "driver": "d", "volumeAttributes": { "a": "x" } } }),
                json!({ "csi": { "driver": "d", "volumeAttributes": { "a": "<redacted>" } } }),
            ),
            (
                "the last words of a container",
                json!({ "lastState": { "terminated": { "exitCode": 1, "reason": "Error", "message": "x" } } }),
                json!({ "lastState": { "terminated": { "exitCode": 1, "reason": "Error", "message": "<redacted>" } } }),
            ),
        ]);
    }

    #[test]
    fn metadata() {
        let inner = json!({ "spec": { "env": [{ "name": "A", "value": "x" }] } }).to_string();
        let clean = json!({ "spec": { "env": [{ "name": "A", "value": "<redacted>" }] } }).to_string();
        check(&[
            (
                "managed fields",
                json!({ "metadata": { "name": "a", "managedFields": [{ "manager": "m" }] } }),
                json!({ "metadata": { "name": "a" } }),
            ),
            (
                "annotations",
                json!({ "annotations": { LAST_APPLIED: "{}", "a": inner, "b": "short", "c": "a: 1\nb: 2", "d": "x".repeat(2_000) } }),
                json!({ "annotations": { "a": clean, "b": "short", "c": "<redacted>", "d": "<redacted>" } }),
            ),
            (
                "labels are text, whatever they are called",
                json!({ "labels": { "env": "prod", "command": "x", "annotations": "y" } }),
                json!({ "labels": { "env": "prod", "command": "x", "annotations": "y" } }),
            ),
        ]);
    }

    #[test]
    fn kinds_and_text() {
        check(&[
            (
                "a revision has a template",
                json!({ "kind": "ControllerRevision", "data": { "a": 1 }, "revision": 3 }),
                json!({ "kind": "ControllerRevision", "revision": 3 }),
            ),
            (
                "text anywhere",
                json!({ "status": { "conditions": [{ "message": "GET https://a:b@host: refused" }] } }),
                json!({ "status": { "conditions": [{ "message": "GET https://<redacted>@host: refused" }] } }),
            ),
            (
                "fields that say what they are",
                json!({ "accessToken": "x", "tokenFile": "y", "automountServiceAccountToken": true, "secretName": "z" }),
                json!({ "accessToken": "<redacted>", "tokenFile": "y", "automountServiceAccountToken": true, "secretName": "z" }),
            ),
            ("what is no text", json!([1, true, null]), json!([1, true, null])),
        ]);
    }

    #[test]
    fn configurations() {
        let text = "clientConnection: { qps: 5 }\nbearerToken: x\ntokenFile: /run/token\nsecretName: cert\n";
        let value: Value = serde_saphyr::from_str(&configuration(text)).unwrap();
        let want = json!({
            "clientConnection": { "qps": 5 }, "bearerToken": "<redacted>", "tokenFile": "/run/token", "secretName": "cert",
        });
        assert_eq!(value, want);
        assert_eq!(configuration("a: ["), REDACTED);
    }
}
