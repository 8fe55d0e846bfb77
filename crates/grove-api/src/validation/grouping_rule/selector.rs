//! Selectors of pods. The API server does not check them: it knows nothing of what they are for.

use crate::{
    field::{Error, Errors, Path},
    limits::MAX_SELECTOR,
    validation::kubernetes::{self, is_qualified_name},
    wire::{LabelSelector, LabelSelectorRequirement},
};

const LABEL_KEY: &str = "must be a label key: an optional DNS prefix and a slash, then at most 63 letters, digits, '-', '_' or '.'";

pub(super) fn check_selector(selector: &LabelSelector, path: &Path, errors: &mut Errors) {
    if let Some(labels) = &selector.match_labels {
        let path = path.child("matchLabels");
        within(labels.len(), &path, errors);
        kubernetes::labels(labels, &path, errors);
    }
    let expressions = selector.match_expressions.as_deref().unwrap_or_default();
    let path = path.child("matchExpressions");
    within(expressions.len(), &path, errors);
    for (index, expression) in expressions.iter().enumerate().take(MAX_SELECTOR) {
        check_expression(expression, &path.index(index), errors);
    }
}

fn check_expression(expression: &LabelSelectorRequirement, path: &Path, errors: &mut Errors) {
    let LabelSelectorRequirement { key, operator, values } = expression;
    check_key(key, path.child("key"), errors);
    let values = values.as_deref().unwrap_or_default();
    let at = path.child("values");
    within(values.len(), &at, errors);
    match operator.as_str() {
        "In" | "NotIn" if values.is_empty() => {
            errors.push(Error::required(at, format!("operator {operator} needs at least one")));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            errors.push(Error::forbidden(at, format!("operator {operator} has none")));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => errors.push(Error::not_supported(
            path.child("operator"),
            other,
            &["In", "NotIn", "Exists", "DoesNotExist"],
        )),
    }
}

pub(super) fn check_key(key: &str, path: Path, errors: &mut Errors) {
    if !is_qualified_name(key) {
        errors.push(Error::invalid(path, key, LABEL_KEY));
    }
}

fn within(count: usize, path: &Path, errors: &mut Errors) {
    if count > MAX_SELECTOR {
        errors.push(Error::too_many(path.clone(), count, MAX_SELECTOR));
    }
}
