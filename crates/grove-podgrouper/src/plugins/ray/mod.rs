//! Ray: a head and groups of workers. What runs them is always a RayCluster, which a RayJob or a RayService makes.

use serde_json::Value;

use self::worker_groups::worker_groups;
use crate::{
    default_group::{TRAIN, default_group},
    existing_groups::{is_flat, missing},
    fields,
    group::{Group, SubGroup},
    integers::add,
    metadata::{label, name, uid},
    names::group_name,
    plugin::{Found, Need, Plugin, Reads, Refused},
    settings::Settings,
    sub_groups::{self, leaf, place},
    topology_annotations,
    workload::{Kind, Workload},
};

#[cfg(test)]
mod tests;
mod worker_groups;

/// RayCluster, RayJob and RayService.
#[derive(Debug)]
pub(crate) struct Ray;

const HEAD: &str = "headgroup";
/// Schedulers put pods that name no part here.
const DEFAULT: &str = "default";
const GROUP_LABEL: &str = "ray.io/group";
const PRIORITY_LABEL: &str = "ray.io/priority-class-name";

const CLUSTERS: [Reads; 2] = [clusters("v1"), clusters("v1alpha1")];

const fn clusters(version: &'static str) -> Reads {
    Reads { kind: Kind { group: "ray.io", version, kind: "RayCluster" }, spec: true, status: false }
}

impl Plugin for Ray {
    fn name(&self) -> &'static str {
        "Ray"
    }

    fn needs(&self, workload: Workload<'_>, found: &Found, _: &Settings) -> Result<Vec<Need>, Refused> {
        let needs = [Some(existing(workload.top)), cluster_need(workload.top)?];
        Ok(missing(needs.into_iter().flatten(), found))
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let Workload { pod, top, .. } = workload;
        let cluster = match cluster_need(top)? {
            None => top,
            Some(need) => found.object(&need).ok_or_else(|| {
                Refused(format!(
                    "the RayCluster that the status of {} {} names is not there: see whether the Ray operator \
                     is up and made it",
                    Kind::of(top).kind,
                    name(top)
                ))
            })?,
        };
        let mut parts = parts(cluster)?;
        let mut group = default_group(workload, settings, TRAIN);
        group.min_members = parts.iter().try_fold(0, |sum, part| {
            add(sum, part.min_members, format_args!("spec.workerGroupSpecs[].replicas of the RayCluster"))
        })?;
        if let Some(class) = label(top, PRIORITY_LABEL) {
            class.clone_into(&mut group.priority_class);
        }
        // Its pods name no parts, so parts would leave them without one.
        if found.object(&existing(top)).is_some_and(is_flat) {
            return Ok(Some(group));
        }
        let part = label(pod, GROUP_LABEL);
        if has_submitter(top) {
            if !parts.iter().any(|it| it.name == DEFAULT) {
                parts.push(leaf(DEFAULT, 0));
            }
            place(pod, part.unwrap_or(DEFAULT), &mut parts);
        } else if let Some(part) = part {
            place(pod, part, &mut parts);
        }
        group.sub_groups = parts;
        Ok(Some(group))
    }

    fn reads_status(&self) -> bool {
        true
    }

    fn also_reads(&self) -> &'static [Reads] {
        &CLUSTERS
    }
}

/// The group as an older version may have made it.
fn existing(top: &Value) -> Need {
    Need::Group(group_name(name(top), uid(top)))
}

/// The cluster of a job or a service; `None` where it is at the top itself.
fn cluster_need(top: &Value) -> Result<Option<Need>, Refused> {
    let status = &top["status"];
    let (names, field) = match Kind::of(top).kind {
        "RayJob" => (vec![&status["rayClusterName"]], "status.rayClusterName"),
        "RayService" => (
            vec![
                &status["activeServiceStatus"]["rayClusterName"],
                &status["pendingServiceStatus"]["rayClusterName"],
            ],
            "status.activeServiceStatus.rayClusterName",
        ),
        _ => return Ok(None),
    };
    let cluster = names.into_iter().find_map(|it| it.as_str().filter(|it| !it.is_empty()));
    let cluster = cluster.ok_or_else(|| {
        Refused(format!(
            "{field} of {} {} is empty: see whether the Ray operator is up, it fills it in",
            Kind::of(top).kind,
            name(top)
        ))
    })?;
    Ok(Some(Need::Object {
        api_version: top["apiVersion"].as_str().unwrap_or_default().to_owned(),
        kind: "RayCluster".to_owned(),
        name: cluster.to_owned(),
    }))
}

/// Whether a pod of its own submits the job. It has no group of Ray's, and needs nobody.
fn has_submitter(top: &Value) -> bool {
    let is_mode = |mode: &str| mode.is_empty() || mode == "K8sJobMode";
    Kind::of(top).kind == "RayJob" && is_mode(top["spec"]["submissionMode"].as_str().unwrap_or_default())
}

/// The head, and the groups of workers that ask for pods.
fn parts(cluster: &Value) -> Result<Vec<SubGroup>, Refused> {
    let template = &cluster["spec"]["headGroupSpec"]["template"];
    let topology = topology_annotations::checked(template, format_args!("spec.headGroupSpec.template"))?;
    let groups = fields::list(&cluster["spec"]["workerGroupSpecs"], format_args!("spec.workerGroupSpecs"))?;
    let head = SubGroup { topology, ..leaf(HEAD, 1) };
    let parts = [vec![head], worker_groups(groups)?].concat();
    sub_groups::checked(parts, format_args!("spec.workerGroupSpecs[].groupName and {HEAD}"))
}
