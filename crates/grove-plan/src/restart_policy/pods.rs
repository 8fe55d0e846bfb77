//! Pods of a clique that failed: who sees to them, and when.

use grove_api::wire::{PodClique, PodCliqueSet, RestartCount, RestartScope};
use k8s_openapi::jiff::Timestamp;

use super::{Rules, Ruling};
use crate::facts::{Phase, PodFact};

/// What happens to pods that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailedPods {
    /// No restart policy speaks of them.
    Free,
    /// They are replaced, after this is noted.
    Replaced(RestartCount),
    /// They stay; where a time is given, until then.
    Stay(Option<Timestamp>),
    /// They stay, and this is noted.
    Exhausted(RestartCount),
}

/// Decides for the pods of a clique; `hash` is that of the set's template.
///
/// Pods that fail at the same time are one restart. Where more than a pod is restarted they stay until that happens: they
/// are what says that it has to.
pub fn failed_pods(
    set: &PodCliqueSet,
    hash: &str,
    clique: &PodClique,
    pods: &[&PodFact],
    now: Timestamp,
) -> FailedPods {
    let Some(rules) = Rules::of_clique(set, hash, clique) else { return FailedPods::Free };
    let status = clique.status.as_ref();
    let before = status.and_then(|it| it.restart.as_ref()).map(|it| it.before.0);
    // What is restarted anyway goes with that.
    let has_failed = |it: &&&PodFact| {
        !it.terminating && it.phase == Phase::Failed && before.is_none_or(|before| it.created >= before)
    };
    if rules.scope != RestartScope::Pod || !pods.iter().any(|it| has_failed(&it)) {
        return FailedPods::Stay(None);
    }
    match rules.on_failure(status.and_then(|it| it.restarts.as_ref()), now) {
        Ruling::Restart(count) => FailedPods::Replaced(count),
        Ruling::Wait(until) => FailedPods::Stay(Some(until)),
        Ruling::Exhausted(count) => FailedPods::Exhausted(count),
        Ruling::Over => FailedPods::Stay(None),
    }
}

#[cfg(test)]
mod tests;
