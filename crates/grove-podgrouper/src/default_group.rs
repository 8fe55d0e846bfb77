//! The group that the plugins begin with: all pods of the owner at the top, one of which has to be placed.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    durations::{self, duration},
    group::{Group, Topology},
    metadata::{annotation, annotations, label, labels, name, uid},
    names::group_name,
    preemptibility::preemptibility,
    priority::priority_class,
    queue::queue,
    settings::Settings,
    top_owner,
    workload::{Owner, Workload},
};

/// PriorityClass of training, and of what is not known.
pub const TRAIN: &str = "train";
/// PriorityClass of what answers requests.
pub const INFERENCE: &str = "inference";
/// PriorityClass of what people work with.
pub const BUILD: &str = "build";

/// Label and annotation that name a person.
const USER: &str = "user";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Bytes of all annotations that the API server takes.
const MAX_BYTES: usize = 256 * 1024;

/// The group of the owner at the top: what plugins begin with, and change what is special to their kind. One pod has to
/// be placed; `fallback_class` is the PriorityClass where nobody names one that exists. Without a list of owners the one
/// at the top is the only one.
pub fn default_group(workload: Workload<'_>, settings: &Settings, fallback_class: &str) -> Group {
    let Workload { pod, top, .. } = workload;
    let owners = workload.chain();
    let mut remarks = Vec::new();
    Group {
        namespace: pod["metadata"]["namespace"].as_str().unwrap_or_default().to_owned(),
        name: group_name(name(top), uid(top)),
        owner: Owner::of(top).object,
        labels: bounded(labels_of(top, pod), "labels", &mut remarks),
        annotations: bounded(annotations_of(top, pod), "annotations", &mut remarks),
        queue: queue(top, pod, settings),
        priority_class: priority_class(&owners, pod, settings, fallback_class),
        preemptibility: preemptibility(&owners, pod, settings),
        min_members: 1,
        topology: topology(top, &mut remarks),
        preemption_delay: duration(durations::PREEMPTION_DELAY, &owners, pod, false, &mut remarks),
        staleness_grace_period: duration(durations::STALENESS, &owners, pod, true, &mut remarks),
        min_sub_groups: None,
        sub_groups: Vec::new(),
        remarks,
    }
}

fn labels_of(top: &Value, pod: &Value) -> BTreeMap<String, String> {
    let mut all = labels(top);
    if let Some(user) = label(pod, USER) {
        all.entry(USER.to_owned()).or_insert_with(|| user.to_owned());
    }
    all
}

fn annotations_of(top: &Value, pod: &Value) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([(top_owner::ANNOTATION.to_owned(), top_owner::top_owner(top))]);
    if let Some(user) = annotation(pod, USER) {
        all.insert(USER.to_owned(), user.to_owned());
    }
    all.extend(annotations(top));
    all
}

/// As many as an object may have. What kubectl keeps for itself goes first, then the largest.
pub(crate) fn bounded(
    mut all: BTreeMap<String, String>,
    what: &str,
    remarks: &mut Vec<String>,
) -> BTreeMap<String, String> {
    let size = |key: &String, value: &String| key.len() + value.len();
    let mut total: usize = all.iter().map(|(key, value)| size(key, value)).sum();
    while total > MAX_BYTES {
        let kubectl = all.keys().find(|it| *it == LAST_APPLIED);
        let largest = || all.iter().max_by_key(|(key, value)| size(key, value)).map(|it| it.0);
        let Some(key) = kubectl.or_else(largest).cloned() else { break };
        total -= all.remove(&key).map_or(0, |value| size(&key, &value));
        let remark = format!("{key} is not copied: the {what} of the owner have more than {MAX_BYTES} bytes");
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    all
}

/// Where all of it goes. A topology without a level asks for nothing, and KAI would never place it.
fn topology(top: &Value, remarks: &mut Vec<String>) -> Option<Topology> {
    let text = |key: &str| annotation(top, key).filter(|it| !it.is_empty()).map(str::to_owned);
    let topology = Topology {
        name: text("kai.scheduler/topology").unwrap_or_default(),
        required: text("kai.scheduler/topology-required-placement"),
        preferred: text("kai.scheduler/topology-preferred-placement"),
    };
    let has_level = topology.required.is_some() || topology.preferred.is_some();
    match (topology.name.is_empty(), has_level) {
        (true, false) => None,
        (false, false) => {
            remarks.push(
                "annotation kai.scheduler/topology is not used: it needs a level, in annotation \
                kai.scheduler/topology-required-placement or kai.scheduler/topology-preferred-placement"
                    .to_owned(),
            );
            None
        }
        (is_nameless, true) => {
            if is_nameless {
                remarks.push(
                    "levels of a topology have no effect: annotation kai.scheduler/topology does not name it"
                        .to_owned(),
                );
            }
            Some(topology)
        }
    }
}

#[cfg(test)]
mod tests;
