//! What users are told, in Events.

use std::collections::BTreeMap;

use grove_runtime::{EventKind, Events};
use grove_scheduler::workload::GroupOwner;
use k8s_openapi::api::core::v1::ObjectReference;
use parking_lot::Mutex;

use super::pod_view::PodView;

/// The reason of all Events, as KAI's pod grouper has it.
const REASON: &str = "PodGrouperWarning";
const ACTION: &str = "GroupPod";

/// Tells users.
#[derive(Debug)]
pub(crate) struct Warnings {
    events: Events,
    /// By scheduler, namespace and group: what was said of it last.
    said: Mutex<BTreeMap<(String, String, String), Vec<String>>>,
}

impl Warnings {
    pub(crate) fn new(events: Events) -> Self {
        Self { events, said: Mutex::default() }
    }

    /// A pod cannot be grouped.
    pub(crate) fn of_pod(&self, pod: &PodView, why: &str) {
        let regarding = ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
            ..ObjectReference::default()
        };
        self.events.publish(regarding, EventKind::Warning, REASON, ACTION, why.to_owned());
    }

    /// What its user said and what has no effect: told of a group when it was written, and when it changes afterwards.
    pub(crate) fn of_group(
        &self,
        scheduler: &str,
        namespace: &str,
        group: &str,
        owner: &GroupOwner,
        is_written: bool,
        remarks: &[String],
    ) {
        let key = (scheduler.to_owned(), namespace.to_owned(), group.to_owned());
        {
            let mut said = self.said.lock();
            let before = said.get(&key);
            let is_news = is_written || before.is_some();
            if !is_news || before.map_or(remarks.is_empty(), |it| it == remarks) {
                return;
            }
            if remarks.is_empty() {
                said.remove(&key);
                return;
            }
            said.insert(key, remarks.to_vec());
        }
        let regarding = ObjectReference {
            api_version: Some(owner.api_version.clone()),
            kind: Some(owner.kind.clone()),
            namespace: Some(namespace.to_owned()),
            name: Some(owner.name.clone()),
            uid: Some(owner.uid.clone()),
            ..ObjectReference::default()
        };
        self.events.publish(regarding, EventKind::Warning, REASON, ACTION, remarks.join("; "));
    }

    /// A group is gone.
    pub(crate) fn forget(&self, scheduler: &str, namespace: &str, group: &str) {
        self.said.lock().remove(&(scheduler.to_owned(), namespace.to_owned(), group.to_owned()));
    }
}
