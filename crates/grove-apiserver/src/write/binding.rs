//! The binding subresource: a scheduler gives a pod a node.

use serde_json::{Value, json};

use super::Subresource;
use super::admit::{self, Change};
use crate::admission::Operation;
use crate::failure::Failure;
use crate::metadata;
use crate::resource::Resource;
use crate::store::{Key, Transaction, time};
use crate::write::{pods, update};

/// Binds a pod to the node that `binding` targets. It does not count as a change of the spec: the generation stays.
pub(super) fn bind(
    tx: &mut Transaction<'_>,
    pods: &Resource,
    key: &Key,
    binding: &Value,
) -> Result<(), Failure> {
    let target = binding.pointer("/target/name").and_then(Value::as_str).unwrap_or_default();
    let kind = binding.pointer("/target/kind").and_then(Value::as_str).unwrap_or("Node");
    if target.is_empty() || !matches!(kind, "" | "Node") {
        return Err(Failure::bad_request("a binding must target a Node by its name"));
    }
    let old = tx.get(key).ok_or_else(|| Failure::not_found(pods, &key.name))?;
    update::check_uid(pods, &old, binding)?;
    let refuse = |why: String| Err(Failure::conflict(&binding_resource(), &key.name, &why));
    let name = &key.name;
    if old.is_terminating() {
        return refuse(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    if tx.is_attended() {
        let change = Change {
            operation: Operation::Create,
            old: None,
            ..Change::update(key, Some(Subresource::Binding), &old)
        };
        let judged = admit::mutate(tx, change, binding.clone())?;
        admit::validate(tx, change, &judged)?;
    }
    let node = old.field("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
    if !node.is_empty() {
        return refuse(format!("pod {name} is already assigned to node {node:?}"));
    }
    if pods::has_gates(old.value()) {
        return refuse(format!("pod {name} has non-empty .spec.schedulingGates"));
    }

    let mut new = old.value().clone();
    for field in ["annotations", "labels"] {
        if let Some(more) = metadata::of(binding).and_then(|it| it.get(field)?.as_object()) {
            let place = metadata::map_mut(metadata::of_mut(&mut new).entry(field).or_insert(Value::Null));
            place.extend(
                more.iter().filter(|(_, it)| it.is_string()).map(|(key, it)| (key.clone(), it.clone())),
            );
        }
    }
    metadata::tidy(&mut new);
    let fields = metadata::map_mut(&mut new);
    metadata::map_mut(fields.entry("spec").or_insert(Value::Null))
        .insert("nodeName".to_owned(), target.into());
    let status = metadata::map_mut(fields.entry("status").or_insert(Value::Null));
    status.shift_remove("nominatedNodeName");
    scheduled(status.entry("conditions").or_insert(Value::Null), &time(tx.now()), pods.strict);
    tx.put(key, new);
    Ok(())
}

/// Sets the condition `PodScheduled`, in its place if it is there.
fn scheduled(conditions: &mut Value, now: &Value, strict: bool) {
    let mut condition = json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": now});
    if strict {
        condition["lastProbeTime"] = Value::Null;
    }
    if let Value::Array(list) = conditions {
        match list.iter_mut().find(|it| it["type"] == "PodScheduled") {
            Some(there) => *there = condition,
            None => list.push(condition),
        }
    } else {
        *conditions = json!([condition]);
    }
}

/// Messages name the subresource.
fn binding_resource() -> Resource {
    Resource::built_in("", "v1", "Binding", "pods/binding")
}
