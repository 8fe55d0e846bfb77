//! What a pod is created with. None of it can be changed later.

use grove_api::constants::labels;
use k8s_openapi::api::core::v1::{Pod, PodSchedulingGroup};

use super::{
    affinity, flat,
    form::{Form, GangForm},
};
use crate::{
    backend::PrepareError,
    tree::{Gang, Leaf},
};

pub(super) fn prepare(pod: &mut Pod, gang: &Gang, form: GangForm) -> Result<(), PrepareError> {
    let clique = label(pod, labels::POD_CLIQUE).unwrap_or_default();
    let leaf = gang.leaf(&clique).ok_or_else(|| {
        PrepareError(format!("the pod is of PodClique {clique:?}, which is not in gang {}", gang.name))
    })?;
    set_priority(pod, gang, form)?;
    match form {
        GangForm::New(Form::Tree) => join(pod, Some(leaf.name)),
        GangForm::New(Form::Flat { .. }) => {
            let index = label(pod, labels::POD_INDEX).and_then(|it| it.parse().ok()).ok_or_else(|| {
                PrepareError(format!("the pod has no number in its label {}", labels::POD_INDEX))
            })?;
            let is_member = flat::is_member(gang, &leaf, index);
            join(pod, is_member.then_some(&gang.name));
            if !is_member {
                follow(pod, gang, &leaf);
            }
        }
        GangForm::New(Form::Plain(_)) | GangForm::Adopted => {}
    }
    affinity::prefer(pod, gang, &leaf);
    Ok(())
}

fn label(pod: &Pod, key: &str) -> Option<String> {
    pod.metadata.labels.as_ref()?.get(key).cloned()
}

/// One pod of another priority, and the scheduler places none of the group.
fn set_priority(pod: &mut Pod, gang: &Gang, form: GangForm) -> Result<(), PrepareError> {
    let spec = pod.spec.get_or_insert_default();
    match spec.priority_class_name.as_deref().unwrap_or_default() {
        "" => {
            let class = gang.priority_class.clone();
            spec.priority_class_name = Some(class).filter(|it| !it.is_empty());
            Ok(())
        }
        own if own != gang.priority_class && form.has_groups() => Err(PrepareError(format!(
            "the pod's priorityClassName is {own:?} and that of its gang {:?}: kube-scheduler places a group only if they \
             are equal",
            gang.priority_class
        ))),
        _ => Ok(()),
    }
}

fn join(pod: &mut Pod, group: Option<&str>) {
    let membership = |name: &str| PodSchedulingGroup { pod_group_name: Some(name.to_owned()) };
    pod.spec.get_or_insert_default().scheduling_group = group.map(membership);
}

/// A pod outside of the PodGroup is not bound by its level: it goes where the first pod of its own group is. That one
/// is in the PodGroup, so that the gang decides where.
fn follow(pod: &mut Pod, gang: &Gang, leaf: &Leaf<'_>) {
    if let Some(level) = gang.pack.required.as_deref().filter(|_| leaf.min > 0) {
        affinity::require(pod, level, [(labels::POD_CLIQUE, leaf.name), (labels::POD_INDEX, "0")]);
    }
}
