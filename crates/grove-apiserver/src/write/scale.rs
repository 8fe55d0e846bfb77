//! The scale subresource: one number of an object, in a form that does not depend on its kind.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::admit::{self, Change};
use super::{Answer, Apply, Subresource, apply, check, update};
use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::object::Object;
use crate::ownership;
use crate::resource::{Resource, Scale};
use crate::store::{Key, Transaction};

/// The `Scale` of an object.
pub(crate) fn of(resource: &Resource, object: &Object) -> Result<Value, Failure> {
    let scale = paths(resource)?;
    let mut meta = Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(text) = object.meta(field) {
            meta.insert(field.to_owned(), text.into());
        }
    }
    let number = |path: &str| lookup(object.value(), path).and_then(Value::as_i64);
    let Some(wanted) = number(&scale.spec_path) else {
        let path = &scale.spec_path;
        return Err(Failure::internal(format!(
            "Internal error occurred: the spec replicas field {path:?} does not exist"
        )));
    };
    // Zero is left out of the spec, though not of the status. So does the real server.
    let spec = if wanted == 0 { json!({}) } else { json!({"replicas": wanted}) };
    let mut status = json!({"replicas": number(&scale.status_path).unwrap_or(0)});
    let selector = scale.selector_path.as_deref().and_then(|it| lookup(object.value(), it)?.as_str());
    if let Some(selector) = selector {
        status["selector"] = selector.into();
    }
    Ok(
        json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta, "spec": spec, "status": status}),
    )
}

/// Writes the number; `build` makes the new `Scale` of the old one.
pub(super) fn write(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    build: impl FnOnce(&Value) -> Result<Value, Failure>,
) -> Result<Answer, Failure> {
    let scale = paths(resource)?;
    let old = tx.get(key).ok_or_else(|| Failure::not_found(resource, &key.name))?;
    let old = check::present(resource, old);
    let current = of(resource, &old)?;
    let mut new = build(&current)?;
    if tx.is_attended() {
        // Webhooks judge scales, and not the objects behind them.
        let old = Arc::new(Object::new(current));
        let change = Change::update(key, Some(Subresource::Scale), &old);
        new = admit::mutate(tx, change, new)?;
        admit::validate(tx, change, &new)?;
    }
    check_kind(&new)?;
    update::check_name(key, &new)?;
    update::check_uid(resource, &old, &new)?;
    if metadata::text(&new, "resourceVersion")
        .is_some_and(|it| !it.is_empty() && old.meta("resourceVersion") != Some(it))
    {
        return Err(Failure::modified(resource, &key.name));
    }
    let replicas = replicas(resource, key, &new)?;
    let mut object = old.value().clone();
    insert(&mut object, &scale.spec_path, replicas.into());
    update::note(tx, resource, &old, &mut object);
    check::check(resource, Some(Subresource::Scale), Some(&old), &mut object)?;
    let stored = update::store(tx, resource, key, &old, object);
    of(resource, &stored).map(|scale| Answer::Other(200, scale))
}

/// Applies the number: who does so owns it from now on.
pub(super) fn apply(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    apply: Apply,
) -> Result<Answer, Failure> {
    let scale = paths(resource)?;
    let old = tx.get(key).ok_or_else(|| Failure::not_found(resource, &key.name))?;
    let Apply { object: mut said, force } = apply;
    check_kind(&said)?;
    if metadata::text(&said, "name").is_none() {
        metadata::set(&mut said, "name", Some(key.name.as_str().into()));
    }
    update::check_name(key, &said)?;
    update::check_uid(resource, &old, &said)?;
    let mut wanted = json!({});
    insert(&mut wanted, &scale.spec_path, replicas(resource, key, &said)?.into());
    let outcome = ownership::apply(old.value(), &wanted, &resource.shape, tx.writer(resource), force);
    let outcome = outcome.map_err(|it| apply::untold(&apply::told(&said), &it))?;
    if !outcome.conflicts.is_empty() {
        return Err(apply::refusal(&outcome.conflicts));
    }
    let managed = apply::managers(&outcome.object);
    let part = Some(Subresource::Scale);
    let stored = update::change(tx, resource, key, part, &old, outcome.object, Some(managed))?;
    of(resource, &stored).map(|scale| Answer::Other(200, scale))
}

