//! What pods may be, as far as their writers notice: containers with names, and a spec of which little can change.

use serde_json::{Map, Value};

use super::{Subresource, meta};
use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::resource::Resource;

/// What an update may change, in the real server's words.
const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Refuses a new pod that cannot be.
pub(super) fn check(resource: &Resource, pod: &Value) -> Result<(), Failure> {
    if !resource.is("pods") {
        return Ok(());
    }
    let mut causes = Vec::new();
    if list(pod, "containers").is_empty() {
        causes.push(Cause::required("spec.containers", ""));
    }
    let mut names = Vec::new();
    for kind in ["initContainers", "containers"] {
        for (at, container) in list(pod, kind).iter().enumerate() {
            let path = format!("spec.{kind}[{at}]");
            let name = container["name"].as_str().unwrap_or_default();
            if name.is_empty() {
                causes.push(Cause::required(&format!("{path}.name"), ""));
            } else if names.contains(&name) {
                causes.push(Cause::duplicate(&format!("{path}.name"), name));
            }
            names.push(name);
            if container["image"].as_str().unwrap_or_default().is_empty() {
                causes.push(Cause::required(&format!("{path}.image"), ""));
            }
            resources(container, &path, &mut causes);
        }
    }
    for (at, gate) in list(pod, "schedulingGates").iter().enumerate() {
        let name = gate["name"].as_str().unwrap_or_default();
        if let Some(why) = meta::wrong_key(name) {
            causes.push(Cause::invalid(&format!("spec.schedulingGates[{at}]"), &format!("{name:?}"), why));
        }
    }
    let is_placed = pod.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|it| !it.is_empty());
    if is_placed && !list(pod, "schedulingGates").is_empty() {
        causes.push(Cause::forbidden(
            "spec.nodeName",
            "cannot be set until all schedulingGates have been cleared",
        ));
    }
    refuse(resource, pod, causes)
}

/// A request beyond its limit.
fn resources(container: &Value, path: &str, causes: &mut Vec<Cause>) {
    let amounts = |of: &str| container.pointer(&format!("/resources/{of}")).and_then(Value::as_object);
    for (name, limit) in amounts("limits").into_iter().flatten() {
        let request = amounts("requests").and_then(|it| it.get(name)).and_then(Value::as_str);
        let is_extended = name.contains('/') && !name.starts_with("kubernetes.io/");
        if let (Some(request), Some(limit)) = (request, limit.as_str())
            && is_extended
            && request != limit
        {
            let why = format!("must be equal to {name} limit of {limit}");
            causes.push(Cause::invalid(&format!("{path}.resources.requests"), &format!("{request:?}"), &why));
        }
    }
}

/// Refuses an update that changes what cannot change.
pub(super) fn check_update(
    resource: &Resource,
    part: Option<Subresource>,
    old: &Value,
    new: &Value,
) -> Result<(), Failure> {
    if !resource.is("pods") || part.is_some() || old.get("spec") == new.get("spec") {
        return Ok(());
    }
    let mut causes = Vec::new();
    for kind in ["containers", "initContainers"] {
        let (before, now) = (list(old, kind), list(new, kind));
        if before.len() != now.len() {
            causes.push(Cause::forbidden(
                &format!("spec.{kind}"),
                "pod updates may not add or remove containers",
            ));
            return refuse(resource, new, causes);
        }
        for (at, container) in now.iter().enumerate() {
            if container["image"].as_str().unwrap_or_default().trim().is_empty() {
                causes.push(Cause::required(&format!("spec.{kind}[{at}].image"), ""));
            }
        }
    }
    gates(old, new, &mut causes);
    tolerations(old, new, &mut causes);
    let mut changed = spec(new);
    let before = spec(old);
    for field in ["schedulingGates", "tolerations", "activeDeadlineSeconds"] {
        keep(&mut changed, &before, field);
    }
    for kind in ["containers", "initContainers"] {
        if let Some(Value::Array(now)) = changed.get_mut(kind) {
            for (container, before) in now.iter_mut().zip(list(old, kind)) {
                keep(metadata::map_mut(container), before.as_object().unwrap_or(&Map::new()), "image");
            }
        }
    }
    if !list(old, "schedulingGates").is_empty() {
        narrow(&mut changed, &before, &mut causes);
    }
    if changed != before {
        let fields = changed.iter().filter(|(name, value)| before.get(*name) != Some(*value)).map(|it| it.0);
        let gone = before.keys().filter(|it| !changed.contains_key(*it));
        let names: Vec<&str> = fields.chain(gone).map(String::as_str).collect();
        let why = format!(
            "pod updates may not change fields other than {CHANGEABLE}\nchanged: {}",
            names.join(", ")
        );
        causes.push(Cause::forbidden("spec", &why));
    }
    refuse(resource, new, causes)
}

