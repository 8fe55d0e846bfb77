//! What is to be done for a Job.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc, time::Duration};

use k8s_openapi::{api::core::v1::Pod, jiff::Timestamp};

use super::facts::{
    BACKOFF_LIMIT_EXCEEDED, DEADLINE_EXCEEDED, JobFacts, Phase, ended, index, is_ready, phase,
};
use crate::{caches::node_name, clock::later};

/// Before a failed pod is replaced: the first pause, doubled with each failure in a row, and the longest.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(10));
/// Pods that are created at a time.
const MOST: usize = 500;

/// How a Job ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Complete,
    Failed { reason: &'static str, message: String },
}

/// A pod to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodName {
    pub(super) name: String,
    pub(super) uid: String,
}

/// What is to be done, and what is so when it is done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Pods, each with its index where the Job has indexes.
    pub(super) create: Vec<Option<usize>>,
    pub(super) delete: Vec<PodName>,
    pub(super) active: usize,
    pub(super) ready: usize,
    pub(super) terminating: usize,
    pub(super) succeeded: usize,
    pub(super) failed: usize,
    pub(super) completed: BTreeSet<usize>,
    pub(super) finish: Option<Finish>,
    /// Whether it has ended, and no pod runs any more.
    pub(super) is_over: bool,
    pub(super) is_suspended: bool,
    /// When to look again.
    pub(super) next: Option<Timestamp>,
}

/// Decides from the Job and its pods.
pub(super) fn plan(job: &JobFacts, pods: &[Arc<Pod>], now: Timestamp) -> Plan {
    let of = |wanted: Phase| pods.iter().filter(move |it| phase(it) == wanted);
    let is_deleted = |it: &Arc<Pod>| it.metadata.deletion_timestamp.is_some();
    let mut active: Vec<&Arc<Pod>> = of(Phase::Active).filter(|it| !is_deleted(it)).collect();
    let terminating = of(Phase::Active).filter(|it| is_deleted(it)).count();
    let is_index = |it: &usize| job.is_indexed && job.completions.is_some_and(|most| *it < most);
    let mut completed: BTreeSet<usize> =
        of(Phase::Succeeded).filter_map(|it| index(it)).filter(is_index).collect();
    completed.extend(job.completed.iter().copied().filter(is_index));
    let succeeded =
        if job.is_indexed { completed.len() } else { of(Phase::Succeeded).count().max(job.succeeded) };
    let failed = of(Phase::Failed).count().max(job.failed);
    let mut plan = Plan { terminating, succeeded, failed, completed, ..Plan::default() };

    plan.finish = job.finish.clone().or_else(|| finish(job, &plan, active.len(), now));
    plan.is_suspended = job.is_suspended && plan.finish.is_none();
    let wanted = if plan.is_suspended || plan.finish.is_some() {
        0
    } else {
        match job.completions {
            Some(completions) => completions.saturating_sub(succeeded).min(job.parallelism),
            // Those that run are left to end.
            None if succeeded > 0 => active.len().min(job.parallelism),
            None => job.parallelism,
        }
    };

    // Those that have the least to lose go first.
    active.sort_by_key(|it| {
        (node_name(it).is_some(), is_ready(it), Reverse(it.metadata.creation_timestamp.clone()))
    });
    let mut taken = BTreeSet::new();
    let mut kept: Vec<&Arc<Pod>> = Vec::new();
    for pod in active.into_iter().rev() {
        let is_of_use = !job.is_indexed
            || index(pod)
                .is_some_and(|it| is_index(&it) && !plan.completed.contains(&it) && taken.insert(it));
        if is_of_use && kept.len() < wanted {
            kept.push(pod);
        } else {
            plan.delete.push(name(pod));
        }
    }

    let late = if job.replaces_late { terminating } else { 0 };
    let missing = wanted.saturating_sub(kept.len() + late).min(MOST);
    let pause = pause_until(pods).filter(|it| *it > now);
    if missing > 0 && pause.is_none() {
        plan.create = if job.is_indexed {
            let free = (0..job.completions.unwrap_or(0))
                .filter(|it| !plan.completed.contains(it) && !taken.contains(it));
            free.take(missing).map(Some).collect()
        } else {
            vec![None; missing]
        };
    }
    plan.terminating += plan.delete.len();
    plan.active = kept.len() + plan.create.len();
    plan.ready = kept.iter().filter(|it| is_ready(it)).count();
    plan.is_over = plan.finish.is_some() && plan.active == 0 && plan.terminating == 0;
    let pause = pause.filter(|_| missing > 0);
    plan.next =
        pause.into_iter().chain(job.deadline.filter(|_| plan.finish.is_none() && !plan.is_suspended)).min();
    plan
}

/// Whether it ends now, and how.
fn finish(job: &JobFacts, plan: &Plan, active: usize, now: Timestamp) -> Option<Finish> {
    let failed = |reason, message: &str| Some(Finish::Failed { reason, message: message.to_owned() });
    if plan.failed > job.backoff_limit {
        return failed(BACKOFF_LIMIT_EXCEEDED, "Job has reached the specified backoff limit");
    }
    if !job.is_suspended && job.deadline.is_some_and(|it| it <= now) {
        return failed(DEADLINE_EXCEEDED, "Job was active longer than specified deadline");
    }
    let is_complete = match job.completions {
        Some(completions) => plan.succeeded >= completions,
        None => plan.succeeded > 0 && active == 0,
    };
    is_complete.then_some(Finish::Complete)
}

/// After failures in a row the next pod waits.
fn pause_until(pods: &[Arc<Pod>]) -> Option<Timestamp> {
    let ends = |wanted: Phase| pods.iter().filter(move |it| phase(it) == wanted).filter_map(|it| ended(it));
    let success = ends(Phase::Succeeded).max();
    let failures: Vec<Timestamp> =
        ends(Phase::Failed).filter(|it| success.is_none_or(|success| *it > success)).collect();
    let doubled = u32::try_from(failures.len()).unwrap_or(u32::MAX).saturating_sub(1).min(16);
    let pause = BACKOFF.0.saturating_mul(1 << doubled).min(BACKOFF.1);
    failures.into_iter().max().map(|it| later(it, pause))
}

fn name(pod: &Pod) -> PodName {
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    PodName { name: text(&pod.metadata.name), uid: text(&pod.metadata.uid) }
}
