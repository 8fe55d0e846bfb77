//! PodGroups as KAI reads them, whoever made them: its own pod grouper, Grove's, or Grove's operator.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use serde_json::Value;

use crate::workload::{
    About, Bound, GroupReader, Minimum, QueueShare, Refusal, ResourceShare, SeenGroup, SeenPart,
};

use super::{
    explain,
    pod::{POD_GROUP, SUB_GROUP},
    pod_groups,
};

/// The part of pods that name none, where there is one of this name.
const DEFAULT_PART: &str = "default";

#[derive(Debug)]
pub(super) struct Groups;

impl GroupReader for Groups {
    fn resource(&self) -> ApiResource {
        pod_groups()
    }

    fn group_of<'a>(&self, pod: &'a Pod) -> Option<&'a str> {
        let name = pod.metadata.annotations.as_ref()?.get(POD_GROUP)?;
        Some(name.as_str()).filter(|it| !it.is_empty())
    }

    /// It does not even look at them.
    fn places_alone(&self) -> bool {
        false
    }

    fn read(&self, object: &Value) -> SeenGroup {
        let spec = &object["spec"];
        let rows = spec["subGroups"].as_array().map(Vec::as_slice).unwrap_or_default();
        // KAI looks parents up in lower case.
        let parent = |row: &Value| text(&row["parent"]).map(|it| it.to_lowercase());
        let mut children: BTreeMap<Option<String>, u64> = BTreeMap::new();
        for row in rows {
            *children.entry(parent(row)).or_default() += 1;
        }
        let children =
            |name: Option<&str>| children.get(&name.map(str::to_owned)).copied().unwrap_or_default();
        let minimum = |of: &Value, children: u64| match children {
            0 => Minimum { pods: Some(of["minMember"].as_u64().unwrap_or(1)), parts: None },
            // Where parts are, KAI does not look at the minimum of pods.
            all => Minimum { pods: None, parts: Some(of["minSubGroup"].as_u64().unwrap_or(all)) },
        };
        let part = |row: &Value| {
            let name = text(&row["name"]).unwrap_or_default();
            let minimum = minimum(row, children(Some(&name)));
            SeenPart { parent: parent(row), minimum, name }
        };
        SeenGroup {
            minimum: minimum(spec, children(None)),
            parts: rows.iter().map(part).collect(),
            queue: text(&spec["queue"]),
            priority_class: text(&spec["priorityClassName"]),
            preemptibility: text(&spec["preemptibility"]),
            above: None,
            refusal: refusal(object),
        }
    }

    fn part_of(&self, object: &Value, pod: &Pod) -> Option<String> {
        let named = pod.metadata.labels.as_ref().and_then(|it| it.get(SUB_GROUP));
        let name = named.map_or(DEFAULT_PART, String::as_str);
        let rows = object["spec"]["subGroups"].as_array().into_iter().flatten();
        rows.filter_map(|it| it["name"].as_str()).find(|it| *it == name).map(str::to_owned)
    }

    fn readable(&self, words: &str) -> String {
        explain::readable(words)
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}

/// KAI's newest answer. Without its queue a group is not even tried, and beyond its share no nodes are.
fn refusal(object: &Value) -> Option<Refusal> {
    let words = explain::explain(std::slice::from_ref(object))?;
    let reasons = explain::explanations(object);
    let find = |name: &str| reasons.iter().find(|it| it["reason"] == name);
    if find("QueueDoesNotExist").is_some() {
        return Some(Refusal { about: About::NoQueue, words, share: None });
    }
    for (name, bound) in [("OverLimit", Bound::Limit), ("NonPreemptibleOverQuota", Bound::Quota)] {
        if let Some(reason) = find(name) {
            let share = share(&reason["details"]["queueDetails"], bound);
            return Some(Refusal { about: About::Share, words, share });
        }
    }
    Some(Refusal { about: About::Room, words, share: None })
}

/// What KAI says of the queue, by resource.
fn share(details: &Value, bound: Bound) -> Option<QueueShare> {
    type Field = fn(&mut ResourceShare) -> &mut Option<String>;
    const LISTS: [(&str, Field); 7] = [
        ("podGroupRequestedResources", |it| &mut it.requested),
        ("podGroupRequestedNonPreemptibleResources", |it| &mut it.requested_non_preemptible),
        ("queueRequestedResources", |it| &mut it.queue_requested),
        ("queueDeservedResources", |it| &mut it.deserved),
        ("queueAllocatedResources", |it| &mut it.allocated),
        ("queueAllocatedNonPreemptibleResources", |it| &mut it.allocated_non_preemptible),
        ("queueResourceLimits", |it| &mut it.limit),
    ];
    let mut resources: BTreeMap<String, ResourceShare> = BTreeMap::new();
    for (list, field) in LISTS {
        for (name, quantity) in details[list].as_object().into_iter().flatten() {
            // A quantity is written as a text, and may come as a number.
            let quantity = quantity.as_str().map_or_else(|| quantity.to_string(), str::to_owned);
            *field(resources.entry(name.clone()).or_default()) = Some(quantity);
        }
    }
    let queue = text(&details["name"]).unwrap_or_default();
    (!resources.is_empty()).then_some(QueueShare { queue, bound, resources })
}

#[cfg(test)]
mod tests;
