//! The canonical form of a pod specification: what means the same is written the same.
//!
//! Sorted keys; nothing that says no more than its absence; lists whose order means nothing sorted; quantities by their
//! value. Kubernetes' own types have a fixed set of fields, so that a field is known by its name.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write};

use k8s_openapi::api::core::v1::PodSpec;
use serde_json::{Map, Value};

use super::quantity;

/// Lists that are maps or sets: their order means nothing. Init containers run in their order, and arguments, sources of
/// an environment and projections are read in theirs: they are not here.
const UNORDERED: [&str; 13] = [
    "claims",
    "containers",
    "hostAliases",
    "imagePullSecrets",
    "ports",
    "readinessGates",
    "resourceClaims",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
    "volumeDevices",
    "volumeMounts",
    "volumes",
];
/// Maps with keys of the user: every value is content, an empty one too.
const FREE: [&str; 6] =
    ["annotations", "labels", "matchLabels", "nodeSelector", "options", "volumeAttributes"];
/// Maps of quantities, with keys of the user.
const AMOUNTS: [&str; 3] = ["limits", "overhead", "requests"];
/// Quantities.
const QUANTITIES: [&str; 2] = ["divisor", "sizeLimit"];
/// Selectors: an empty one selects everything, an absent one nothing.
const SELECTORS: [&str; 2] = ["labelSelector", "namespaceSelector"];
/// Texts that say something when they are empty. Of all others Kubernetes' own types make no difference.
const EMPTY_IS_CONTENT: [&str; 2] = ["hostnameOverride", "storageClassName"];
/// What Kubernetes' own types leave out where it is false: upstream Grove never writes it.
const FALSE_IS_ABSENT: [&str; 7] =
    ["hostIPC", "hostNetwork", "hostPID", "readOnly", "stdin", "stdinOnce", "tty"];
/// Likewise where it is zero.
const ZERO_IS_ABSENT: [&str; 6] = [
    "failureThreshold",
    "hostPort",
    "initialDelaySeconds",
    "periodSeconds",
    "successThreshold",
    "timeoutSeconds",
];

/// A pod specification in canonical form.
pub fn canonical_pod_spec(spec: &PodSpec) -> String {
    // A PodSpec always serialises: it has only string keys.
    let mut text = String::new();
    write(&mut text, "", &serde_json::to_value(spec).unwrap_or_default());
    text
}

/// Writes the value of the field `name`.
fn write(text: &mut String, name: &str, value: &Value) {
    match value {
        Value::Object(map) => write_fields(text, name, map),
        Value::Array(items) => {
            text.push('[');
            for item in in_order(name, items) {
                text.push_str(&item);
                text.push(',');
            }
            text.push(']');
        }
        Value::String(said) if QUANTITIES.contains(&name) => {
            let _ = write!(text, "{:?}", quantity::canonical(said));
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

fn write_fields(text: &mut String, name: &str, map: &Map<String, Value>) {
    let of_user = FREE.contains(&name) || AMOUNTS.contains(&name);
    let sorted: BTreeMap<&String, &Value> =
        map.iter().filter(|(key, value)| of_user || says_something(key, value)).collect();
    text.push('{');
    for (key, value) in sorted {
        let _ = write!(text, "{key:?}:");
        // A key of the user is no field, whatever it is called.
        let field = match name {
            _ if AMOUNTS.contains(&name) => QUANTITIES[0],
            _ if of_user => "",
            _ => key,
        };
        write(text, field, value);
        text.push(',');
    }
    text.push('}');
}

/// The items of a list, each in canonical form: in their order where that means something, else sorted.
fn in_order(name: &str, items: &[Value]) -> Vec<String> {
    let items: Cow<'_, [Value]> = if name == "env" { variables(items) } else { Cow::Borrowed(items) };
    let mut texts: Vec<String> = items
        .iter()
        .map(|item| {
            let mut text = String::new();
            write(&mut text, "", item);
            text
        })
        .collect();
    if UNORDERED.contains(&name) {
        texts.sort();
    }
    texts
}

/// Variables by name. Of two of the same name the later one counts, so that their order stays; where a value refers to
/// another variable, only those before it are known, so that all of it stays.
fn variables(items: &[Value]) -> Cow<'_, [Value]> {
    let refers = |item: &Value| item["value"].as_str().is_some_and(|it| it.contains("$("));
    if items.iter().any(refers) {
        return Cow::Borrowed(items);
    }
    let mut sorted = items.to_vec();
    sorted.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    Cow::Owned(sorted)
}

/// Whether a field is more than one that is absent.
fn says_something(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(false) => !FALSE_IS_ABSENT.contains(&name),
        Value::Number(number) if number.as_i64() == Some(0) => !ZERO_IS_ABSENT.contains(&name),
        Value::String(text) if text.is_empty() => EMPTY_IS_CONTENT.contains(&name),
        // Kubernetes' own types write it always, and 0 is read as 1.
        Value::String(text) if name == "divisor" => quantity::canonical(text) != "0",
        Value::Object(_) if SELECTORS.contains(&name) => true,
        Value::Object(map) if FREE.contains(&name) || AMOUNTS.contains(&name) => !map.is_empty(),
        Value::Object(map) => map.iter().any(|(name, value)| says_something(name, value)),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
