//! What is told in Kubernetes Events: changes, and failures; never that nothing happened.

use grove_api::constants::events::children as reasons;
use grove_plan::children::{Action, Kind};
use grove_runtime::EventKind;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Resource;

use super::Grove;

impl Grove {
    pub(super) fn tell<K: Resource<DynamicType = ()>>(
        &self,
        about: &K,
        kind: EventKind,
        reason: &'static str,
        action: &'static str,
        note: String,
    ) {
        // Without a field path; the kind's own reference has all else.
        let reference: ObjectReference = about.object_ref(&());
        self.events.publish(reference, kind, reason, action, note);
    }

    /// One Event for all children of a kind that a reconcile made or deleted.
    pub(super) fn tell_of_children<K: Resource<DynamicType = ()>>(&self, owner: &K, done: &[Action]) {
        for (kind, created, deleted) in [
            (Kind::Gang, reasons::GANG_SYNCED, reasons::GANG_DELETED),
            (Kind::Clique, reasons::CLIQUE_SYNCED, reasons::CLIQUE_DELETED),
            (Kind::Group, reasons::GROUP_CREATED, reasons::GROUP_DELETED),
        ] {
            let names = |wanted: fn(&Action) -> Option<(Kind, &str)>| -> Vec<&str> {
                done.iter().filter_map(wanted).filter(|it| it.0 == kind).map(|it| it.1).collect()
            };
            let made = names(|it| match it {
                Action::Create(child) => Some((child.kind(), child.metadata().name.as_deref()?)),
                Action::CreateClique(draft) => Some((Kind::Clique, draft.metadata().name.as_deref()?)),
                Action::Patch { kind, name, .. } => Some((*kind, name)),
                Action::Delete { .. } => None,
            });
            let gone = names(|it| match it {
                Action::Delete { kind, name, .. } => Some((*kind, name)),
                _ => None,
            });
            for (names, reason, action, verb) in
                [(made, created, "Sync", "created or changed"), (gone, deleted, "Delete", "deleted")]
            {
                if let Some(words) = list(kind, &names) {
                    self.tell(owner, EventKind::Normal, reason, action, format!("{verb} {words}"));
                }
            }
        }
    }

    pub(super) fn tell_of_failure<K: Resource<DynamicType = ()>>(
        &self,
        owner: &K,
        action: &Action,
        words: String,
    ) {
        let (kind, deletes) = match action {
            Action::Create(child) => (child.kind(), false),
            Action::CreateClique(_) => (Kind::Clique, false),
            Action::Patch { kind, .. } => (*kind, false),
            Action::Delete { kind, .. } => (*kind, true),
        };
        let reason = match (kind, deletes) {
            (Kind::Gang, false) => reasons::GANG_SYNC_FAILED,
            (Kind::Gang, true) => reasons::GANG_DELETE_FAILED,
            (Kind::Group, false) => reasons::GROUP_SYNC_FAILED,
            (Kind::Group, true) => reasons::GROUP_DELETE_FAILED,
            (_, false) => reasons::CLIQUE_SYNC_FAILED,
            (_, true) => reasons::CLIQUE_DELETE_FAILED,
        };
        self.tell(owner, EventKind::Warning, reason, if deletes { "Delete" } else { "Sync" }, words);
    }
}

/// `PodGang web-0`, or `12 objects of kind PodGang (web-0, web-1, web-2, …)`.
pub(super) fn list(kind: Kind, names: &[&str]) -> Option<String> {
    const SHOWN: usize = 3;
    let kind = kind.as_str();
    match names {
        [] => None,
        [name] => Some(format!("{kind} {name}")),
        names if names.len() <= SHOWN => Some(format!("{kind} {}", names.join(", "))),
        names => Some(format!("{} objects of kind {kind} ({}, …)", names.len(), names[..SHOWN].join(", "))),
    }
}
