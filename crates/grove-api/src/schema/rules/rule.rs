//! One CEL rule, and the phrases that rules are made of.

use serde_json::{Map, Value, json};

use super::patterns;
use crate::messages as say;

/// One rule.
pub(super) struct Rule {
    /// CEL expression that has to be true.
    expression: String,
    /// What is wrong where it is not.
    message: &'static str,
    /// Field below `self` that is wrong.
    field: &'static str,
    reason: Option<&'static str>,
    /// Evaluated on create too, with `oldSelf` empty.
    on_create: bool,
}

pub(super) fn rule(field: &'static str, expression: impl Into<String>, message: &'static str) -> Rule {
    Rule { expression: expression.into(), message, field, reason: None, on_create: false }
}

impl Rule {
    /// Not for duplicates: the API server leaves the message out of a `FieldValueDuplicate`.
    pub(super) fn reason(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    pub(super) fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("rule".into(), json!(self.expression));
        value.insert("message".into(), json!(self.message));
        if !self.field.is_empty() {
            value.insert("fieldPath".into(), json!(self.field));
        }
        if let Some(reason) = self.reason {
            value.insert("reason".into(), json!(reason));
        }
        if self.on_create {
            value.insert("optionalOldSelf".into(), json!(true));
        }
        Value::Object(value)
    }
}

/// `expression`, a term or terms joined by `||`, holds on create; an object that is already there keeps what it has.
pub(super) fn new_objects(field: &'static str, expression: &str, message: &'static str) -> Rule {
    Rule { on_create: true, ..rule(field, format!("oldSelf.hasValue() || {expression}"), message) }
}

/// `field` of self and oldSelf are equal, absence included. It stands on the parent of the field, because a rule
/// on the field itself is not asked when the field is added or removed.
pub(super) fn unchanged(field: &str) -> String {
    format!(
        "has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
    )
}

/// Likewise for a list, where empty and absent are the same.
pub(super) fn unchanged_list(new: &str, old: &str) -> String {
    format!("(has({new}) ? {new} : []) == (has({old}) ? {old} : [])")
}

/// A topology constraint may only change its spelling: `packDomain` to `pack.required`, or gain the name it lacked.
pub(super) fn same_topology(new: &str, old: &str) -> String {
    let required = |it: &str| {
        format!(
            "(has({it}.pack) && has({it}.pack.required) ? {it}.pack.required \
             : (has({it}.packDomain) ? {it}.packDomain : ''))"
        )
    };
    let preferred =
        |it: &str| format!("(has({it}.pack) && has({it}.pack.preferred) ? {it}.pack.preferred : '')");
    let name = |it: &str| format!("(has({it}.topologyName) ? {it}.topologyName : '')");
    format!(
        "has({new}) == has({old}) && (!has({new}) || ({} == {} && {} == {} && ({} == {} || \
         ({} == '' && has({old}.packDomain)))))",
        required(new),
        required(old),
        preferred(new),
        preferred(old),
        name(new),
        name(old),
        name(old),
    )
}

/// `field` is a duration as the schema admits it; as a term of CEL.
pub(super) fn is_duration(field: &str) -> String {
    format!("self{field}.matches('{}')", patterns::DURATION.replace('\\', "\\\\"))
}

/// A duration, where there is one, is more than nothing.
pub(super) fn positive(field: &'static str) -> Rule {
    let expression =
        format!("!has(self{field}) || ({} && duration(self{field}) > duration('0s'))", is_duration(field));
    rule(field, expression, say::DELAY_NOT_POSITIVE)
}

/// Names inside the list `field` of `holder` are unique.
pub(super) fn unique(field: &'static str, holder: &str, message: &'static str) -> Rule {
    let list = format!("{holder}{field}");
    rule(field, format!("!has({list}) || {list}.all(a, {list}.exists_one(b, b.name == a.name))"), message)
}
