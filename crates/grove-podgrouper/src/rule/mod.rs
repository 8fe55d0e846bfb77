//! Rules that users write for kinds without a plugin of their own: GroupingRules, compiled once, and looked up by kind.

mod compile;
mod name_key;
mod parts;
mod plugin;
mod scope;
mod selector;
mod source;
mod status;
#[cfg(test)]
mod tests;
mod topology;

use std::{collections::BTreeMap, sync::Arc};

use grove_api::{
    field::Errors,
    validation::validate_grouping_rule,
    wire::{GroupingRule, KindMatch},
};

pub use self::{plugin::Rule, status::status};
use crate::workload::Kind;

const ANY_VERSION: &str = "*";

/// The rules that are in force, by kind.
#[derive(Clone, Debug, Default)]
pub struct Rules(Arc<BTreeMap<String, Vec<Arc<Rule>>>>);

/// What became of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in force, but for these versions of its kind, which have plugins of their own.
    InForce {
        /// The versions.
        except: Vec<String>,
    },
    /// It is not used: the kind has a plugin of its own.
    Native,
    /// It is not used: a rule for the same kind has a name that comes before its own.
    After {
        /// That rule.
        other: String,
    },
    /// It cannot be understood.
    Invalid(Errors),
}

impl Rules {
    /// Compiles rules; `native` are the kinds that have plugins. There is one outcome for each rule, in their order.
    pub fn compile(rules: &[GroupingRule], native: &[Kind<'_>]) -> (Self, Vec<Outcome>) {
        let mut by_name: Vec<(usize, &GroupingRule)> = rules.iter().enumerate().collect();
        by_name.sort_by_key(|(_, it)| it.metadata.name.as_deref().unwrap_or_default());
        let mut in_force: BTreeMap<String, Vec<Arc<Rule>>> = BTreeMap::new();
        let mut outcomes = vec![Outcome::Native; rules.len()];
        for (index, rule) in by_name {
            let same_kind = in_force.entry(rule.spec.match_.kind.clone()).or_default();
            let (outcome, compiled) = judge(rule, native, same_kind);
            same_kind.extend(compiled.map(Arc::new));
            if let Some(place) = outcomes.get_mut(index) {
                *place = outcome;
            }
        }
        (Self(Arc::new(in_force)), outcomes)
    }

    /// The rule for a kind: that for its version, else that for any.
    pub fn find(&self, kind: Kind<'_>) -> Option<&Rule> {
        let of_kind = self.0.get(kind.kind)?;
        let find = |version: &str| of_kind.iter().find(|it| it.is_for(kind.group, version));
        find(kind.version).or_else(|| find(ANY_VERSION)).map(AsRef::as_ref)
    }
}

fn judge(rule: &GroupingRule, native: &[Kind<'_>], same_kind: &[Arc<Rule>]) -> (Outcome, Option<Rule>) {
    let errors = validate_grouping_rule(rule);
    let Some(compiled) = compile::compile(rule).filter(|_| errors.is_empty()) else {
        return (Outcome::Invalid(errors), None);
    };
    let KindMatch { group, version, kind } = &rule.spec.match_;
    let native: Vec<&str> =
        native.iter().filter(|it| it.group == group && it.kind == kind).map(|it| it.version).collect();
    if native.iter().any(|it| *it == ANY_VERSION || it == version) {
        return (Outcome::Native, None);
    }
    if let Some(other) = same_kind.iter().find(|it| it.is_for(group, version)) {
        return (Outcome::After { other: other.rule_name().to_owned() }, None);
    }
    // Only a rule for any version has versions beside it.
    let except =
        if version == ANY_VERSION { native.into_iter().map(str::to_owned).collect() } else { Vec::new() };
    (Outcome::InForce { except }, Some(compiled))
}
