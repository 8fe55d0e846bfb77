//! Which pods a selector fits, as Kubernetes defines it.

use std::collections::BTreeMap;

use grove_api::wire::{LabelSelector, LabelSelectorRequirement};
use serde_json::Value;

use crate::metadata::label;

/// A selector of pods by their labels; without a term it fits all.
#[derive(Debug)]
pub(super) struct Selector {
    labels: BTreeMap<String, String>,
    expressions: Vec<LabelSelectorRequirement>,
}

impl Selector {
    pub(super) fn of(selector: &LabelSelector) -> Self {
        Self {
            labels: selector.match_labels.clone().unwrap_or_default(),
            expressions: selector.match_expressions.clone().unwrap_or_default(),
        }
    }

    pub(super) fn fits(&self, pod: &Value) -> bool {
        self.labels.iter().all(|(key, value)| label(pod, key) == Some(value))
            && self.expressions.iter().all(|it| holds(it, label(pod, &it.key)))
    }
}

fn holds(expression: &LabelSelectorRequirement, value: Option<&str>) -> bool {
    let is_listed =
        || value.is_some_and(|value| expression.values.iter().flatten().any(|listed| listed == value));
    match expression.operator.as_str() {
        "In" => is_listed(),
        "NotIn" => !is_listed(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        // Validation knows these four.
        _ => false,
    }
}
