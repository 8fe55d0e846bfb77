//! What a cluster says of a workload, its pods and the groups that they are in.

use grove_scheduler::workload::SeenGroup;
use k8s_openapi::api::core::v1::Pod;
use kube::core::{ApiResource, DynamicObject};
use serde_json::Value;

use super::super::nodes::Node;

/// All that is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) namespace: String,
    pub(super) asked: Asked,
    /// Pods of what was asked about, and the others of their groups.
    pub(super) members: Vec<Member>,
    /// Groups of these pods, and those that belong to what was asked about.
    pub(super) groups: Vec<Group>,
    /// Nodes of the cluster. `None`: they may not be read, or need not be.
    pub(super) nodes: Option<Vec<Node>>,
    /// What could not be read, in sentences.
    pub(super) notes: Vec<String>,
}

/// What was asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
    /// Why it makes no pods, where its own spec says so.
    pub(super) idle: Option<&'static str>,
}

impl Asked {
    pub(super) fn of(resource: &ApiResource, object: &DynamicObject) -> Self {
        let spec = object.data.get("spec").unwrap_or(&Value::Null);
        let idle = if spec["suspend"] == true {
            Some("it is suspended")
        } else if spec["replicas"] == 0 || spec["parallelism"] == 0 {
            Some("it asks for none")
        } else {
            None
        };
        Self {
            api_version: resource.api_version.clone(),
            kind: resource.kind.clone(),
            name: object.metadata.name.clone().unwrap_or_default(),
            uid: object.metadata.uid.clone().unwrap_or_default(),
            idle,
        }
    }

    pub(super) fn of_pod(pod: &Pod) -> Self {
        Self {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            name: pod.metadata.name.clone().unwrap_or_default(),
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            idle: None,
        }
    }

    pub(super) fn is_pod(&self) -> bool {
        self.api_version == "v1" && self.kind == "Pod"
    }
}

/// By which a group is known: two schedulers may have one of the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    /// Name of the backend that reads it.
    pub(super) scheduler: String,
    pub(super) name: String,
}

/// A pod.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) pod: Pod,
    /// Whether it belongs to what was asked about, and not only to its group.
    pub(super) is_asked: bool,
    pub(super) scheduler: String,
    /// Whether its scheduler places it without a group; `None`: nobody knows that scheduler's groups.
    pub(super) placed_alone: Option<bool>,
    pub(super) group: Option<GroupKey>,
    /// Its part of the group.
    pub(super) part: Option<String>,
    /// What the scheduler says of it, made readable.
    pub(super) words: Option<String>,
    /// What the pod grouper warned of last.
    pub(super) warning: Option<String>,
}

/// A group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) key: GroupKey,
    /// `podgroups.scheduling.run.ai`
    pub(super) resource: String,
    /// One pod with a gate holds all of it back.
    pub(super) waits_for_gated: bool,
    pub(super) found: Found,
}

/// What there is of a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    Seen(Box<SeenGroup>),
    /// Pods name it, and it is not there.
    Gone,
    /// It may not be read: why.
    Unread(String),
}

impl Group {
    pub(super) fn seen(&self) -> Option<&SeenGroup> {
        match &self.found {
            Found::Seen(seen) => Some(seen),
            Found::Gone | Found::Unread(_) => None,
        }
    }
}
