//! Whether pods find their gang.

use std::fmt::Debug;

use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

use super::{
    Rule, Violation,
    outcome::{Expected, Prepared, Run, name_of},
    shapes::Shape,
};
use crate::backend::{Object, prepare};

/// How a scheduler tells which object a pod belongs to.
pub trait Membership: Debug {
    /// Whether the pod, which was `before` until the backend prepared it, belongs to one of these objects.
    fn is_member(&self, before: &Pod, pod: &Pod, objects: &[Object]) -> bool;
}

/// By name: some text that the backend put on the pod is the name of an object.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByName;

impl Membership for ByName {
    fn is_member(&self, before: &Pod, pod: &Pod, objects: &[Object]) -> bool {
        let value = |pod: &Pod| serde_json::to_value(pod).unwrap_or_default();
        let after = value(pod);
        let mut texts = Vec::new();
        added(&value(before), &after, &mut texts);
        objects.iter().filter_map(|it| name_of(&it.value)).any(|name| texts.contains(&name))
    }
}

/// The texts of `after` that `before` does not have in the same place.
fn added<'a>(before: &Value, after: &'a Value, texts: &mut Vec<&'a str>) {
    match after {
        Value::String(text) if before != after => texts.push(text),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(number, it)| added(&before[number], it, texts));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, it)| added(&before[key], it, texts)),
        _ => {}
    }
}

pub(super) fn check(run: &Run<'_>, shape: &Shape, found: &mut Vec<Violation>) {
    let mut say = |rule, what: String| found.push(Violation { rule, shape: Some(shape.name), what });
    let gang = &shape.gang;
    // What is not rendered has been told already.
    if run.scheduler.render(&run.noted(gang), &[]).is_err() {
        return;
    }
    let outcome = match run.outcome(gang) {
        Ok(outcome) => outcome,
        Err(_) if run.expected(gang) == Expected::Refused => return,
        Err(why) => return say(Rule::Pods, why),
    };
    let mut gang = run.noted(gang);
    gang.objects = outcome.objects.iter().filter_map(|it| name_of(&it.value)).map(str::to_owned).collect();
    for Prepared { index, min, before, after } in &outcome.pods {
        let name = before.spec.as_ref().and_then(|it| it.hostname.as_deref()).unwrap_or_default();
        let mut again = after.clone();
        if prepare(run.scheduler, &mut again, &gang).is_err() || again != *after {
            say(Rule::Pods, format!("{name} is prepared differently the second time"));
        }
        let value = |pod: &Pod| serde_json::to_value(pod).unwrap_or_default();
        if let Some(field) = lost(&value(before), &value(after)) {
            say(Rule::Pods, format!("{name} has lost its {field}, or has another one"));
        }
        // Pods above the minimum may stand alone, and so may all where nothing is rendered.
        let is_needed = index < min && !outcome.objects.is_empty();
        if is_needed && !run.kit.membership.is_member(before, after, &outcome.objects) {
            say(Rule::Complete, format!("{name} is needed and belongs to no object"));
        }
    }
}

/// The first field of `before` that `after` does not have. What is in a list may have moved.
fn lost(before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(_)) => before.iter().find_map(|(key, it)| {
            let below = lost(it, &after[key])?;
            Some(if below.is_empty() { key.clone() } else { format!("{key}.{below}") })
        }),
        (Value::Array(before), Value::Array(after)) => {
            let kept = before.iter().all(|it| after.iter().any(|other| lost(it, other).is_none()));
            (!kept).then(String::new)
        }
        _ => (before != after).then(String::new),
    }
}
