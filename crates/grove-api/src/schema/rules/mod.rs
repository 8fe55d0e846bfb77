//! Validation rules in CEL, so that a cluster refuses wrong objects also while the operator is down.
//!
//! Rules stand with the type they speak of; `self` is a value of that type. What CEL cannot say within the API
//! server's cost budget (cycles, anything about other objects), or not without the index of a list's item, is left
//! to admission.

mod bounds;
mod create;
mod grouping;
mod restarts;
mod rule;
mod template;
mod topology;
mod totals;
mod update;

use serde_json::{Map, Value};

use self::rule::Rule;
use super::{definitions::Definitions, patterns};

/// Adds the rules to the types of `definitions`, and bounds and patterns that CEL and users rely on.
pub(super) fn attach(definitions: &mut Definitions) {
    for (type_, rules) in [
        ("PodCliqueSpec", template::clique()),
        ("CliqueTemplate", [template::clique_template(), update::clique()].into_iter().flatten().collect()),
        ("AutoScalingConfig", template::autoscaling()),
        ("ScalingGroupConfig", template::group_config()),
        ("PodCliqueScalingGroupSpec", template::group().into_iter().chain([totals::group()]).collect()),
        (
            "SetTemplate",
            [template::set(), template::set_sharing(), topology::set(), update::set()]
                .into_iter()
                .flatten()
                .collect(),
        ),
        ("UpdateStrategy", template::update_strategy()),
        ("RestartPolicy", restarts::policy()),
        ("RestartBackoff", restarts::backoff()),
        ("ClaimTemplate", template::claim_template()),
        ("SetFilter", template::filter(&["childCliqueNames", "childScalingGroupNames"])),
        ("GroupFilter", template::filter(&["childCliqueNames"])),
        ("TopologyConstraint", topology::constraint()),
        ("TopologyPack", topology::pack()),
        ("SchedulingPolicyConfig", topology::policy()),
        ("GroupingRuleSpec", grouping::spec()),
        ("SubGroupRule", grouping::sub_group()),
        ("CountSource", grouping::source()),
        ("TextSource", grouping::source()),
        ("PrioritySource", grouping::priority()),
        ("TopologySource", grouping::topology()),
    ] {
        if let Some(Value::Object(schema)) = definitions.get_mut(type_) {
            put(schema, &rules);
        }
    }
    bounds::attach(definitions);
}

/// Adds the rules that need the object's name, or whether the object is new.
pub(super) fn attach_to_root(kind: &str, schema: &mut Value) {
    if let (Value::Object(schema), "PodCliqueSet") = (schema, kind) {
        put(schema, &create::set().into_iter().chain(totals::set()).collect::<Vec<_>>());
    }
}

fn put(schema: &mut Map<String, Value>, rules: &[Rule]) {
    schema.insert("x-kubernetes-validations".into(), rules.iter().map(Rule::to_value).collect());
}
