//! PodGroups as Volcano reads them, whoever made them: its own controllers, or Grove.

use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use serde_json::Value;

use crate::workload::{About, GroupReader, Minimum, Refusal, SeenGroup, SeenPart};

use super::{
    explain,
    pod::{GROUP, TASK},
    pod_groups,
};

#[derive(Debug)]
pub(super) struct Groups;

impl GroupReader for Groups {
    fn resource(&self) -> ApiResource {
        pod_groups()
    }

    fn group_of<'a>(&self, pod: &'a Pod) -> Option<&'a str> {
        let name = pod.metadata.annotations.as_ref()?.get(GROUP)?;
        Some(name.as_str()).filter(|it| !it.is_empty())
    }

    /// Its controller makes a group for each.
    fn places_alone(&self) -> bool {
        false
    }

    fn read(&self, object: &Value) -> SeenGroup {
        let spec = &object["spec"];
        let text = |field: &str| spec[field].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        let parts = parts(spec);
        let parts_needed = (!parts.is_empty()).then_some(parts.len() as u64);
        SeenGroup {
            minimum: Minimum { pods: spec["minMember"].as_u64(), parts: parts_needed },
            parts,
            queue: text("queue").or_else(|| Some(super::DEFAULT_QUEUE.to_owned())),
            priority_class: text("priorityClassName"),
            preemptibility: None,
            above: None,
            refusal: refusal(object),
        }
    }

    fn part_of(&self, object: &Value, pod: &Pod) -> Option<String> {
        let spec = &object["spec"];
        let own = |key: &str| pod.metadata.labels.as_ref().and_then(|it| it.get(key)).map(String::as_str);
        let policies = policies(spec);
        if !policies.is_empty() {
            let is_in = |it: &&&Value| selects(&it["labelSelector"], own);
            return policies.iter().find(is_in)?["name"].as_str().map(str::to_owned);
        }
        let task = pod.metadata.annotations.as_ref().and_then(|it| it.get(TASK)).map(String::as_str);
        let task = task.or_else(|| own(TASK))?;
        spec["minTaskMember"].get(task).map(|_| task.to_owned())
    }
}

/// Policies that have an effect: without keys to match by, or without a duty, Volcano does not look at them.
fn policies(spec: &Value) -> Vec<&Value> {
    let is_one = |it: &&Value| {
        it["matchLabelKeys"].as_array().is_some_and(|it| !it.is_empty())
            && it["minSubGroups"].as_u64().is_some_and(|it| it > 0)
    };
    spec["subGroupPolicy"].as_array().into_iter().flatten().filter(is_one).collect()
}

/// A policy asks for so many sub-groups of so many pods; together these are the least that it needs.
fn parts(spec: &Value) -> Vec<SeenPart> {
    let part = |name: &str, pods: u64| SeenPart {
        name: name.to_owned(),
        parent: None,
        minimum: Minimum { pods: Some(pods), parts: None },
    };
    let policies = policies(spec);
    if !policies.is_empty() {
        let of = |it: &&Value| {
            let (size, count) = (it["subGroupSize"].as_u64().unwrap_or(1), it["minSubGroups"].as_u64());
            part(it["name"].as_str().unwrap_or_default(), size.saturating_mul(count.unwrap_or_default()))
        };
        return policies.iter().map(of).collect();
    }
    let tasks: Vec<(&String, u64)> = spec["minTaskMember"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, count)| Some((name, count.as_u64()?)))
        .collect();
    let sum = tasks.iter().fold(0_u64, |sum, it| sum.saturating_add(it.1));
    // Volcano ignores them where they ask for more than the whole does.
    if spec["minMember"].as_u64().is_some_and(|it| it < sum) {
        return Vec::new();
    }
    tasks.iter().map(|(name, count)| part(name, *count)).collect()
}

/// Whether a label selector selects a pod.
fn selects<'a>(selector: &Value, own: impl Fn(&str) -> Option<&'a str>) -> bool {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let rules = selector["matchExpressions"].as_array().into_iter().flatten();
    let holds = |rule: &Value| {
        let value = own(rule["key"].as_str().unwrap_or_default());
        let is_listed = || {
            let mut values = rule["values"].as_array().into_iter().flatten();
            value.is_some_and(|value| values.any(|it| it == value))
        };
        match rule["operator"].as_str().unwrap_or_default() {
            "In" => is_listed(),
            "NotIn" => !is_listed(),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    };
    selector.is_object()
        && labels.into_iter().all(|(key, value)| own(key) == value.as_str())
        && rules.into_iter().all(holds)
}

/// Volcano's newest answer.
fn refusal(object: &Value) -> Option<Refusal> {
    let words = explain::explain(std::slice::from_ref(object))?;
    let is_pending = matches!(object["status"]["phase"].as_str(), Some("" | "Pending" | "Inqueue"));
    let said = object["status"]["conditions"].as_array().into_iter().flatten();
    let is_refused = said.into_iter().any(|it| it["type"] == "Unschedulable" && it["status"] == "True");
    let about = if is_pending && !is_refused { About::Queue } else { About::Room };
    Some(Refusal { about, words, share: None })
}

#[cfg(test)]
mod tests;
