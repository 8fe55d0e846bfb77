//! What a pod carries so that Volcano finds its gang.

use grove_api::constants::{labels, schedulers};
use k8s_openapi::api::core::v1::Pod;

use crate::{affinity, tree::Gang};

use super::{form::Form, layout};

/// By which the scheduler finds the PodGroup of a pod.
pub(super) const GROUP: &str = "scheduling.k8s.io/group-name";
/// By which other parts of Volcano do.
const VOLCANO_GROUP: &str = "scheduling.volcano.sh/group-name";
/// By which minTaskMember counts pods.
pub(super) const TASK: &str = "volcano.sh/task-spec";

pub(super) fn prepare(form: &Form, pod: &mut Pod, gang: &Gang) -> Result<(), String> {
    let group = pod.metadata.labels.as_ref().and_then(|it| it.get(labels::POD_CLIQUE)).cloned();
    let group = group.ok_or_else(|| format!("the pod has no label {}", labels::POD_CLIQUE))?;
    let leaf =
        gang.leaf(&group).ok_or_else(|| format!("{group:?} is not a group of the gang {:?}", gang.name))?;
    let is_task = layout::tasks(form, &layout::parts(form, gang)?).iter().any(|it| it.0 == group);
    let annotations = pod.metadata.annotations.get_or_insert_default();
    annotations.insert(GROUP.to_owned(), gang.name.clone());
    annotations.insert(VOLCANO_GROUP.to_owned(), gang.name.clone());
    if is_task {
        annotations.insert(TASK.to_owned(), group.clone());
    }
    // Beside sub-group policies Volcano forgets that the gang is to be packed, and it never knows by which level.
    // Drawn out of what its sub-group requires, a pod goes: Volcano 1.14 does not keep that level then.
    affinity::prefer_within_required(pod, gang, &leaf);
    pod.spec.get_or_insert_default().scheduler_name = Some(schedulers::VOLCANO.to_owned());
    Ok(())
}
