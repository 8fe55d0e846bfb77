//! What is read of a Job and of its pods.

use std::collections::BTreeSet;

use k8s_openapi::{
    api::{
        batch::v1::{Job, JobCondition},
        core::v1::Pod,
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
    jiff::Timestamp,
};

use super::plan::Finish;

/// The index of a pod of an indexed Job, as an annotation and as a label.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const CONTROLLER: &str = "kubernetes.io/job-controller";

/// Reasons of a failed Job; the real controller's.
pub(super) const BACKOFF_LIMIT_EXCEEDED: &str = "BackoffLimitExceeded";
pub(super) const DEADLINE_EXCEEDED: &str = "DeadlineExceeded";

/// A Job, as far as it is decided upon.
pub(super) struct JobFacts {
    pub(super) parallelism: usize,
    /// `None`: one success is enough, and then no pod is created any more.
    pub(super) completions: Option<usize>,
    pub(super) is_indexed: bool,
    pub(super) is_suspended: bool,
    pub(super) backoff_limit: usize,
    pub(super) deadline: Option<Timestamp>,
    /// Whether a pod that is being deleted is replaced only when it is gone.
    pub(super) replaces_late: bool,
    /// What was decided before.
    pub(super) finish: Option<Finish>,
    /// Pods that succeeded and failed, as recorded: pods may be gone by now.
    pub(super) succeeded: usize,
    pub(super) failed: usize,
    pub(super) completed: BTreeSet<usize>,
}

impl JobFacts {
    pub(super) fn of(job: &Job) -> Self {
        let spec = job.spec.clone().unwrap_or_default();
        let status = job.status.clone().unwrap_or_default();
        let count =
            |it: Option<i32>, default: usize| it.map_or(default, |it| usize::try_from(it).unwrap_or(0));
        let started = status.start_time.map(|it| it.0);
        let seconds = spec.active_deadline_seconds.and_then(|it| u64::try_from(it).ok());
        let deadline = started.zip(seconds);
        Self {
            parallelism: count(spec.parallelism, 1),
            completions: spec.completions.map(|it| usize::try_from(it).unwrap_or(0)),
            is_indexed: spec.completion_mode.as_deref() == Some("Indexed"),
            is_suspended: spec.suspend == Some(true),
            backoff_limit: count(spec.backoff_limit, 6),
            deadline: deadline
                .map(|(from, it)| crate::clock::later(from, std::time::Duration::from_secs(it))),
            replaces_late: spec.pod_replacement_policy.as_deref() == Some("Failed"),
            finish: finish(status.conditions.as_deref().unwrap_or_default()),
            succeeded: count(status.succeeded, 0),
            failed: count(status.failed, 0),
            completed: super::status::read_indexes(status.completed_indexes.as_deref().unwrap_or_default()),
        }
    }
}

/// What conditions say was decided.
fn finish(conditions: &[JobCondition]) -> Option<Finish> {
    let mut held = conditions.iter().filter(|it| it.status == "True");
    held.find_map(|it| match it.type_.as_str() {
        "SuccessCriteriaMet" | "Complete" => Some(Finish::Complete),
        "FailureTarget" | "Failed" => {
            let is_late = it.reason.as_deref() == Some(DEADLINE_EXCEEDED);
            let reason = if is_late { DEADLINE_EXCEEDED } else { BACKOFF_LIMIT_EXCEEDED };
            Some(Finish::Failed { reason, message: it.message.clone().unwrap_or_default() })
        }
        _ => None,
    })
}

/// Whether it has ended, and its pods too.
pub(super) fn is_finished(job: &Job) -> bool {
    let conditions = job.status.as_ref().and_then(|it| it.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|it| it.status == "True" && matches!(it.type_.as_str(), "Complete" | "Failed"))
}

/// Whether this controller is to run it: not while it is deleted, and not one that somebody else manages.
pub(super) fn is_ours(job: &Job) -> bool {
    let manager = job.spec.as_ref().and_then(|it| it.managed_by.as_deref());
    job.metadata.deletion_timestamp.is_none() && manager.is_none_or(|it| it == CONTROLLER)
}

/// The Job that controls a pod.
pub(super) fn job_of(pod: &Pod) -> Option<&OwnerReference> {
    let mut owners = pod.metadata.owner_references.iter().flatten();
    owners.find(|it| {
        it.controller == Some(true)
            && it.kind == "Job"
            && it.api_version.split('/').next() == Some(super::GROUP)
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Active,
    Succeeded,
    Failed,
}

pub(super) fn phase(pod: &Pod) -> Phase {
    match pod.status.as_ref().and_then(|it| it.phase.as_deref()) {
        Some("Succeeded") => Phase::Succeeded,
        Some("Failed") => Phase::Failed,
        _ => Phase::Active,
    }
}

pub(super) fn index(pod: &Pod) -> Option<usize> {
    pod.metadata.annotations.as_ref()?.get(INDEX)?.parse().ok()
}

pub(super) fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|it| it.conditions.as_ref());
    conditions.into_iter().flatten().any(|it| it.type_ == "Ready" && it.status == "True")
}

/// When the last container ended.
pub(super) fn ended(pod: &Pod) -> Option<Timestamp> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    let ends = statuses.iter().filter_map(|it| it.state.as_ref()?.terminated.as_ref()?.finished_at.as_ref());
    ends.map(|it| it.0).max()
}
