//! What is kept of a pod: what decides where it can go, and what is said of it. Containers and volumes are most of a pod.

use std::{fmt, sync::Arc};

use grove_placement::{PodRequirements, pod::PodTerm, pod::requirements};
use grove_runtime::QueueKey;
use k8s_openapi::{
    api::core::v1::{Affinity, Pod, PodAffinity, PodCondition, PodSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
    jiff::Timestamp,
};
use serde::Deserialize;

/// The scheduler of pods that name none.
pub(crate) const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Namespace and name of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PodKey {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl QueueKey for PodKey {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl fmt::Display for PodKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A pod as it is kept.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[resource(inherit = Pod)]
#[serde(from = "Pod")]
pub(crate) struct PodView {
    pub(crate) metadata: ObjectMeta,
    pub(crate) scheduler_name: String,
    pub(crate) node_name: Option<String>,
    pub(crate) is_gated: bool,
    /// The PodGroup that it is in.
    pub(crate) group: Option<String>,
    pub(crate) priority: i32,
    pub(crate) never_preempts: bool,
    pub(crate) conditions: Vec<PodCondition>,
    pub(crate) nominated: Option<String>,
    /// What it asks for, or why that cannot be read.
    pub(crate) requirements: Result<Arc<PodRequirements>, String>,
    /// Pods that it would rather be near, with weights: preferred pod affinity.
    pub(crate) near: Vec<(i32, PodTerm)>,
}

impl From<Pod> for PodView {
    fn from(pod: Pod) -> Self {
        let requirements = requirements(&pod).map(Arc::new).map_err(|error| error.to_string());
        let near = preferred_affinity(&pod);
        let Pod { metadata, spec, status } = pod;
        let (spec, status) = (spec.unwrap_or_default(), status.unwrap_or_default());
        let filled = |it: Option<String>| it.filter(|it| !it.is_empty());
        Self {
            metadata,
            scheduler_name: filled(spec.scheduler_name).unwrap_or_else(|| DEFAULT_SCHEDULER.to_owned()),
            node_name: filled(spec.node_name),
            is_gated: spec.scheduling_gates.is_some_and(|it| !it.is_empty()),
            group: filled(spec.scheduling_group.and_then(|it| it.pod_group_name)),
            priority: spec.priority.unwrap_or_default(),
            never_preempts: spec.preemption_policy.as_deref() == Some("Never"),
            conditions: status.conditions.unwrap_or_default(),
            nominated: filled(status.nominated_node_name),
            requirements,
            near,
        }
    }
}

/// Terms of preferred pod affinity. Placement reads required ones only, so they are shown to it as such.
fn preferred_affinity(pod: &Pod) -> Vec<(i32, PodTerm)> {
    let affinity = pod.spec.as_ref().and_then(|it| it.affinity.as_ref()?.pod_affinity.as_ref());
    let preferred = affinity.and_then(|it| it.preferred_during_scheduling_ignored_during_execution.as_ref());
    let Some(preferred) = preferred.filter(|it| !it.is_empty()) else { return Vec::new() };
    let terms = preferred.iter().map(|it| it.pod_affinity_term.clone()).collect();
    let pod_affinity = PodAffinity {
        required_during_scheduling_ignored_during_execution: Some(terms),
        ..PodAffinity::default()
    };
    let affinity = Affinity { pod_affinity: Some(pod_affinity), ..Affinity::default() };
    let spec = PodSpec { affinity: Some(affinity), ..PodSpec::default() };
    let shown = Pod { metadata: pod.metadata.clone(), spec: Some(spec), ..Pod::default() };
    let terms = requirements(&shown).map(|it| it.affinity).unwrap_or_default();
    preferred.iter().map(|it| it.weight).zip(terms).collect()
}

impl PodView {
    pub(crate) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    pub(crate) fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    pub(crate) fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    pub(crate) fn key(&self) -> PodKey {
        PodKey { namespace: self.namespace().to_owned(), name: self.name().to_owned() }
    }

    pub(crate) fn created(&self) -> Timestamp {
        self.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |it| it.0)
    }

    pub(crate) fn is_terminating(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    pub(crate) fn condition(&self, kind: &str) -> Option<&PodCondition> {
        self.conditions.iter().find(|it| it.type_ == kind)
    }

    /// Whether nothing differs that scheduling depends on: conditions, which the scheduler itself writes, do not count.
    pub(crate) fn schedules_like(&self, other: &Self) -> bool {
        let parts = |it: &Self| {
            (
                it.metadata.uid.clone(),
                it.is_terminating(),
                it.node_name.clone(),
                it.is_gated,
                it.scheduler_name.clone(),
                it.priority,
            )
        };
        parts(self) == parts(other) && self.group == other.group && self.requirements == other.requirements
    }
}

/// What nobody reads.
pub(crate) fn prune(pod: &mut PodView) {
    let old = std::mem::take(&mut pod.metadata);
    pod.metadata = ObjectMeta {
        name: old.name,
        namespace: old.namespace,
        uid: old.uid,
        resource_version: old.resource_version,
        creation_timestamp: old.creation_timestamp,
        deletion_timestamp: old.deletion_timestamp,
        ..ObjectMeta::default()
    };
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn view(change: &Value) -> PodView {
        let mut pod = json!({
            "metadata": { "name": "p", "namespace": "ns", "uid": "1", "labels": { "app": "a" } },
            "spec": { "containers": [{ "name": "c", "resources": { "requests": { "cpu": "1" } } }] },
        });
        for (part, fields) in change.as_object().unwrap() {
            for (field, value) in fields.as_object().unwrap() {
                pod[part.as_str()][field.as_str()] = value.clone();
            }
        }
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn what_decides_where_a_pod_goes_is_kept() {
        let term = json!({ "topologyKey": "rack", "labelSelector": { "matchLabels": { "app": "a" } } });
        let near = json!({ "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 50, "podAffinityTerm": term }] });
        let pod = view(&json!({ "spec": {
            "schedulingGates": [{ "name": "g" }], "schedulingGroup": { "podGroupName": "pg" }, "priority": 7,
            "preemptionPolicy": "Never", "affinity": { "podAffinity": near },
        } }));
        assert_eq!((pod.scheduler_name.as_str(), pod.node_name.as_deref()), (DEFAULT_SCHEDULER, None));
        assert!(pod.is_gated && pod.never_preempts);
        assert_eq!((pod.group.as_deref(), pod.priority), (Some("pg"), 7));
        assert_eq!((pod.near[0].0, pod.near[0].1.topology_key.as_str()), (50, "rack"));
        assert!(pod.near[0].1.matches("ns", &pod.requirements.as_ref().unwrap().labels));
        assert!(pod.requirements.unwrap().affinity.is_empty(), "what is preferred is not required");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let pod = view(&json!({ "spec": { "overhead": { "cpu": "much" } } }));
        assert!(pod.requirements.unwrap_err().starts_with("cpu: \"much\""));
    }

    #[test]
    fn own_conditions_are_no_news() {
        let before = view(&json!({}));
        let same = [
            json!({ "metadata": { "resourceVersion": "7" } }),
            json!({ "status": { "conditions": [{ "type": "PodScheduled", "status": "False" }] } }),
            json!({ "status": { "nominatedNodeName": "n" } }),
        ];
        let news = [
            json!({ "metadata": { "uid": "2" } }),
            json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } }),
            json!({ "metadata": { "labels": { "app": "b" } } }),
            json!({ "spec": { "nodeName": "n" } }),
            json!({ "spec": { "schedulingGates": [{ "name": "g" }] } }),
            json!({ "spec": { "nodeSelector": { "a": "b" } } }),
        ];
        for it in same {
            assert!(before.schedules_like(&view(&it)), "{it}");
        }
        for it in news {
            assert!(!before.schedules_like(&view(&it)), "{it}");
        }
    }
}
