//! Workloads for the tests of plugins, and the parts of their groups in a short form.

use serde_json::{Value, json};

use crate::{
    group::{Group, SubGroup, Topology},
    plugin::{Found, Need, Plugin, Refused},
    settings::Settings,
    workload::{Owner, Workload},
};

/// An object of namespace `a` with name and UID.
pub(crate) fn object(api_version: &str, kind: &str, name: &str, spec: impl Into<Value>) -> Value {
    let spec: Value = spec.into();
    let metadata = json!({ "namespace": "a", "name": name, "uid": format!("uid-{name}") });
    json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec })
}

/// A pod with labels.
pub(crate) fn pod(name: &str, labels: Value) -> Value {
    with(object("v1", "Pod", name, json!({})), "labels", labels)
}

/// The same object with labels or annotations.
pub(crate) fn with(mut object: Value, field: &str, entries: Value) -> Value {
    object["metadata"][field] = entries;
    object
}

/// The group of a pod, where the plugin's needs are met by these objects.
pub(crate) fn group_with(
    plugin: &dyn Plugin,
    top: &Value,
    pod: &Value,
    there: &[(Need, Vec<Value>)],
    settings: &Settings,
) -> Result<Option<Group>, Refused> {
    let owners = [Owner::of(top)];
    let workload = Workload { pod, top, owners: &owners };
    let mut found = Found::default();
    // As the reader does it: ask until there is nothing to be read.
    for _ in 0..5 {
        let needs = plugin.needs(workload, &found, settings)?;
        if needs.is_empty() {
            return plugin.group(workload, &found, settings);
        }
        for need in needs {
            assert_eq!(found.get(&need), None, "{need:?} is asked for twice");
            let answer = there.iter().find(|it| it.0 == need).map(|it| it.1.clone());
            found.put(need, answer.unwrap_or_default());
        }
    }
    panic!("{} never has what it needs", plugin.name());
}

/// The group of a pod that needs nothing else.
pub(crate) fn group_of(plugin: &dyn Plugin, top: &Value, pod: &Value) -> Result<Group, Refused> {
    let group = group_with(plugin, top, pod, &[], &Settings::default())?;
    Ok(group.expect("a group"))
}

/// Why there is no group.
pub(crate) fn refusal(result: Result<Group, Refused>) -> String {
    result.expect_err("a refusal").0
}

/// Parts in a short form: `name 2` a leaf of 2 pods, `name [2]` a parent that needs 2 parts, `in name` below another,
/// `* pod` with pods, `@ topology/required/preferred` at a place.
pub(crate) fn parts(group: &Group) -> Vec<String> {
    group.sub_groups.iter().map(part).collect()
}

fn part(part: &SubGroup) -> String {
    let mut text = match part.min_sub_groups {
        Some(parts) => format!("{} [{parts}]", part.name),
        None => format!("{} {}", part.name, part.min_members),
    };
    if let Some(parent) = &part.parent {
        text.extend([" in ", parent]);
    }
    if !part.pods.is_empty() {
        text.extend([" * ", &part.pods.join(" ")]);
    }
    if let Some(topology) = &part.topology {
        text.extend([" @ ", &place(topology)]);
    }
    text
}

/// A topology in a short form: `topology/required/preferred`.
pub(crate) fn place(topology: &Topology) -> String {
    let level = |it: &Option<String>| it.clone().unwrap_or_default();
    format!("{}/{}/{}", topology.name, level(&topology.required), level(&topology.preferred))
}
