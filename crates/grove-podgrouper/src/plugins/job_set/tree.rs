//! The tree of a JobSet: replicated jobs, and below each its replicas.

use serde_json::Value;

use super::MIN_MEMBER;
use crate::{
    fields,
    group::SubGroup,
    integers::{count, parse},
    metadata::annotation,
    plugin::Refused,
    sub_groups::{self, checked_name, leaf, parent},
    topology_annotations,
};

const JOBS: &str = "spec.replicatedJobs";

/// Parts of a JobSet, and how many replicated jobs have to be placed.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) parts: Vec<SubGroup>,
    pub(super) min_sub_groups: u32,
}

/// The part of one replica.
pub(super) fn leaf_name(job: &str, index: impl std::fmt::Display) -> String {
    format!("{job}-replica-{index}")
}

/// Whether a replicated job starts only when the one before it is ready. Then no two can be asked for at once.
pub(super) fn is_in_order(set: &Value) -> bool {
    set["spec"]["startupPolicy"]["startupPolicyOrder"].as_str() == Some("InOrder")
}

impl Tree {
    /// Reads it; `said` is what the user wants of it.
    pub(super) fn read(set: &Value, said: Option<u32>) -> Result<Self, Refused> {
        let jobs = fields::list(&set["spec"]["replicatedJobs"], format_args!("{JOBS}"))?;
        if jobs.is_empty() {
            return Err(Refused(format!("{JOBS} is empty: a JobSet needs at least one replicated job")));
        }
        let mut parts = Vec::new();
        let mut count = 0;
        for (index, job) in jobs.iter().enumerate() {
            let job = replicated_job(index, job, parts.len())?;
            count += u32::from(!job.is_empty());
            parts.extend(job);
        }
        let parts = sub_groups::checked(parts, format_args!("{JOBS}[].name"))?;
        let wanted = said.unwrap_or(if is_in_order(set) { 1 } else { count });
        Ok(Self { parts, min_sub_groups: wanted.min(count) })
    }
}

/// A replicated job and its replicas; nothing where it has none, because a part without parts wants pods.
fn replicated_job(index: usize, job: &Value, before: usize) -> Result<Vec<SubGroup>, Refused> {
    let field = format!("{JOBS}[{index}]");
    fields::map(job, format_args!("{field}"))?;
    let replicas = count(&job["replicas"], format_args!("{field}.replicas"), 0)?.unwrap_or(1);
    if replicas == 0 {
        return Ok(Vec::new());
    }
    let parts = before.saturating_add(1).saturating_add(usize::try_from(replicas).unwrap_or(usize::MAX));
    sub_groups::within(parts, format_args!("the replicas of {JOBS}"))?;
    let name = fields::required_text(&job["name"], format_args!("{field}.name"))?;
    checked_name(&leaf_name(name, replicas - 1), format_args!("{field}.name with its replica"))?;
    let template = &job["template"];
    let minimum = if let Some(text) = annotation(template, MIN_MEMBER) {
        parse(text, format_args!("{field}.template.metadata.annotations[{MIN_MEMBER}]"), 1)?
    } else {
        let parallelism = format_args!("{field}.template.spec.parallelism");
        count(&template["spec"]["parallelism"], parallelism, 0)?.unwrap_or(1)
    };
    let topology = topology_annotations::of(template);
    let leaves = (0..replicas).map(|it| SubGroup {
        parent: Some(name.to_owned()),
        topology: topology.clone(),
        ..leaf(leaf_name(name, it), minimum)
    });
    Ok(std::iter::once(parent(name, replicas)).chain(leaves).collect())
}
