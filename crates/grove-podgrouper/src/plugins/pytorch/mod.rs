//! PyTorchJob: a master and workers, who may be fewer than asked for, and may be cut into segments.

use serde_json::{Map, Value};

use crate::{
    default_group::{TRAIN, default_group},
    fields,
    group::{Group, SubGroup},
    integers::{count, parse},
    metadata::{annotation, label},
    plugin::{Found, Plugin, Refused},
    plugins::kubeflow::Kubeflow,
    segments,
    settings::Settings,
    sub_groups::{leaf, parent, place},
    workload::Workload,
};

#[cfg(test)]
mod tests;

/// PyTorchJob of Kubeflow's training operator.
#[derive(Debug)]
pub(crate) struct PyTorchJob;

const BASE: Kubeflow = Kubeflow { name: "PyTorchJob", roles: "pytorchReplicaSpecs", mandatory: &[] };
const ROLES: &str = "spec.pytorchReplicaSpecs";
const ROLE_LABEL: &str = "training.kubeflow.org/replica-type";
const INDEX_LABEL: &str = "training.kubeflow.org/replica-index";
const MASTER: &str = "master";
const WORKER: &str = "worker";

impl Plugin for PyTorchJob {
    fn name(&self) -> &'static str {
        BASE.name
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let Workload { pod, top: job, .. } = workload;
        let roles = fields::map(&job["spec"][BASE.roles], format_args!("{ROLES}"))?.ok_or_else(|| {
            Refused(format!("{ROLES} is missing: say there how many replicas Master and Worker have"))
        })?;
        let min_members = min_members(job)?;
        let sub_groups = sub_groups(pod, job, roles, min_members)?;
        Ok(Some(Group { min_members, sub_groups, ..default_group(workload, settings, TRAIN) }))
    }
}

/// What the user says, else what the job can begin with, else all of its pods.
fn min_members(job: &Value) -> Result<u32, Refused> {
    let spec = &job["spec"];
    let all = BASE.min_members(job)?;
    if !spec["runPolicy"]["schedulingPolicy"]["minAvailable"].is_null() {
        return Ok(all);
    }
    let elastic =
        count(&spec["elasticPolicy"]["minReplicas"], format_args!("spec.elasticPolicy.minReplicas"), 0)?;
    Ok(elastic.unwrap_or(all))
}

fn sub_groups(
    pod: &Value,
    job: &Value,
    roles: &Map<String, Value>,
    min_members: u32,
) -> Result<Vec<SubGroup>, Refused> {
    let masters = roles.get("Master").map_or(Ok(0), |it| replicas(it, "Master"))?;
    let mut parts = Vec::new();
    if masters > 0 {
        parts.push(leaf(MASTER, masters));
    }
    let role = label(pod, ROLE_LABEL);
    let mut part = role.filter(|it| [MASTER, WORKER].contains(it)).map(str::to_owned);
    if let Some(spec) = roles.get("Worker") {
        let workers = replicas(spec, "Worker")?;
        let minimum = min_members.saturating_sub(masters);
        let template = &spec["template"];
        match segment_size(pod, template)? {
            Some(size) if workers > 0 => {
                parts.extend(segmented(pod, job, template, Workers { all: workers, minimum, size })?);
                if role == Some(WORKER) {
                    part = Some(format!("{WORKER}-{}", index(pod)? / size));
                }
            }
            _ => parts.push(leaf(WORKER, minimum)),
        }
    }
    // A pod that is above the number of replicas is about to go: it is in no part.
    if let Some(part) = part {
        place(pod, &part, &mut parts);
    }
    Ok(parts)
}

/// Replicas of a role, one where nobody says, as the training operator has it.
fn replicas(spec: &Value, role: &str) -> Result<u32, Refused> {
    Ok(count(&spec["replicas"], format_args!("{ROLES}.{role}.replicas"), 0)?.unwrap_or(1))
}

#[derive(Clone, Copy)]
struct Workers {
    /// How many there are.
    all: u32,
    /// How many of them are needed.
    minimum: u32,
    /// How many are in a segment.
    size: u32,
}

/// All workers, and their segments. Those that the job can begin without need no pods.
fn segmented(pod: &Value, job: &Value, template: &Value, of: Workers) -> Result<Vec<SubGroup>, Refused> {
    let sizes = segments::sizes(of.all, of.size)?;
    let needed = of.minimum.div_ceil(of.size);
    let topology = segments::topology(pod, template, job);
    let segments = (0..).zip(&sizes).map(|(index, pods)| SubGroup {
        parent: Some(WORKER.to_owned()),
        topology: topology.clone(),
        ..leaf(format!("{WORKER}-{index}"), if index < needed { *pods } else { 0 })
    });
    let mut parts: Vec<SubGroup> = segments.collect();
    let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    parts.insert(0, parent(WORKER, count));
    Ok(parts)
}

/// Pods in a segment, as the pod says it, else the template of the workers.
fn segment_size(pod: &Value, template: &Value) -> Result<Option<u32>, Refused> {
    let key = segments::SIZE;
    if let Some(text) = annotation(pod, key) {
        return parse(text, format_args!("annotation {key} of the pod"), 1).map(Some);
    }
    let field = format_args!("{ROLES}.Worker.template.metadata.annotations[{key}]");
    annotation(template, key).map(|text| parse(text, field, 1)).transpose()
}

/// Which of the workers a pod is.
fn index(pod: &Value) -> Result<u32, Refused> {
    let text = label(pod, INDEX_LABEL).ok_or_else(|| {
        Refused(format!(
            "label {INDEX_LABEL} of the pod is missing: it says in which segment a worker is, so leave it as \
             the training operator sets it"
        ))
    })?;
    parse(text, format_args!("label {INDEX_LABEL} of the pod"), 0)
}
