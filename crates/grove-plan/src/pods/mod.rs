//! Which pods of a clique to create and delete.

use std::{cmp::Reverse, collections::BTreeSet};

use crate::facts::{Phase, PodFact};

/// What is wanted of a clique.
#[derive(Clone, Copy, Debug)]
pub struct Want<'a> {
    /// Pods.
    pub replicas: u32,
    /// Hash of the template that new pods are made from.
    pub hash: &'a str,
    /// Whether a pod that ended with success has done its work; else it is replaced.
    pub may_complete: bool,
    /// Whether pods that ended stay for now, each in the place of its replacement: those before it ended too soon.
    pub keep_ended: bool,
    /// No pod is created beyond this many for now: none where the gang is missing or the API server refuses; the minimum, while other cliques of the gang lack theirs, so that no pod takes
    /// the place (of a quota, say) that another clique needs for the gang to go at all.
    pub at_most: u32,
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
        let ended = pod.phase == Phase::Failed || (pod.phase == Phase::Succeeded && !want.may_complete);
        match (ended, want.keep_ended) {
            (true, true) => kept.push(*pod),
            (true, false) => plan.delete.push(victim(pod, Why::Ended)),
            (false, _) => live.push(*pod),
        }
    }
    // Least valuable first.
    live.sort_by_key(|pod| value(pod, want.hash));

    let mut seen = BTreeSet::new();
    let mut unique: Vec<&PodFact> = Vec::new();
    for pod in live.into_iter().rev() {
        match pod.index {
            Some(index) if !seen.insert(index) => plan.delete.push(victim(pod, Why::SameIndex)),
            _ => unique.push(pod),
        }
    }
    let keep = (want.replicas as usize).min(unique.len());
    let excess = unique.split_off(keep);
    plan.delete.extend(excess.into_iter().rev().map(|it| victim(it, Why::Excess)));

    unique.extend(kept);
    let taken: BTreeSet<u32> = unique.iter().filter_map(|it| it.index).collect();
    let missing = (want.replicas.min(want.at_most) as usize).saturating_sub(unique.len());
    plan.create = (0..).filter(|it| !taken.contains(it)).take(missing).collect();
    plan
}

fn victim(pod: &PodFact, why: Why) -> Victim {
    Victim { name: pod.name.clone(), uid: pod.uid.clone(), why }
}

/// Order of scale-in: not bound, not started, not ready, of an old template, young. Pods of one burst have the same age;
/// of them the highest index goes.
fn value<'a>(pod: &'a PodFact, hash: &str) -> impl Ord + use<'a> {
    (pod.bound, pod.phase, pod.ready, pod.hash == hash, Reverse(pod.created), Reverse(pod.index), &pod.name)
}

#[cfg(test)]
mod tests;
