//! GroupingRules among manifests: those that are valid and would not be used.

use std::collections::BTreeMap;

use grove_api::{
    field::{Path, Warning},
    wire::GroupingRule,
};
use grove_podgrouper::{Hub, rule::Rules};
use serde::Deserialize;
use serde_json::Value;

/// What the authors of rules should know, by the place of a rule among the objects.
pub(crate) fn warnings<'a>(objects: impl Iterator<Item = &'a Value>) -> BTreeMap<usize, Warning> {
    let (places, rules): (Vec<usize>, Vec<GroupingRule>) = objects
        .enumerate()
        .filter(|(_, it)| it["kind"] == "GroupingRule")
        .filter_map(|(place, it)| Some((place, GroupingRule::deserialize(it).ok()?)))
        .unzip();
    let (_, outcomes) = Rules::compile(&rules, &Hub::builtin().kinds().collect::<Vec<_>>());
    let texts = outcomes.iter().zip(&rules).map(|(outcome, rule)| outcome.warning(&rule.spec.match_.kind));
    let warning = |text: String| Warning { path: Path::of(&["spec", "match"]), text };
    places
        .into_iter()
        .zip(texts)
        .filter(|(_, text)| !text.is_empty())
        .map(|(at, it)| (at, warning(it)))
        .collect()
}
