//! Rules for grouping rules.

use super::rule::{Rule, rule};
use crate::messages as say;

pub(super) fn spec() -> Vec<Rule> {
    let parts = "!has(self.subGroups) || self.subGroups";
    vec![
        rule(
            ".minMember",
            "!has(self.minMember) || !has(self.subGroups) || self.subGroups.size() == 0",
            say::RULE_TWO_MINIMA,
        )
        .reason("FieldValueForbidden"),
        rule(
            ".minSubGroup",
            "!has(self.minSubGroup) || (has(self.subGroups) && self.subGroups.size() > 0)",
            say::RULE_NO_SUB_GROUPS,
        )
        .reason("FieldValueForbidden"),
        rule(".topology.name", "!has(self.topology) || has(self.topology.name)", say::RULE_TOPOLOGY_NAME)
            .reason("FieldValueRequired"),
        rule(
            ".subGroups",
            format!(
                "{parts}.all(a, !has(a.name) || self.subGroups.exists_one(b, has(b.name) && b.name == a.name))"
            ),
            say::RULE_SUB_GROUP_TWICE,
        ),
        rule(
            ".subGroups",
            format!("{parts}.filter(a, !has(a.forEach) && !has(a.podSelector)).size() <= 1"),
            say::RULE_TWO_RESTS,
        ),
    ]
}

pub(super) fn sub_group() -> Vec<Rule> {
    vec![rule("", "has(self.name) != has(self.forEach)", say::RULE_NAME_OR_EACH)]
}

/// A number or a text.
pub(super) fn source() -> Vec<Rule> {
    vec![
        rule("", "has(self.path) != has(self.value)", say::RULE_PATH_OR_VALUE),
        rule(".default", "!has(self.default) || has(self.path)", say::RULE_DEFAULT_ALONE)
            .reason("FieldValueForbidden"),
    ]
}

pub(super) fn priority() -> Vec<Rule> {
    vec![
        rule("", "has(self.path) || has(self.default)", say::RULE_PRIORITY_EMPTY)
            .reason("FieldValueRequired"),
    ]
}

pub(super) fn topology() -> Vec<Rule> {
    vec![
        rule("", "has(self.required) || has(self.preferred)", say::RULE_NO_LEVEL)
            .reason("FieldValueRequired"),
    ]
}
