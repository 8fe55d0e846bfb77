//! The eviction subresource: deletes a pod unless a PodDisruptionBudget says that it is needed.

use serde_json::{Value, json};

use super::{DeleteOptions, budgets, delete, update};
use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::object::Object;
use crate::resource::Resource;
use crate::store::{Key, Transaction, time};

const CAUSE: &str = "DisruptionBudget";

pub(super) fn evict(
    tx: &mut Transaction<'_>,
    pods: &Resource,
    key: &Key,
    eviction: &Value,
) -> Result<(), Failure> {
    if metadata::text(eviction, "name").is_some_and(|it| it != key.name) {
        return Err(Failure::bad_request("name in URL does not match name in Eviction object"));
    }
    let options = eviction.get("deleteOptions").filter(|it| !it.is_null());
    let options = options.map(DeleteOptions::read).transpose()?.unwrap_or_default();
    let pod = tx.get(key).ok_or_else(|| Failure::not_found(pods, &key.name))?;
    if !is_unprotected(&pod) {
        check(tx, &pod)?;
    }
    mark(tx, pods, key, &pod);
    delete::delete(tx, pods, key, &options).map(drop)
}

/// Pods that do not run serve nobody.
fn is_unprotected(pod: &Object) -> bool {
    let phase = pod.field("/status/phase").and_then(Value::as_str);
    matches!(phase, Some("Succeeded" | "Failed" | "Pending")) || pod.is_terminating()
}

fn check(tx: &Transaction<'_>, pod: &Object) -> Result<(), Failure> {
    let found = budgets::of(tx, pod);
    let budget = match found.as_slice() {
        [] => return Ok(()),
        [budget] => budget,
        _ => {
            let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Failure::new(500, "", message));
        }
    };
    let status = |field: &str| budget.field(&format!("/status/{field}")).and_then(Value::as_i64).unwrap_or(0);
    let (healthy, desired) = (status("currentHealthy"), status("desiredHealthy"));
    if !budgets::is_ready(pod) {
        let always = budget.field("/spec/unhealthyPodEvictionPolicy").is_some_and(|it| it == "AlwaysAllow");
        if always || (healthy >= desired && desired > 0) {
            return Ok(());
        }
    }
    if status("disruptionsAllowed") > 0 {
        return Ok(());
    }
    let name = budget.name();
    let message = if healthy <= desired {
        format!("The disruption budget {name} needs {desired} healthy pods and has {healthy} currently")
    } else {
        format!("The disruption budget {name} does not allow evicting pods currently")
    };
    let cause = Cause { reason: CAUSE.to_owned(), message, field: String::new() };
    Err(Failure::too_many_requests(
        "Cannot evict pod as it would violate the pod's disruption budget.",
        cause,
    ))
}

/// Says in the pod why it goes.
fn mark(tx: &mut Transaction<'_>, pods: &Resource, key: &Key, pod: &std::sync::Arc<Object>) {
    let mut new = pod.value().clone();
    let condition = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastProbeTime": null, "lastTransitionTime": time(tx.now()),
    });
    let status = metadata::map_mut(metadata::map_mut(&mut new).entry("status").or_insert(Value::Null));
    match status.get_mut("conditions").and_then(Value::as_array_mut) {
        Some(list) => match list.iter_mut().find(|it| it["type"] == "DisruptionTarget") {
            Some(place) => *place = condition,
            None => list.push(condition),
        },
        None => drop(status.insert("conditions".to_owned(), json!([condition]))),
    }
    update::store(tx, pods, key, pod, new);
}
