//! Events: one for a gang or a pod that is placed by itself, with the words of kube-scheduler where it has some.

use std::collections::BTreeSet;

use grove_runtime::{EventKind, Events};
use k8s_openapi::api::core::v1::ObjectReference;

use crate::scheduler::{
    observe::{group_view::GroupObject, pod_view::PodView},
    plan::{unit::Unit, words},
};

/// Nodes that an Event names at most.
const MAX_NODES: usize = 5;

/// Publishes Events.
pub(crate) struct Notices {
    events: Events,
}

/// What Events of a unit are about: the root group, or the pod.
pub(crate) fn regarding(unit: &Unit) -> Option<ObjectReference> {
    let pod = unit.members.values().next().map(|it| of_pod(&it.pod));
    unit.groups.first().map(of_group).or(pod)
}

pub(crate) fn of_pod(pod: &PodView) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Pod".to_owned()),
        namespace: Some(pod.namespace().to_owned()),
        name: Some(pod.name().to_owned()),
        uid: Some(pod.uid().to_owned()),
        ..ObjectReference::default()
    }
}

pub(crate) fn of_group(group: &GroupObject) -> ObjectReference {
    ObjectReference {
        api_version: Some(group.api_version().to_owned()),
        kind: Some(group.kind().to_owned()),
        namespace: Some(group.key.namespace.clone()),
        name: Some(group.key.name.clone()),
        uid: Some(group.uid.clone()),
        ..ObjectReference::default()
    }
}

impl Notices {
    pub(crate) fn new(events: Events) -> Self {
        Self { events }
    }

    pub(crate) fn scheduled(&self, regarding: ObjectReference, pods: usize, nodes: &BTreeSet<String>) {
        let name = regarding.name.clone().unwrap_or_default();
        let namespace = regarding.namespace.clone().unwrap_or_default();
        let first: Vec<&str> = nodes.iter().take(MAX_NODES).map(String::as_str).collect();
        let more = nodes.len().saturating_sub(MAX_NODES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let first = first.join(", ");
        let note = if regarding.kind.as_deref() == Some("Pod") {
            format!("Successfully assigned {namespace}/{name} to {first}")
        } else {
            let plural = |count: usize| if count == 1 { "" } else { "s" };
            format!(
                "Bound {pods} pod{} to {} node{}: {first}{more}",
                plural(pods),
                nodes.len(),
                plural(nodes.len())
            )
        };
        self.events.publish(regarding, EventKind::Normal, "Scheduled", "Binding", note);
    }

    pub(crate) fn failed(&self, regarding: ObjectReference, message: String) {
        self.events.publish(regarding, EventKind::Warning, "FailedScheduling", "Scheduling", message);
    }

    pub(crate) fn preempted(&self, victim: ObjectReference, by: &impl std::fmt::Display) {
        let note = words::preempted_by(by);
        self.events.publish(victim, EventKind::Normal, "Preempted", "Preempting", note);
    }
}
