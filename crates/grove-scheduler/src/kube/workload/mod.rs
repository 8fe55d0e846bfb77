//! Workloads that others made: their PodGroup.
//!
//! A pod names its PodGroup when it is created, and never again. A MutatingAdmissionPolicy does so for pods that ask for it;
//! it sees nothing but the pod, so that the name is that of the pod's nearest owner. Where the group of the workload is
//! that of another owner, its pods get a PodGroup that asks for nothing: without it they would wait for ever.

mod spec;

use kube::core::ApiResource;
use serde_json::{Value, json};

use crate::{
    backend::RenderError,
    workload::{
        DEFAULT_QUEUE, ENABLE_LABEL, ENABLED, Group, GroupOwner, Grouped, PodMarks, Told, WorkloadGroups,
        metadata::metadata, parts::Parts,
    },
};

use super::{Kube, form::Form, objects::pod_groups};

impl WorkloadGroups for Kube {
    fn resource(&self) -> ApiResource {
        pod_groups()
    }

    fn object_name<'a>(&self, group: &'a Group, pod: &'a Value) -> &'a str {
        let of_owner = nearest_owner(pod).map(|it| name_for(&it));
        self.group_of(pod).filter(|it| of_owner.as_deref() == Some(*it)).unwrap_or(&group.name)
    }

    /// A pod names its group when it is created.
    fn pod_marks(&self) -> PodMarks {
        PodMarks::default()
    }

    fn render(&self, group: &Group, pod: &Value, existing: Option<&Value>) -> Result<Told, RenderError> {
        let parts = Parts::of(group)?;
        let needed = parts.needed().max(1);
        let required = group.topology.as_ref().and_then(|it| it.required.as_deref());
        let owner = nearest_owner(pod);
        let of_owner = owner.as_ref().map(name_for);
        let mut remarks = not_told(group);
        let (group, min, level) = match (self.group_of(pod), owner) {
            (None, _) if needed == 1 && required.is_none() => return Ok(Told::LeftAlone),
            (None, _) => return Err(nameless(group, of_owner.as_deref())),
            (Some(name), _) if name == group.name => {
                if !group.sub_groups.is_empty() {
                    remarks.push(format!(
                        "not passed to kube-scheduler: the parts of the group: any {needed} of its pods are placed together"
                    ));
                }
                (group.clone(), needed, self.level(required, &mut remarks))
            }
            (Some(name), Some(owner)) if of_owner.as_deref() == Some(name) => {
                remarks.push(format!(
                    "kube-scheduler places these pods one by one: a pod names its group when it is created, by its nearest \
                     owner, {} {}, and they belong to the group {}",
                    owner.kind, owner.name, group.name
                ));
                (Group { name: name.to_owned(), owner, ..group.clone() }, 1, None)
            }
            (Some(_), _) => return Ok(Told::LeftAlone),
        };
        let spec = spec::of(&group.name, pod, min, level, existing, &mut remarks)?;
        let resource = pod_groups();
        let object = json!({
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": metadata(&group),
            "spec": spec,
        });
        Ok(Told::Grouped(Box::new(Grouped { object, remarks, ..Grouped::default() })))
    }

    fn group_of<'a>(&self, pod: &'a Value) -> Option<&'a str> {
        pod["spec"]["schedulingGroup"]["podGroupName"].as_str()
    }
}

impl Kube {
    /// The level that has to hold, where PodGroups can say it.
    fn level<'a>(&self, required: Option<&'a str>, remarks: &mut Vec<String>) -> Option<&'a str> {
        let level = required?;
        match self.found.form {
            Form::Tree | Form::Flat { topology: true } => Some(level),
            Form::Flat { topology: false } | Form::Plain(_) => {
                remarks.push(format!(
                    "the group should be placed by {level:?}, which has no effect: the API server keeps no topology of \
                     PodGroups (feature gate TopologyAwareWorkloadScheduling)"
                ));
                None
            }
        }
    }
}

/// The owner that made the pod.
fn nearest_owner(pod: &Value) -> Option<GroupOwner> {
    let owner = pod["metadata"]["ownerReferences"].as_array()?.iter().find(|it| it["controller"] == true)?;
    let text = |field: &str| owner[field].as_str().unwrap_or_default().to_owned();
    Some(GroupOwner {
        api_version: text("apiVersion"),
        kind: text("kind"),
        name: text("name"),
        uid: text("uid"),
    })
}

/// The name that the admission policy gives, which is also that of the group of an owner.
fn name_for(owner: &GroupOwner) -> String {
    format!("pg-{}-{}", owner.name, owner.uid)
}

fn nameless(group: &Group, of_owner: Option<&str>) -> RenderError {
    let GroupOwner { kind, name, .. } = &group.owner;
    RenderError(if of_owner == Some(&group.name) {
        format!(
            "the pod has no spec.schedulingGroup, which it can only get when it is created, so that kube-scheduler does \
             not know its group: label the pod template of {kind} {name} or its namespace {ENABLE_LABEL}={ENABLED}, \
             apply the MutatingAdmissionPolicy that `grove manifests --pod-grouper --scheduler-name default-scheduler` prints, and create the pods anew"
        )
    } else {
        format!(
            "kube-scheduler cannot place the pods of {kind} {name} together: a pod names its group when it is created, and \
             the group {} is not that of its nearest owner: use another scheduler for it, such as KAI or Volcano",
            group.name
        )
    })
}

/// What kube-scheduler has no word for.
fn not_told(group: &Group) -> Vec<String> {
    let queue =
        (group.queue != DEFAULT_QUEUE && !group.queue.is_empty()).then(|| format!("queue {:?}", group.queue));
    let preemptibility = group.preemptibility.map(|it| format!("{} (priority alone decides)", it.as_str()));
    let mut places =
        group.topology.iter().chain(group.sub_groups.iter().filter_map(|it| it.topology.as_ref()));
    let preferred = places.find_map(|it| it.preferred.as_ref()).map(|it| format!("preferred level {it:?}"));
    let parts = group.sub_groups.iter().filter_map(|it| Some((it, it.topology.as_ref()?.required.as_ref()?)));
    let required = parts.map(|(part, level)| format!("level {level:?} of part {:?}", part.name)).next();
    let delay = group.preemption_delay.as_ref().map(|_| "preemption delay".to_owned());
    let staleness = group.staleness_grace_period.as_ref().map(|_| "staleness grace period".to_owned());
    let all = [queue, preemptibility, preferred, required, delay, staleness];
    all.into_iter().flatten().map(|it| format!("not passed to kube-scheduler: {it}")).collect()
}

#[cfg(test)]
mod tests;
