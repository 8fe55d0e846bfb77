//! What recovery does about a set now. One decision at a time: what was written is looked at again before the next one.
//!
//! No restart begins within the second in which the newest pod of its unit was created: times have whole seconds, and a pod that replaces
//! another within that second would count as one from before the restart, and be deleted too.
//!
//! In this order: restarts that somebody began to note are finished; the restart policy, which knows the cause, restarts no more than
//! that concerns; gang termination restarts what stayed below its minimum; and units move whose domain no longer fits, because a node of it
//! is lost.

use k8s_openapi::jiff::Timestamp;

use crate::{
    node_loss::{Patience, replace},
    restart::{self, Restart},
    restart_policy::{self, Exhausted},
    status::SetState,
    termination::{self, TerminationPlan},
};

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveryPlan {
    /// The first notes of these restarts are written, and the others are missing.
    Finish(Vec<Restart>),
    /// These units are restarted.
    Restart(Vec<Restart>),
    /// The restart policy restarts these units no more.
    Exhaust(Vec<Exhausted>),
    /// Nothing, if nothing changes; where a time is given, until then.
    Wait(Option<Timestamp>),
}

/// Decides. Without `node_loss` nobody looks at nodes.
pub fn plan(observed: &SetState<'_>, node_loss: Option<Patience>) -> RecoveryPlan {
    let begun = restart::unfinished(&observed.cliques);
    if !begun.is_empty() {
        return RecoveryPlan::Finish(begun);
    }
    let mut wait = None;
    let by_policy = restart_policy::plan(observed);
    if let Some(due) = ready(by_policy.restarts, observed.now, &mut wait) {
        return RecoveryPlan::Restart(due);
    }
    if !by_policy.exhausted.is_empty() {
        return RecoveryPlan::Exhaust(by_policy.exhausted);
    }
    let terminated = termination::plan(observed);
    if let Some(due) = ready(terminated.restarts, observed.now, &mut wait) {
        return RecoveryPlan::Restart(due);
    }
    let replaced =
        node_loss.map_or_else(TerminationPlan::default, |it| replace::plan(observed, it.replace_unit_after));
    if let Some(due) = ready(replaced.restarts, observed.now, &mut wait) {
        return RecoveryPlan::Restart(due);
    }
    RecoveryPlan::Wait([wait, by_policy.next, terminated.next, replaced.next].into_iter().flatten().min())
}

/// Those of `restarts` that may begin now, if there are any; `wait` is when the next of the others may.
fn ready(restarts: Vec<Restart>, now: Timestamp, wait: &mut Option<Timestamp>) -> Option<Vec<Restart>> {
    let (ready, early): (Vec<_>, Vec<_>) = restarts.into_iter().partition(|it| it.before <= now);
    *wait = early.iter().map(|it| it.before).chain(*wait).min();
    (!ready.is_empty()).then_some(ready)
}

#[cfg(test)]
mod tests;
