//! LeaderWorkerSet: each of its replicas is a group of a leader and workers.

use serde_json::Value;

use self::segmented::segmented;
use crate::{
    default_group::{TRAIN, default_group},
    fields,
    group::{Group, SubGroup},
    integers::{parse, required},
    metadata::{annotation, label, name, uid},
    names::group_name,
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    sub_groups::{leaf, place},
    workload::Workload,
};

mod segmented;
#[cfg(test)]
mod tests;

/// LeaderWorkerSet.
#[derive(Debug)]
pub(crate) struct LeaderWorkerSet;

const INDEX_LABEL: &str = "leaderworkerset.sigs.k8s.io/worker-index";
const GROUP_LABEL: &str = "leaderworkerset.sigs.k8s.io/group-index";
const SIZE_ANNOTATION: &str = "leaderworkerset.sigs.k8s.io/size";
const LEADER: &str = "leader";
const WORKERS: &str = "workers";

impl Plugin for LeaderWorkerSet {
    fn name(&self) -> &'static str {
        "LeaderWorkerSet"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let Workload { pod, top: set, .. } = workload;
        let index = index(pod)?;
        let (min_members, is_alone) = match min_members(pod, set, index)? {
            Members::Leader => (1, true),
            Members::All(pods) => (pods, false),
        };
        // Segments come when workers are due: a leader that goes alone has nobody to be near to.
        let segments = if is_alone { None } else { segmented(pod, set, index, min_members)? };
        let sub_groups = segments.unwrap_or_else(|| whole(pod, index, min_members));
        let mut group = Group { min_members, sub_groups, ..default_group(workload, settings, TRAIN) };
        let replica = label(pod, GROUP_LABEL).and_then(|it| it.parse::<u32>().ok());
        if let Some(replica) = replica {
            group.name = group_name(name(set), &format!("{}-group-{replica}", uid(set)));
        }
        Ok(Some(group))
    }
}

/// Which pod of its replica it is; 0 is the leader.
fn index(pod: &Value) -> Result<Option<u32>, Refused> {
    label(pod, INDEX_LABEL).map(|it| parse(it, format_args!("label {INDEX_LABEL} of the pod"), 0)).transpose()
}

/// Pods that are placed together.
enum Members {
    /// The leader alone.
    Leader,
    /// So many.
    All(u32),
}

/// All pods of a replica. Where workers come only after their leader, it goes alone at first.
fn min_members(pod: &Value, set: &Value, index: Option<u32>) -> Result<Members, Refused> {
    let spec = &set["spec"];
    let size =
        required(&spec["leaderWorkerTemplate"]["size"], format_args!("spec.leaderWorkerTemplate.size"), 1)?;
    match fields::text(&spec["startupPolicy"], format_args!("spec.startupPolicy"))? {
        None | Some("LeaderCreated") => Ok(Members::All(size)),
        Some("LeaderReady") => {
            let is_placed = pod["spec"]["nodeName"].as_str().is_some_and(|it| !it.is_empty());
            if index == Some(0) && !is_placed {
                return Ok(Members::Leader);
            }
            let field = format_args!("annotation {SIZE_ANNOTATION} of the pod");
            let said = annotation(pod, SIZE_ANNOTATION).map(|it| parse(it, field, 1)).transpose()?;
            Ok(Members::All(said.unwrap_or(size)))
        }
        Some(other) => Err(Refused(format!(
            "spec.startupPolicy is {}: set it to LeaderCreated or LeaderReady",
            fields::shown(&Value::from(other))
        ))),
    }
}

/// A leader and its workers. A pod that does not say which it is counts as a worker.
fn whole(pod: &Value, index: Option<u32>, min_members: u32) -> Vec<SubGroup> {
    let mut parts = vec![leaf(LEADER, 1)];
    if min_members > 1 {
        parts.push(leaf(WORKERS, min_members - 1));
    }
    place(pod, if index == Some(0) { LEADER } else { WORKERS }, &mut parts);
    parts
}
