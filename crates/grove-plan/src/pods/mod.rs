//! Which pods of a clique to create and delete.

use std::{cmp::Reverse, collections::BTreeSet};

use grove_api::wire::PodClique;
use k8s_openapi::jiff::Timestamp;

use crate::{
    budget::Budget,
    facts::{Phase, PodFact},
};

/// What is wanted of a clique.
#[derive(Clone, Copy, Debug)]
pub struct Want<'a> {
    /// Pods.
    pub replicas: u32,
    /// Pods that it needs.
    pub minimum: u32,
    /// Pods of a lower index stay when others go: the scheduler counts only those for the gang's minimum.
    pub core: u32,
    /// Hash of the template that new pods are made from.
    pub hash: &'a str,
    /// What happens to pods of another template.
    pub outdated: Outdated,
    /// Whether a pod that ended with success has done its work; else it is replaced.
    pub may_complete: bool,
    /// What happens to pods that ended.
    pub ended: Ended,
    /// No pod is created beyond this many for now: none where the gang is missing or the API server refuses; the minimum, while other cliques of the gang lack theirs, so that no pod takes
    /// the place (of a quota, say) that another clique needs for the gang to go at all.
    pub at_most: u32,
    /// Pods that were created before this time are replaced, all at once: the unit that they belong to is restarted.
    pub restart_before: Option<Timestamp>,
    /// UIDs of pods whose nodes are lost: they are replaced, whatever they were. It is noted that they are.
    pub lost: &'a [String],
}

/// What happens to pods of another template than the one that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outdated {
    /// They stay until somebody deletes them.
    #[default]
    Stay,
    /// Those that have no node are replaced: nobody misses them.
    Unbound,
    /// All are replaced: those that are not ready at once, the others one after the other, each when so many are ready as
    /// when it began.
    Replaced {
        /// Pods that were ready then.
        ready_at_start: u32,
    },
}

/// Whether a pod that is deleted can be created again: `allowed` pods may exist, `limit` under a quota, and `existing` do.
pub fn can_recreate(allowed: u32, limit: u32, existing: usize) -> bool {
    allowed > 0 && (limit >= allowed || existing <= limit as usize)
}

/// Whether a pod of a clique that ended with success has done its work.
pub fn may_complete(clique: &PodClique) -> bool {
    clique.spec.pod_spec.restart_policy.as_deref().is_some_and(|it| it != "Always")
}

/// What happens to pods that ended and will not come back by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// They are replaced.
    #[default]
    Replaced,
    /// Those that failed stay, each in the place of its replacement: their restart policy says when it comes.
    FailedStay,
    /// All stay likewise: those before them ended too soon.
    Stay,
}

/// A pod to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Victim {
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// Why.
    pub why: Why,
}

/// Why a pod is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There are more than wanted.
    Excess,
    /// It ended and will not come back by itself.
    Ended,
    /// Another pod has its index.
    SameIndex,
    /// It is of another template.
    Outdated,
    /// The unit that it belongs to is restarted.
    Restarted,
    /// Its node is lost.
    NodeLost,
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodPlan {
    /// Indices of pods to create.
    pub create: Vec<u32>,
    /// Pods to delete.
    pub delete: Vec<Victim>,
}

