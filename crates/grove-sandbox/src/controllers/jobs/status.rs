//! The status of a Job.

use std::collections::BTreeSet;

use k8s_openapi::{
    api::batch::v1::{Job, JobCondition, JobStatus},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use serde_json::{Value, json};

use super::plan::{Finish, Plan};

/// What it is to be once the plan is carried out.
pub(super) fn status(job: &Job, plan: &Plan, now: Timestamp) -> JobStatus {
    let old = job.status.clone().unwrap_or_default();
    let count = |it: usize| i32::try_from(it).unwrap_or(i32::MAX);
    let some = |it: usize| Some(count(it)).filter(|it| *it > 0);
    let mut status = JobStatus {
        active: some(plan.active),
        ready: Some(count(plan.ready)),
        terminating: Some(count(plan.terminating)),
        succeeded: some(plan.succeeded),
        failed: some(plan.failed),
        completed_indexes: Some(write_indexes(&plan.completed)).filter(|it| !it.is_empty()),
        ..old
    };
    let mut conditions = status.conditions.take().unwrap_or_default();
    let mut set = |type_: &str, value: &str, reason: &str, message: &str| {
        let found = conditions.iter().position(|it| it.type_ == type_);
        if found.is_some_and(|at| conditions[at].status == value) {
            return false;
        }
        let condition = JobCondition {
            type_: type_.to_owned(),
            status: value.to_owned(),
            reason: Some(reason.to_owned()),
            message: Some(message.to_owned()),
            last_probe_time: Some(Time(now)),
            last_transition_time: Some(Time(now)),
        };
        match found {
            Some(at) => conditions[at] = condition,
            None => conditions.push(condition),
        }
        true
    };
    match &plan.finish {
        Some(Finish::Complete) => {
            let told = ("CompletionsReached", "Reached expected number of succeeded pods");
            set("SuccessCriteriaMet", "True", told.0, told.1);
            if plan.is_over && set("Complete", "True", told.0, told.1) {
                status.completion_time = Some(Time(now));
            }
        }
        Some(Finish::Failed { reason, message }) => {
            set("FailureTarget", "True", reason, message);
            if plan.is_over {
                set("Failed", "True", reason, message);
            }
        }
        None => {}
    }
    if plan.is_suspended {
        set("Suspended", "True", "JobSuspended", "Job suspended");
        status.start_time = None;
    } else {
        let was_suspended =
            job.status.iter().flat_map(|it| it.conditions.iter().flatten()).any(|it| it.type_ == "Suspended");
        if was_suspended && plan.finish.is_none() {
            set("Suspended", "False", "JobResumed", "Job resumed");
        }
        status.start_time.get_or_insert(Time(now));
    }
    status.conditions = Some(conditions).filter(|it| !it.is_empty());
    status
}

/// The patch that makes it so, unless somebody else was faster. What is not there any more is removed.
pub(super) fn patch(job: &Job, status: &JobStatus) -> Value {
    let mut wanted = json!(status);
    let old = json!(job.status);
    if let Some(wanted) = wanted.as_object_mut() {
        for field in old.as_object().into_iter().flat_map(|it| it.keys()) {
            wanted.entry(field).or_insert(Value::Null);
        }
    }
    json!({ "metadata": { "resourceVersion": job.metadata.resource_version }, "status": wanted })
}

/// `0-2,5`
pub(super) fn write_indexes(indexes: &BTreeSet<usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let text = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Reads what [`write_indexes`] writes; what cannot be read is left out.
pub(super) fn read_indexes(text: &str) -> BTreeSet<usize> {
    /// As many as an indexed Job may have; a status is no reason to count for ever.
    const MOST: usize = 100_000;
    let range = |it: &str| {
        let (first, last) = it.split_once('-').unwrap_or((it, it));
        Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
    };
    text.split(',').filter_map(range).flat_map(|(first, last)| first..=last.min(MOST)).collect()
}