/// While a pod is gated, where it may go can become less.
fn narrow(changed: &mut Map<String, Value>, before: &Map<String, Value>, causes: &mut Vec<Cause>) {
    let none = Map::new();
    let old = before.get("nodeSelector").and_then(Value::as_object).unwrap_or(&none);
    let new = changed.get("nodeSelector").and_then(Value::as_object).unwrap_or(&none);
    if !old.iter().all(|(key, value)| new.get(key) == Some(value)) {
        let shown = Value::Object(new.clone()).to_string();
        let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        causes.push(Cause::invalid("spec.nodeSelector", &shown, why));
    }
    keep(changed, before, "nodeSelector");
    let had_affinity = before.get("affinity").is_some();
    if let Some(Value::Object(affinity)) = changed.get_mut("affinity") {
        let before = before.get("affinity").and_then(Value::as_object).unwrap_or(&none);
        keep(affinity, before, "nodeAffinity");
        if affinity.is_empty() && !had_affinity {
            changed.shift_remove("affinity");
        }
    }
}

/// Gates only go.
fn gates(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    for (at, gate) in list(new, "schedulingGates").iter().enumerate() {
        if !list(old, "schedulingGates").iter().any(|it| it["name"] == gate["name"]) {
            let name = gate["name"].as_str().unwrap_or_default();
            let why = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            causes.push(Cause::forbidden(&format!("spec.schedulingGates[{at}].name"), &why));
        }
    }
}

/// Tolerations only come.
fn tolerations(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    let now = list(new, "tolerations");
    let is_kept = |old: &Value| {
        now.iter().any(|new| {
            let same = |field: &str| old.get(field) == new.get(field);
            ["key", "operator", "value", "effect"].iter().all(|it| same(it))
        })
    };
    if !list(old, "tolerations").iter().all(is_kept) {
        causes.push(Cause::forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        ));
    }
}

fn list<'a>(pod: &'a Value, field: &str) -> &'a [Value] {
    let found = pod.get("spec").and_then(|it| it.get(field)?.as_array());
    found.map_or(&[], Vec::as_slice)
}

/// The spec, without fields that say nothing.
fn spec(pod: &Value) -> Map<String, Value> {
    let mut spec = pod.get("spec").and_then(Value::as_object).cloned().unwrap_or_default();
    spec.retain(|_, value| !matches!(value, Value::Null) && *value != Value::Array(Vec::new()));
    spec
}

/// Makes a field what it was.
fn keep(now: &mut Map<String, Value>, before: &Map<String, Value>, field: &str) {
    match before.get(field) {
        Some(value) => now.insert(field.to_owned(), value.clone()),
        None => now.shift_remove(field),
    };
}

fn refuse(resource: &Resource, pod: &Value, causes: Vec<Cause>) -> Result<(), Failure> {
    if causes.is_empty() {
        return Ok(());
    }
    Err(Failure::invalid(resource, metadata::text(pod, "name").unwrap_or_default(), causes))
}
