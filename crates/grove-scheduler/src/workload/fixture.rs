//! Groups for tests.

use serde_json::{Value, json};

use super::{Group, GroupOwner, SubGroup, Topology};

/// The group of the job `train`, with nothing that nobody asked for.
pub(crate) fn group() -> Group {
    Group {
        namespace: "ns".to_owned(),
        name: "pg-train-u1".to_owned(),
        owner: GroupOwner {
            api_version: "batch/v1".to_owned(),
            kind: "Job".to_owned(),
            name: "train".to_owned(),
            uid: "u1".to_owned(),
        },
        queue: "team-a".to_owned(),
        priority_class: "train".to_owned(),
        min_members: 2,
        ..Group::default()
    }
}

pub(crate) fn leaf(name: &str, min_members: u32, pods: &[&str]) -> SubGroup {
    let pods = pods.iter().map(|it| (*it).to_owned()).collect();
    SubGroup { name: name.to_owned(), min_members, pods, ..SubGroup::default() }
}

pub(crate) fn parent(name: &str, min_sub_groups: u32) -> SubGroup {
    SubGroup { name: name.to_owned(), min_sub_groups: Some(min_sub_groups), ..SubGroup::default() }
}

pub(crate) fn inside(parent: &str, part: SubGroup) -> SubGroup {
    SubGroup { parent: Some(parent.to_owned()), ..part }
}

pub(crate) fn topology(required: Option<&str>, preferred: Option<&str>) -> Topology {
    let owned = |it: Option<&str>| it.map(str::to_owned);
    Topology { name: "dc".to_owned(), required: owned(required), preferred: owned(preferred) }
}

pub(crate) fn pod(name: &str) -> Value {
    json!({ "metadata": { "name": name, "namespace": "ns" } })
}
