//! PodCliqueSet: a PodGang is the group, and says all of it.

use std::collections::BTreeMap;

use grove_api::constants::{conditions::pod_gang::INITIALIZED, labels::POD_GANG};
use grove_scheduler::tree::FORM_ANNOTATION;
use serde_json::Value;

use self::pod_gang::parts;
use crate::{
    default_group::{TRAIN, bounded, default_group},
    existing_groups::missing,
    fields,
    group::{Group, Preemptibility},
    integers::add,
    metadata::{annotation, annotations, label, labels, name},
    plugin::{Found, Need, Plugin, Reads, Refused},
    preemptibility, priority,
    settings::Settings,
    topology_annotations,
    workload::{Kind, Owner, Workload},
};

mod pod_gang;
#[cfg(test)]
mod tests;
mod topology;

/// PodCliqueSet, and PodGangSet, its older name.
#[derive(Debug)]
pub(crate) struct Grove;

const POD_GANGS: [Reads; 1] = [Reads {
    kind: Kind { group: "scheduler.grove.io", version: "v1alpha1", kind: "PodGang" },
    spec: true,
    status: true,
}];

impl Plugin for Grove {
    fn name(&self) -> &'static str {
        "Grove"
    }

    fn needs(&self, workload: Workload<'_>, found: &Found, _: &Settings) -> Result<Vec<Need>, Refused> {
        Ok(missing([gang_need(workload.pod)?], found))
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let Workload { pod, top: set, .. } = workload;
        let gang = found.object(&gang_need(pod)?).ok_or_else(|| {
            Refused(format!(
                "label {POD_GANG} of the pod names PodGang {}, which is not there: see whether the Grove \
                 operator is up, it makes it",
                fields::shown(&Value::from(label(pod, POD_GANG).unwrap_or_default()))
            ))
        })?;
        if is_managed(gang) || is_not_initialized(gang) {
            return Ok(None);
        }
        let gang_topology = topology::name(gang);
        let sub_groups = parts(gang, gang_topology)?;
        // The operator makes the PodGang first and lists its pods later.
        if sub_groups.iter().all(|it| it.pods.is_empty()) {
            return Ok(None);
        }
        let merged_labels = merged(labels(gang), labels(set));
        let merged_annotations = merged(annotations(gang), annotations(set));
        let min_members = sub_groups.iter().try_fold(0, |sum, part| {
            add(sum, part.min_members, format_args!("spec.podgroups[].minReplicas of the PodGang"))
        })?;
        let topology = topology::root(gang, gang_topology, &merged_annotations)?;
        let owner = Owner { annotations: merged_annotations, ..Owner::of(gang) };
        let of_gang = Workload { pod, top: gang, owners: std::slice::from_ref(&owner) };
        let mut group = default_group(of_gang, settings, TRAIN);
        // Here a topology needs no level beside it: the PodGang has them.
        group.remarks.retain(|it| !it.contains(topology_annotations::NAME));
        // What is merged may be more than the API server takes, though neither of the two is.
        let labels = bounded(merged(group.labels, merged_labels.clone()), "labels", &mut group.remarks);
        let annotations =
            bounded(merged(group.annotations, owner.annotations), "annotations", &mut group.remarks);
        Ok(Some(Group {
            priority_class: priority_class(&merged_labels, gang)?.unwrap_or(group.priority_class),
            preemptibility: preemptibility(&merged_labels, group.preemptibility)?,
            labels,
            annotations,
            min_members,
            sub_groups,
            topology,
            ..group
        }))
    }

    fn reads_spec(&self) -> bool {
        false
    }

    fn also_reads(&self) -> &'static [Reads] {
        &POD_GANGS
    }
}

fn gang_need(pod: &Value) -> Result<Need, Refused> {
    let name = label(pod, POD_GANG).filter(|it| !it.is_empty()).ok_or_else(|| {
        Refused(format!(
            "label {POD_GANG} of the pod is missing: it names the PodGang of the pod, so leave it as the Grove \
             operator sets it"
        ))
    })?;
    Ok(Need::Object {
        api_version: "scheduler.grove.io/v1alpha1".to_owned(),
        kind: "PodGang".to_owned(),
        name: name.to_owned(),
    })
}

/// Whether our own operator made the PodGang. It tells the scheduler of it itself.
fn is_managed(gang: &Value) -> bool {
    annotation(gang, FORM_ANNOTATION).is_some()
}

/// Whether the PodGang says that not all of its pods are listed.
fn is_not_initialized(gang: &Value) -> bool {
    let conditions = gang["status"]["conditions"].as_array();
    let condition = conditions.into_iter().flatten().find(|it| it["type"] == INITIALIZED);
    condition.is_some_and(|it| it["status"] == "False")
}

/// The first, and of the second what it lacks.
fn merged(first: BTreeMap<String, String>, second: BTreeMap<String, String>) -> BTreeMap<String, String> {
    second.into_iter().chain(first).collect()
}

/// What a label says, else the PodGang, if it says anything, be it nothing.
fn priority_class(labels: &BTreeMap<String, String>, gang: &Value) -> Result<Option<String>, Refused> {
    if let Some(class) = labels.get(priority::LABEL) {
        return Ok(Some(class.clone()));
    }
    let field = format_args!("spec.priorityClassName of PodGang {}", name(gang));
    Ok(fields::text(&gang["spec"]["priorityClassName"], field)?.map(str::to_owned))
}

/// What a label says, else what it is without one.
fn preemptibility(
    labels: &BTreeMap<String, String>,
    without: Option<Preemptibility>,
) -> Result<Option<Preemptibility>, Refused> {
    let key = preemptibility::LABEL;
    match labels.get(key).map(String::as_str) {
        None => Ok(without),
        Some("") => Ok(None),
        Some(text) => Preemptibility::parse(text).map(Some).ok_or_else(|| {
            Refused(format!(
                "label {key} is {}: set it to preemptible or non-preemptible, in the PodCliqueSet",
                fields::shown(&Value::from(text))
            ))
        }),
    }
}
