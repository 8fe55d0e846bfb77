//! What recovery does about a set now. One decision at a time: what was written is looked at again before the next one.
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
    let by_policy = restart_policy::plan(observed);
    if !by_policy.restarts.is_empty() {
        return RecoveryPlan::Restart(by_policy.restarts);
    }
    if !by_policy.exhausted.is_empty() {
        return RecoveryPlan::Exhaust(by_policy.exhausted);
    }
    let terminated = termination::plan(observed);
    if !terminated.restarts.is_empty() {
        return RecoveryPlan::Restart(terminated.restarts);
    }
    let replaced =
        node_loss.map_or_else(TerminationPlan::default, |it| replace::plan(observed, it.replace_unit_after));
    if !replaced.restarts.is_empty() {
        return RecoveryPlan::Restart(replaced.restarts);
    }
    RecoveryPlan::Wait([by_policy.next, terminated.next, replaced.next].into_iter().flatten().min())
}

#[cfg(test)]
mod tests;
