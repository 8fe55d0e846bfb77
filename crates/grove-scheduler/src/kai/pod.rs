//! What a pod carries so that KAI finds its gang.

use grove_api::constants::{annotations, labels, schedulers};
use k8s_openapi::api::core::v1::Pod;

use crate::tree::Gang;

use super::{Installed, pod_group};

/// By which KAI finds the PodGroup of a pod.
pub(super) const POD_GROUP: &str = annotations::POD_GROUP_NAME;
/// By which KAI finds the sub-group of a pod.
pub(super) const SUB_GROUP: &str = "kai.scheduler/subgroup-name";
/// Keeps KAI's own pod grouper away, from 0.15 on.
const SKIP_GROUPER: &str = "kai.scheduler/skip-podgrouper";
/// For people who look at a pod: its gang.
const GANG: &str = "kai.scheduler/podgang";
/// For people who look at a pod: its clique.
const CLIQUE: &str = "kai.scheduler/podgroup";

pub(super) fn prepare(kai: &Installed, pod: &mut Pod, gang: &Gang) -> Result<(), String> {
    let labels = pod.metadata.labels.get_or_insert_default();
    let group = labels.get(labels::POD_CLIQUE).cloned();
    let group = group.ok_or_else(|| format!("the pod has no label {}", labels::POD_CLIQUE))?;
    if gang.leaf(&group).is_none() {
        // KAI would drop it without a word.
        return Err(format!("{group:?} is not a group of the gang {:?}", gang.name));
    }
    labels.insert(SUB_GROUP.to_owned(), group.clone());
    // For tools and shared claims only: the PodGroup decides, and without a queue there is none.
    if let Ok(Some(queue)) = kai.queue(gang) {
        labels.entry(labels::KAI_QUEUE.to_owned()).or_insert_with(|| queue.to_owned());
    }
    let annotations = pod.metadata.annotations.get_or_insert_default();
    let name = pod_group::name(gang, gang.objects.iter().map(String::as_str));
    for (key, value) in
        [(POD_GROUP, name.as_str()), (SKIP_GROUPER, "true"), (GANG, &gang.name), (CLIQUE, &group)]
    {
        annotations.insert(key.to_owned(), value.to_owned());
    }
    pod.spec.get_or_insert_default().scheduler_name = Some(schedulers::KAI.to_owned());
    Ok(())
}
