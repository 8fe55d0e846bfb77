//! Parts of PodGroups as they should be, and gangs for them.

use crate::{
    cluster::queued,
    common::{gang, group, map},
};
use grove_scheduler::Gang;
use serde_json::{Value, json};

/// A leaf of the PodGroup.
pub(crate) fn leaf(name: &str, min: u32) -> Value {
    json!({ "name": name, "minMember": min })
}

/// A leaf in a bundle.
pub(crate) fn leaf_in(parent: &str, name: &str, min: u32) -> Value {
    json!({ "name": name, "minMember": min, "parent": parent })
}

/// A bundle of `count` parts.
pub(crate) fn bundle(name: &str, count: u32) -> Value {
    json!({ "name": name, "minSubGroup": count })
}

pub(crate) fn with(mut it: Value, key: &str, value: Value) -> Value {
    it[key] = value;
    it
}

pub(crate) fn at(level: &str) -> Value {
    json!({ "topology": "dc", "requiredTopologyLevel": level })
}

pub(crate) fn near(level: &str) -> Value {
    json!({ "topology": "dc", "preferredTopologyLevel": level })
}

/// A spec without anything that is not asked for.
pub(crate) fn spec(min: u32, sub_groups: Vec<Value>) -> Value {
    json!({ "minMember": min, "queue": "team-a", "subGroups": sub_groups })
}

pub(crate) fn labelled(mut gang: Gang, labels: &[(&str, &str)]) -> Gang {
    gang.labels.extend(map(labels));
    gang
}

pub(crate) fn annotated(mut gang: Gang, annotations: &[(&str, &str)]) -> Gang {
    gang.annotations.extend(map(annotations));
    gang
}

pub(crate) fn one() -> Gang {
    queued(gang(json!({ "podgroups": [group("a", 2, 2)] })))
}
