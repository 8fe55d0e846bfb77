//! PodGroups as kube-scheduler reads them, whoever made them.

use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use serde_json::Value;

use crate::workload::{About, GroupReader, Minimum, Refusal, SeenGroup};

use super::{explain, objects::pod_groups};

#[derive(Debug)]
pub(super) struct Groups;

impl GroupReader for Groups {
    fn resource(&self) -> ApiResource {
        pod_groups()
    }

    fn group_of<'a>(&self, pod: &'a Pod) -> Option<&'a str> {
        pod.spec.as_ref()?.scheduling_group.as_ref()?.pod_group_name.as_deref()
    }

    fn places_alone(&self) -> bool {
        true
    }

    fn waits_for_gated(&self) -> bool {
        true
    }

    fn read(&self, object: &Value) -> SeenGroup {
        let spec = &object["spec"];
        let text = |field: &str| spec[field].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        // A basic policy asks for nothing: its pods are placed one by one.
        let pods = spec["schedulingPolicy"]["gang"]["minCount"].as_u64();
        let refusal = explain::explain_group(object);
        SeenGroup {
            minimum: Minimum { pods, parts: None },
            priority_class: text("priorityClassName"),
            above: text("parentCompositePodGroupName"),
            refusal: refusal.map(|words| Refusal { about: About::Room, words, share: None }),
            ..SeenGroup::default()
        }
    }

    /// It has no parts: groups of groups are CompositePodGroups.
    fn part_of(&self, _: &Value, _: &Pod) -> Option<String> {
        None
    }

    fn readable(&self, words: &str) -> String {
        explain::readable(words)
    }
}

#[cfg(test)]
mod tests;
