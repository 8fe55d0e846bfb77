//! What the status of a rule says.

use grove_api::{
    constants::conditions::grouping_rule::{
        ACTIVE, COMPILED, IN_FORCE, INVALID, NATIVE_KIND, NOT_COMPILED, OTHER_RULE_FIRST, VALID,
    },
    field::Errors,
    wire::{Condition, GroupingRule, GroupingRuleStatus, Time},
};

use super::Outcome;

/// Findings that a message lists; the rest is counted.
const LISTED: usize = 10;

/// The status of a rule of which so many groups are there. `now` is for conditions that change.
pub fn status(rule: &GroupingRule, outcome: &Outcome, groups: usize, now: &Time) -> GroupingRuleStatus {
    let generation = rule.metadata.generation;
    let old = rule.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
    let condition = |type_: &str, is_true: bool, reason: &str, message: String| {
        let status = if is_true { "True" } else { "False" };
        let same = old.iter().find(|it| it.type_ == type_ && it.status == status);
        Condition {
            type_: type_.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message,
            observed_generation: generation,
            last_transition_time: same.map_or_else(|| now.clone(), |it| it.last_transition_time.clone()),
        }
    };
    let kind = &rule.spec.match_.kind;
    let compiled = match outcome {
        Outcome::Invalid(errors) => condition(COMPILED, false, INVALID, listed(errors)),
        _ => condition(COMPILED, true, VALID, String::new()),
    };
    let active = match outcome {
        Outcome::InForce { except } => condition(ACTIVE, true, IN_FORCE, except_for(kind, except)),
        Outcome::Invalid(_) => {
            let message = format!("the rule is not valid, so that pods of a {kind} are grouped without it");
            condition(ACTIVE, false, NOT_COMPILED, message)
        }
        Outcome::Native => {
            let message = format!("{kind} is grouped by a built-in plugin: delete this rule");
            condition(ACTIVE, false, NATIVE_KIND, message)
        }
        Outcome::After { other } => {
            let message = format!("rule {other} is for the same kind and goes first: delete one of them");
            condition(ACTIVE, false, OTHER_RULE_FIRST, message)
        }
    };
    GroupingRuleStatus {
        observed_generation: generation,
        conditions: vec![compiled, active],
        groups: i32::try_from(groups).unwrap_or(i32::MAX),
    }
}

impl Outcome {
    /// What the author of a rule should know although the rule is valid; empty where it is just in force.
    pub fn warning(&self, kind: &str) -> String {
        match self {
            Self::InForce { except } => except_for(kind, except),
            Self::Native => format!("not used: {kind} is grouped by a built-in plugin"),
            Self::After { other } => format!("not used: rule {other} is for the same kind and goes first"),
            Self::Invalid(_) => String::new(),
        }
    }
}

fn except_for(kind: &str, versions: &[String]) -> String {
    if versions.is_empty() {
        return String::new();
    }
    format!("not used for {kind} of version {}: it is grouped by a built-in plugin", versions.join(", "))
}

fn listed(errors: &Errors) -> String {
    let mut lines: Vec<String> = errors.iter().take(LISTED).map(ToString::to_string).collect();
    if errors.len() > LISTED {
        lines.push(format!("and {} more", errors.len() - LISTED));
    }
    lines.join("; ")
}
