//! Which definitions have the names that they ask for. The real server finds out a moment later, in controllers; here it
//! is part of the write, so that what is defined is served at once.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::RESOURCE;
use crate::metadata;
use crate::object::Object;
use crate::ownership::{self, Writer};
use crate::store::{Key, Transaction, time};

/// Who writes the status of definitions in the real server: itself.
const CONTROLLER: &str = "kube-apiserver";

/// Names that only one definition of a group may have, and those that are of kinds.
const PLURALS: [&str; 2] = ["plural", "singular"];
const KINDS: [&str; 2] = ["kind", "listKind"];

/// Brings the conditions of all definitions up to date. Those that have their names keep them.
pub(crate) fn reconcile(tx: &mut Transaction<'_>) {
    let (now, resource) = (time(tx.now()), super::resource());
    let mut all: Vec<(Key, Arc<Object>)> = tx.list(RESOURCE, None);
    all.sort_by_key(|(_, it)| !super::is_established(it));
    for (at, (key, definition)) in all.iter().enumerate() {
        let others: Vec<&Value> =
            all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, (_, it))| it.value()).collect();
        // Those before were brought up to date meanwhile.
        let others: Vec<Value> = others
            .into_iter()
            .map(|it| {
                let name = metadata::text(it, "name").unwrap_or_default();
                tx.get(&super::key(name)).map_or_else(|| it.clone(), |it| it.value().clone())
            })
            .collect();
        let mut new = definition.value().clone();
        judge(&mut new, &others, &now);
        // Who creates a definition is not who accepts its names.
        let controller = || Writer::new(CONTROLLER, Some("status"), resource.api_version(), now.clone());
        ownership::update(definition.value(), &mut new, &resource.shape, false, controller);
        if new != *definition.value() {
            tx.put(key, new);
        }
    }
}

/// Accepts the names that no other definition has.
fn judge(definition: &mut Value, others: &[Value], now: &Value) {
    let group = definition.pointer("/spec/group").cloned();
    let taken: Vec<&Value> = others
        .iter()
        .filter(|it| it.pointer("/spec/group") == group.as_ref())
        .filter_map(|it| it.pointer("/status/acceptedNames"))
        .collect();
    let names = definition.pointer("/spec/names").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut accepted =
        definition.pointer("/status/acceptedNames").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut conflict = None;
    let is_taken = |fields: &[&str], name: &Value| {
        let short = |it: &Value| it["shortNames"].as_array().is_some_and(|it| it.contains(name));
        taken
            .iter()
            .any(|it| fields.iter().any(|field| it[*field] == *name) || (fields == PLURALS && short(it)))
    };
    let mut take =
        |field: &str, reason: &str, value: &Value, fields: &[&str], accepted: &mut Map<String, Value>| {
            let parts = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            match parts.iter().find(|it| is_taken(fields, it)) {
                Some(name) => conflict = Some((reason.to_owned(), format!("{name} is already in use"))),
                None => drop(accepted.insert(field.to_owned(), value.clone())),
            }
        };
    for (field, reason, fields) in [
        ("plural", "PluralConflict", PLURALS),
        ("singular", "SingularConflict", PLURALS),
        ("shortNames", "ShortNamesConflict", PLURALS),
        ("kind", "KindConflict", KINDS),
        ("listKind", "ListKindConflict", KINDS),
    ] {
        match names.get(field) {
            Some(value) => take(field, reason, value, &fields, &mut accepted),
            None => drop(accepted.shift_remove(field)),
        }
    }
    match names.get("categories") {
        Some(categories) => drop(accepted.insert("categories".to_owned(), categories.clone())),
        None => drop(accepted.shift_remove("categories")),
    }
    let status = metadata::map_mut(metadata::map_mut(definition).entry("status").or_insert(Value::Null));
    status.insert("acceptedNames".to_owned(), accepted.into());
    let was_established = condition(definition, "Established") == Some(true);
    if let Some((reason, message)) = conflict {
        set_condition(definition, "NamesAccepted", false, &reason, &message, now);
        if !was_established {
            set_condition(definition, "Established", false, "NotAccepted", "not all names are accepted", now);
        }
        return;
    }
    set_condition(definition, "NamesAccepted", true, "NoConflicts", "no conflicts found", now);
    if !was_established {
        let message = "the initial names have been accepted";
        set_condition(definition, "Established", true, "InitialNamesAccepted", message, now);
    }
}

/// Whether a condition is true. None if it is not there.
pub(super) fn condition(definition: &Value, kind: &str) -> Option<bool> {
    let conditions = definition.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|it| it["type"] == kind).map(|it| it["status"] == "True")
}

/// Sets a condition, in its place if it is there. Its time is that of the last change of its status.
pub(super) fn set_condition(
    definition: &mut Value,
    kind: &str,
    is: bool,
    reason: &str,
    message: &str,
    now: &Value,
) {
    let status = metadata::map_mut(metadata::map_mut(definition).entry("status").or_insert(Value::Null));
    let conditions = status.entry("conditions").or_insert(Value::Null);
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Value::Array(conditions) = conditions else { return };
    let word = if is { "True" } else { "False" };
    let known = conditions.iter_mut().find(|it| it["type"] == kind);
    let since = known.as_ref().filter(|it| it["status"] == word).map(|it| it["lastTransitionTime"].clone());
    let condition = json!({
        "type": kind, "status": word, "lastTransitionTime": since.unwrap_or_else(|| now.clone()),
        "reason": reason, "message": message,
    });
    match known {
        Some(known) => *known = condition,
        // In the order in which the real server comes to them.
        None if kind == "NamesAccepted" => conditions.insert(0, condition),
        None => conditions.push(condition),
    }
}
