//! PodDisruptionBudgets: how many pods may be disrupted, written into their status. The real controller is a moment late;
//! here the status changes with the pods. Unlike there, the pods that are expected are those that exist, whatever the
//! controllers behind them want.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::metadata;
use crate::object::Object;
use crate::resource::Resource;
use crate::selector::Labels;
use crate::store::{Key, Transaction, time};

const BUDGETS: &str = "poddisruptionbudgets.policy";
const PODS: &str = "pods";

/// The budgets that protect a pod.
pub(super) fn of(tx: &Transaction<'_>, pod: &Object) -> Vec<Arc<Object>> {
    let budgets = tx.list(BUDGETS, Some(pod.namespace())).into_iter().map(|(_, budget)| budget);
    budgets.filter(|it| selects(it, pod)).collect()
}

/// Whether a pod serves.
pub(super) fn is_ready(pod: &Object) -> bool {
    let conditions = pod.field("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let mut ready = conditions.filter(|it| it["type"] == "Ready");
    ready.any(|it| it["status"] == "True")
}

/// Writes into the budgets of a namespace what they allow now, where that has changed.
pub(super) fn count(tx: &mut Transaction<'_>, resource: &Resource, namespace: &str) {
    if ![PODS, BUDGETS].contains(&resource.id()) || namespace.is_empty() {
        return;
    }
    let budgets = tx.list(BUDGETS, Some(namespace));
    if budgets.is_empty() {
        return;
    }
    let pods = tx.list(PODS, Some(namespace));
    for (key, budget) in budgets {
        let pods: Vec<&Object> =
            pods.iter().map(|(_, pod)| &**pod).filter(|it| selects(&budget, it)).collect();
        put(tx, &key, &budget, &pods);
    }
}

fn put(tx: &mut Transaction<'_>, key: &Key, budget: &Object, pods: &[&Object]) {
    let has_ended = |pod: &Object| {
        matches!(pod.field("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"))
    };
    let expected = pods.iter().filter(|it| !has_ended(it)).count();
    let healthy = pods.iter().filter(|it| is_ready(it) && !it.is_terminating()).count();
    let desired = desired(budget, expected);
    let allowed = if expected > 0 { healthy.saturating_sub(desired) } else { 0 };
    let (status, reason) =
        if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let generation = budget.field("/metadata/generation").cloned().unwrap_or_else(|| 1.into());
    let old = budget.field("/status").cloned().unwrap_or_else(|| json!({}));
    let since = old.pointer("/conditions/0").filter(|it| it["status"] == status);
    let since = since.map_or_else(|| time(tx.now()), |it| it["lastTransitionTime"].clone());
    let new = json!({
        "observedGeneration": generation, "disruptionsAllowed": allowed, "currentHealthy": healthy,
        "desiredHealthy": desired, "expectedPods": expected,
        "conditions": [{
            "type": "DisruptionAllowed", "status": status, "reason": reason, "message": "",
            "observedGeneration": generation, "lastTransitionTime": since,
        }],
    });
    if old != new {
        let mut value = budget.value().clone();
        metadata::map_mut(&mut value).insert("status".to_owned(), new);
        tx.put(key, value);
    }
}

/// How many pods have to serve.
fn desired(budget: &Object, expected: usize) -> usize {
    if let Some(most) = budget.field("/spec/maxUnavailable") {
        return expected.saturating_sub(amount(most, expected));
    }
    budget.field("/spec/minAvailable").map_or(0, |it| amount(it, expected))
}

/// A number, or a part of a number, rounded up.
fn amount(value: &Value, of: usize) -> usize {
    let count = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
    match value {
        Value::Number(number) => number.as_u64().map_or(0, count),
        Value::String(text) => match text.strip_suffix('%').and_then(|it| it.parse::<u64>().ok()) {
            Some(percent) => of.saturating_mul(count(percent)).div_ceil(100),
            None => 0,
        },
        _ => 0,
    }
}

/// Whether a budget is about a pod. One without a selector is about none, one with an empty selector about all.
fn selects(budget: &Object, pod: &Object) -> bool {
    let Some(selector) = budget.field("/spec/selector").filter(|it| it.is_object()) else { return false };
    Labels::of_selector(selector).is_some_and(|it| it.matches(|key| pod.label(key)))
}
