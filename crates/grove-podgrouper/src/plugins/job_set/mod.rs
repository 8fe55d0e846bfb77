//! JobSet: all of its jobs are one group, a tree of its replicated jobs and their replicas.

use serde_json::Value;

use self::tree::{Tree, is_in_order};
use crate::{
    default_group::{TRAIN, default_group},
    existing_groups::{is_flat, missing},
    fields,
    group::Group,
    integers::parse,
    metadata::{annotation, label, name, uid},
    names::group_name,
    plugin::{Found, Need, Plugin, Refused},
    settings::Settings,
    sub_groups::place,
    workload::Workload,
};

#[cfg(test)]
mod tests;
mod tree;

/// JobSet.
#[derive(Debug)]
pub(crate) struct JobSet;

const JOB_LABEL: &str = "jobset.sigs.k8s.io/replicatedjob-name";
const INDEX_LABEL: &str = "jobset.sigs.k8s.io/job-index";
const MIN_MEMBER: &str = "kai.scheduler/batch-min-member";

impl Plugin for JobSet {
    fn name(&self) -> &'static str {
        "JobSet"
    }

    fn needs(&self, workload: Workload<'_>, found: &Found, _: &Settings) -> Result<Vec<Need>, Refused> {
        Ok(missing([Need::Groups(base_name(workload.top)?)], found))
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let Workload { pod, top: set, .. } = workload;
        let base = base_name(set)?;
        let said = said_minimum(set)?;
        let group = default_group(workload, settings, TRAIN);
        if has_flat(&base, found) {
            return flat(group, pod, set, said).map(Some);
        }
        let Tree { mut parts, min_sub_groups } = Tree::read(set, said)?;
        let job = pod_label(pod, JOB_LABEL)?;
        let index = pod_label(pod, INDEX_LABEL)?;
        if !place(pod, &tree::leaf_name(job, index), &mut parts) {
            return Err(Refused(format!(
                "labels {JOB_LABEL} and {INDEX_LABEL} of the pod are {} and {}, which spec.replicatedJobs does \
                 not have: leave them as the JobSet sets them",
                fields::shown(&Value::from(job)),
                fields::shown(&Value::from(index))
            )));
        }
        Ok(Some(Group { sub_groups: parts, min_sub_groups: Some(min_sub_groups), ..group }))
    }
}

fn base_name(set: &Value) -> Result<String, Refused> {
    for (is, field) in [(name(set), "metadata.name"), (uid(set), "metadata.uid")] {
        if is.is_empty() {
            return Err(Refused(format!("{field} of the JobSet is missing: it names the group")));
        }
    }
    Ok(group_name(name(set), uid(set)))
}

/// What the user says has to be placed together.
fn said_minimum(set: &Value) -> Result<Option<u32>, Refused> {
    let field = format_args!("metadata.annotations[{MIN_MEMBER}]");
    annotation(set, MIN_MEMBER).map(|it| parse(it, field, 1)).transpose()
}

fn pod_label<'a>(pod: &'a Value, key: &str) -> Result<&'a str, Refused> {
    label(pod, key).filter(|it| !it.is_empty()).ok_or_else(|| {
        Refused(format!(
            "label {key} of the pod is missing: it says which part of the JobSet the pod is, so leave it as the \
             JobSet sets it"
        ))
    })
}

/// Whether an older version grouped some of its pods. Then the others are grouped alike.
fn has_flat(base: &str, found: &Found) -> bool {
    let groups = found.get(&Need::Groups(base.to_owned())).unwrap_or_default();
    groups.iter().any(|it| {
        let rest = name(it).strip_prefix(base);
        rest.is_some_and(|it| it.is_empty() || it.starts_with('-')) && is_flat(it)
    })
}

/// As older versions have it: a group for each replicated job where they start in order, else one.
fn flat(group: Group, pod: &Value, set: &Value, said: Option<u32>) -> Result<Group, Refused> {
    let mut group = Group { min_members: said.unwrap_or(1), ..group };
    if is_in_order(set) {
        let job = pod_label(pod, JOB_LABEL)?;
        group.name = group_name(name(set), &format!("{}-{job}", uid(set)));
    }
    Ok(group)
}
