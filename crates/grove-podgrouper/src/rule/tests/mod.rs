//! Rules as users write them, and the groups that come of them.

mod docs;
mod groups;
mod refused;
mod rules;
mod statuses;

use grove_api::wire::GroupingRule;
use serde_json::{Value, json};

use super::Rules;
use crate::{
    fixture::{Case, classes, labelled, object, pod, with_spec},
    group::Group,
    plugin::Refused,
    settings::Settings,
    workload::Kind,
};

/// A rule for version v1 of kind Run.
fn rule(name: &str, mut spec: Value) -> GroupingRule {
    if spec["match"].is_null() {
        spec["match"] = json!({ "group": "example.com", "version": "v1", "kind": "Run" });
    }
    serde_json::from_value(json!({ "metadata": { "name": name, "generation": 3 }, "spec": spec })).unwrap()
}

/// Settings in which this rule is in force.
fn settings_with(rules: &[GroupingRule]) -> Settings {
    let (rules, outcomes) = Rules::compile(rules, &[]);
    let in_force = super::Outcome::InForce { except: Vec::new() };
    assert!(outcomes.iter().all(|it| *it == in_force), "{outcomes:?}");
    Settings { rules, ..classes(&["train", "high"]) }
}

/// The group of a pod of a Run with this spec, by this rule.
fn grouped(rule_spec: Value, labels: &[(&str, &str)], spec: Value) -> Result<Group, Refused> {
    let run = with_spec(object("example.com/v1", "Run", "demo", "uid"), spec);
    let settings = settings_with(&[rule("r", rule_spec)]);
    Case::new(labelled(pod("p", "pod-uid"), labels), vec![run]).set(settings).group()
}

/// What is said of a pod that is not grouped.
fn refused(rule_spec: Value, labels: &[(&str, &str)], spec: Value) -> String {
    grouped(rule_spec, labels, spec).expect_err("it was grouped").0
}