/// The number that a `Scale` asks for.
fn replicas(resource: &Resource, key: &Key, scale: &Value) -> Result<i64, Failure> {
    let path = &paths(resource)?.spec_path;
    let replicas = match scale.pointer("/spec/replicas") {
        None | Some(Value::Null) => 0,
        Some(value) => value.as_i64().ok_or_else(|| {
            Failure::bad_request(
                "json: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32",
            )
        })?,
    };
    // Where a definition is stored, its check says so, together with what else is wrong.
    if replicas < 0 && resource.served.is_none() {
        let cause = Cause::invalid(path, &replicas.to_string(), "should be a non-negative integer");
        return Err(Failure::invalid(resource, &key.name, vec![cause]));
    }
    Ok(replicas)
}

/// What is wrong with the numbers of an object of a custom kind. A write of the status is not about those of the spec.
pub(super) fn wrong(scale: &Scale, part: Option<Subresource>, object: &Value) -> Vec<Cause> {
    let mut paths = vec![&scale.spec_path, &scale.status_path];
    if part == Some(Subresource::Status) {
        paths.remove(0);
    }
    let wrong = |path: &String| match lookup(object, path)? {
        Value::Number(number) if number.is_i64() => {
            let value = number.as_i64().filter(|it| *it < 0)?.to_string();
            Some(Cause::invalid(path, &value, "should be a non-negative integer"))
        }
        Value::Null | Value::Number(_) => None,
        other => {
            let (shown, kind) = match other {
                Value::String(text) => (text.clone(), "string"),
                Value::Bool(it) => (it.to_string(), "bool"),
                Value::Array(_) => (other.to_string(), "[]interface {}"),
                _ => (other.to_string(), "map[string]interface {}"),
            };
            let why = format!("{path} accessor error: {shown} is of the type {kind}, expected int64");
            Some(Cause::invalid(path, "0", &why))
        }
    };
    paths.into_iter().filter_map(wrong).collect()
}

fn paths(resource: &Resource) -> Result<&Scale, Failure> {
    resource.scale.as_ref().ok_or_else(Failure::no_such_resource)
}

fn check_kind(scale: &Value) -> Result<(), Failure> {
    match scale.get("kind").and_then(Value::as_str) {
        None | Some("Scale") => Ok(()),
        Some(kind) => {
            let version = scale.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
            Err(Failure::bad_request(format!("{kind} in version {version:?} cannot be handled as a Scale")))
        }
    }
}

/// The fields of a path such as `.spec.replicas`.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').filter(|it| !it.is_empty())
}

fn lookup<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    segments(path).try_fold(object, |value, field| value.get(field))
}

fn insert(object: &mut Value, path: &str, value: Value) {
    let place = segments(path)
        .fold(object, |place, field| metadata::map_mut(place).entry(field).or_insert(Value::Null));
    *place = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_cannot_be() {
        let scale = Scale {
            spec_path: ".spec.replicas".to_owned(),
            status_path: ".status.replicas".to_owned(),
            selector_path: None,
        };
        for (object, part, expected) in [
            (json!({"spec": {"replicas": 0}, "status": {"replicas": 1}}), None, vec![]),
            (json!({"spec": {}}), None, vec![]),
            (
                json!({"spec": {"replicas": -1}, "status": {"replicas": -2}}),
                None,
                vec![
                    ".spec.replicas Invalid value: -1: should be a non-negative integer",
                    ".status.replicas Invalid value: -2: should be a non-negative integer",
                ],
            ),
            (json!({"spec": {"replicas": -1}}), Some(Subresource::Status), vec![]),
            (
                json!({"spec": {"replicas": "two"}}),
                None,
                vec![
                    ".spec.replicas Invalid value: 0: .spec.replicas accessor error: two is of the type string, expected int64",
                ],
            ),
        ] {
            let found: Vec<String> = wrong(&scale, part, &object)
                .into_iter()
                .map(|it| format!("{} {}", it.field, it.message))
                .collect();
            assert_eq!(found, expected, "{object}");
        }
    }
}
