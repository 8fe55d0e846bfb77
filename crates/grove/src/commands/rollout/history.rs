//! The templates that a set has had: a pure function of its revisions.

use grove_api::{names, wire::PodCliqueSet};
use k8s_openapi::{api::apps::v1::ControllerRevision, apimachinery::pkg::apis::meta::v1::Time};
use kube::ResourceExt;
use serde::Serialize;

use super::changes::{Change, changes};

/// All that are kept of one set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct History {
    pub(super) namespace: String,
    pub(super) name: String,
    /// The newest last.
    pub(super) revisions: Vec<Revision>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Revision {
    #[serde(rename = "revision")]
    pub(super) number: i64,
    pub(super) name: String,
    /// Whether the set uses it, or is on the way to.
    pub(super) current: bool,
    /// When it was used for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created_at: Option<Time>,
    /// Against the one before; absent for the first that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changes: Option<Vec<Change>>,
}

impl History {
    /// Of `set`, whose revisions are sorted by number.
    pub(super) fn of(set: &PodCliqueSet, revisions: &[ControllerRevision]) -> Self {
        let hash = set.status.as_ref().and_then(|it| it.current_generation_hash.as_deref());
        let used = hash.map(|it| names::revision(&set.name_any(), it));
        let before = std::iter::once(None).chain(revisions.iter().map(Some));
        let all = revisions.iter().zip(before).map(|(it, before)| Revision {
            number: number(it),
            name: it.name_any(),
            current: used.as_ref() == Some(&it.name_any()),
            created_at: it.metadata.creation_timestamp.clone(),
            changes: before.map(|before| changes(&before.data.0, &it.data.0)),
        });
        Self {
            namespace: set.namespace().unwrap_or_default(),
            name: set.name_any(),
            revisions: all.collect(),
        }
    }
}

/// The revisions of `set` among these, by number.
pub(super) fn of_set(set: &PodCliqueSet, mut all: Vec<ControllerRevision>) -> Vec<ControllerRevision> {
    // A namesake that was deleted may have left some.
    all.retain(|it| it.owner_references().iter().any(|it| Some(&it.uid) == set.metadata.uid.as_ref()));
    all.sort_by_key(number);
    all
}

/// Number of a revision.
pub(super) fn number(revision: &ControllerRevision) -> i64 {
    revision.revision.unwrap_or_default()
}