/// Decides. `pods` are those that the clique owns.
///
/// A pod that has done its work keeps its index: its work is not done twice.
/// Pods on their way out count nowhere: one that is stuck on a lost node does not keep its replacement waiting.
pub fn plan(want: Want<'_>, pods: &[&PodFact]) -> PodPlan {
    let mut plan = PodPlan::default();
    let mut live = Vec::new();
    let mut kept = Vec::new();
    for pod in pods.iter().filter(|it| !it.terminating) {
        if want.lost.contains(&pod.uid) {
            plan.delete.push(victim(pod, Why::NodeLost));
            continue;
        }
        if want.restart_before.is_some_and(|it| pod.created < it) {
            plan.delete.push(victim(pod, Why::Restarted));
            continue;
        }
        let failed = pod.phase == Phase::Failed;
        let ended = failed || (pod.phase == Phase::Succeeded && !want.may_complete);
        let stays = want.ended == Ended::Stay || (failed && want.ended == Ended::FailedStay);
        match (ended, stays) {
            (true, true) => kept.push(*pod),
            (true, false) => plan.delete.push(victim(pod, Why::Ended)),
            (false, _) => live.push(*pod),
        }
    }
    // Least valuable first.
    live.sort_by_key(|pod| value(pod, want));

    let mut seen = BTreeSet::new();
    let mut unique: Vec<&PodFact> = Vec::new();
    for pod in live.into_iter().rev() {
        match pod.index {
            Some(index) if !seen.insert(index) => plan.delete.push(victim(pod, Why::SameIndex)),
            _ => unique.push(pod),
        }
    }
    let ready = u32::try_from(unique.iter().filter(|it| it.ready).count()).unwrap_or(u32::MAX);
    let mut budget = Budget { wanted: want.replicas, minimum: want.minimum, serving: ready };
    let keep = (want.replicas as usize).min(unique.len());
    // One that the others cannot spare yet goes when they can.
    for pod in unique.split_off(keep).into_iter().rev() {
        if budget.remove(pod.ready) {
            plan.delete.push(victim(pod, Why::Excess));
        } else {
            unique.push(pod);
        }
    }
    unique.extend(kept);
    let outdated = if plan.delete.is_empty() { outdated(want, &unique, budget) } else { Vec::new() };
    unique.retain(|it| !outdated.iter().any(|other| std::ptr::eq(*other, *it)));
    plan.delete.extend(outdated.into_iter().map(|it| victim(it, Why::Outdated)));

    let taken: BTreeSet<u32> = unique.iter().filter_map(|it| it.index).collect();
    let missing = (want.replicas.min(want.at_most) as usize).saturating_sub(unique.len());
    // The scheduler waits for every pod that it counts: one above cannot stand for it, and goes when all of these are there.
    let core = if want.at_most < want.replicas { 0 } else { want.core.min(want.replicas) };
    let holes = (0..core).filter(|it| !taken.contains(it)).count();
    plan.create = (0..).filter(|it| !taken.contains(it)).take(missing.max(holes)).collect();
    plan
}

/// The pods of another template that go now.
///
/// Those that do not serve at this moment cost nothing. Of the others the oldest goes, once as many are ready as when it
/// began: a template that does not work stops here.
fn outdated<'a>(want: Want<'_>, pods: &[&'a PodFact], mut budget: Budget) -> Vec<&'a PodFact> {
    let is_done = |it: &PodFact| it.phase == Phase::Succeeded && want.may_complete;
    let goes_at_once = |it: &&PodFact| match want.outdated {
        Outdated::Stay => false,
        Outdated::Unbound => !it.bound,
        Outdated::Replaced { .. } => !it.ready,
    };
    let done = u32::try_from(pods.iter().filter(|it| is_done(it)).count()).unwrap_or(u32::MAX);
    let old = pods.iter().copied().filter(|it| it.hash != want.hash && !is_done(it));
    let (mut at_once, later): (Vec<&PodFact>, Vec<&PodFact>) = old.partition(goes_at_once);
    at_once.sort_by_key(|it| it.index);
    match want.outdated {
        Outdated::Replaced { ready_at_start }
            // One that is too many and cannot be spared yet is waited for: it may serve in the place of another.
            if at_once.is_empty()
                && pods.len() <= want.replicas as usize
                // One that has done its work meanwhile serves no more, and is not waited for.
                && budget.serving >= ready_at_start.min(want.replicas.saturating_sub(done)) =>
        {
            let oldest = later.into_iter().min_by_key(|it| (it.created, it.index));
            oldest.filter(|it| budget.replace(it.ready)).into_iter().collect()
        }
        _ => at_once,
    }
}

pub(crate) fn victim(pod: &PodFact, why: Why) -> Victim {
    Victim { name: pod.name.clone(), uid: pod.uid.clone(), why }
}

/// Order of scale-in: above the minimum where that matters to the scheduler, not bound, not started, not ready, of an old
/// template, young. Pods of one burst have the same age; of them the highest index goes.
fn value<'a>(pod: &'a PodFact, want: Want<'_>) -> impl Ord + use<'a> {
    let is_core = pod.index.is_some_and(|it| it < want.core.min(want.replicas));
    let is_current = pod.hash == want.hash;
    (
        is_core,
        pod.bound,
        pod.phase,
        pod.ready,
        is_current,
        Reverse(pod.created),
        Reverse(pod.index),
        &pod.name,
    )
}

#[cfg(test)]
mod tests;
