//! What a pod is created with. None of it can be changed later.

use grove_api::constants::labels;
use k8s_openapi::api::core::v1::{Pod, PodSchedulingGroup};

use super::form::{Form, GangForm};
use crate::{
    affinity,
    backend::PrepareError,
    tree::{Gang, Leaf},
};

pub(super) fn prepare(pod: &mut Pod, gang: &Gang, form: GangForm) -> Result<(), PrepareError> {
    let clique = label(pod, labels::POD_CLIQUE).unwrap_or_default();
    let leaf = gang.leaf(&clique).ok_or_else(|| {
        PrepareError(format!("the pod is of PodClique {clique:?}, which is not in gang {}", gang.name))
    })?;
    set_priority(pod, gang, form)?;
    let group = match form {
        GangForm::New(Form::Tree) => Some(leaf.name),
        GangForm::New(Form::Flat { .. }) => Some(gang.name.as_str()),
        GangForm::New(Form::Plain(_)) | GangForm::Adopted => None,
    };
    if let Some(group) = group {
        let index = label(pod, labels::POD_INDEX).and_then(|it| it.parse().ok()).ok_or_else(|| {
            PrepareError(format!("the pod has no number in its label {}", labels::POD_INDEX))
        })?;
        let is_member = is_member(form, &leaf, index);
        join(pod, is_member.then_some(group));
        if !is_member {
            follow(pod, gang, &leaf);
        }
    }
    affinity::prefer(pod, gang, &leaf);
    Ok(())
}

/// Whether the pod of this index is in a PodGroup: only as many of each group as it needs. The scheduler does not go back on
/// a choice: a further pod of one group would take the place that another group needs for its minimum.
///
/// While the duty of a group is lifted, its PodGroup stays as it was; in a tree its pods may be in it, and in the one
/// PodGroup of a flat gang they would stand for those of others.
fn is_member(form: GangForm, leaf: &Leaf<'_>, index: u32) -> bool {
    index < leaf.min || (leaf.min == 0 && form == GangForm::New(Form::Tree))
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

/// A pod outside of the PodGroup is not bound by its levels: it goes where the first pod of its own group is. That one
/// is in the PodGroup, so that the gang decides where.
fn follow(pod: &mut Pod, gang: &Gang, leaf: &Leaf<'_>) {
    // While the duty is lifted there is nobody to follow.
    if leaf.min == 0 {
        return;
    }
    for level in affinity::required_levels(gang, leaf) {
        affinity::require(pod, level, [(labels::POD_CLIQUE, leaf.name), (labels::POD_INDEX, "0")]);
    }
}
