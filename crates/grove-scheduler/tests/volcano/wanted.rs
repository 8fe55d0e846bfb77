//! Parts of PodGroups as they should be, and gangs for them.

use crate::common::{config, gang, group, placed};
use grove_scheduler::Gang;
use serde_json::{Value, json};

/// A spec without anything that is not asked for.
pub(crate) fn spec(min: u32, policies: Vec<Value>) -> Value {
    json!({ "minMember": min, "queue": "default", "subGroupPolicy": policies })
}

pub(crate) fn with(mut it: Value, key: &str, value: Value) -> Value {
    it[key] = value;
    it
}

pub(crate) fn placed_gang(placement: Value) -> Gang {
    gang(json!({ "podgroups": [group("a", 1, 1), group("b", 2, 4)], "topologyConstraint": placement }))
}

/// Two groups in a bundle, beside a third one.
pub(crate) fn bundled(gang_level: Value, bundle: Value, first: Value, second: Value) -> Gang {
    gang(json!({
        "podgroups": [
            group("front", 1, 1),
            placed(group("pre", 2, 2), first),
            placed(group("dec", 3, 4), second),
        ],
        "topologyConstraint": gang_level,
        "topologyConstraintGroupConfigs": [placed(config("pd", &["pre", "dec"]), bundle)],
    }))
}
