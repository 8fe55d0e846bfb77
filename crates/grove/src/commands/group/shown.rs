//! What is shown of a pod and its group.

use grove_podgrouper::{GroupOwner, SubGroup, Topology};
use serde::Serialize;

use super::origin::From;

/// A pod.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explained {
    pub(super) namespace: String,
    pub(super) pod: String,
    /// Whether it is not in the input, but made of a template.
    pub(super) imagined: bool,
    /// The nearest first.
    pub(super) owners: Vec<Reference>,
    /// Owners that are passed over, the one at the top first.
    pub(super) skipped: Vec<Reference>,
    pub(super) plugin: String,
    pub(super) reason: String,
    /// `None` where the pod is left alone, or cannot be grouped.
    pub(super) group: Option<Shown>,
    /// Why it cannot be grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reference {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
}

/// A group.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) owner: Reference,
    pub(super) queue: From,
    pub(super) priority_class: From,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) preemptibility: Option<&'static str>,
    /// Pods that have to be placed together; not there where it is parts that have to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_members: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_sub_groups: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) topology: Option<Place>,
    pub(super) sub_groups: Vec<Part>,
    /// The part that the pod is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sub_group: Option<String>,
    pub(super) remarks: Vec<String>,
}

/// A part of a group.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_members: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_sub_groups: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) topology: Option<Place>,
}

#[derive(Debug, Serialize)]
pub(super) struct Place {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) required: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) preferred: Option<String>,
}

impl Reference {
    pub(super) fn of(owner: &GroupOwner) -> Self {
        let GroupOwner { api_version, kind, name, .. } = owner.clone();
        Self { api_version, kind, name }
    }
}

impl Part {
    pub(super) fn of(part: SubGroup) -> Self {
        Self {
            name: part.name,
            parent: part.parent,
            min_members: part.min_sub_groups.is_none().then_some(part.min_members),
            min_sub_groups: part.min_sub_groups,
            topology: part.topology.map(Place::of),
        }
    }
}

impl Place {
    pub(super) fn of(topology: Topology) -> Self {
        let Topology { name, required, preferred } = topology;
        Self { name, required, preferred }
    }
}
