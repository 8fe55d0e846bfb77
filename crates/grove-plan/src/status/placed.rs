//! Whether a clique has ever had its minimum bound to nodes. It is recorded in its status and never taken back; nothing is
//! inferred from times, because a gang may be scheduled and lost again within a second.

use grove_api::{constants::conditions::pod_clique_scheduled, wire::PodCliqueStatus};

use super::conditions::is_true;
use crate::facts::Tally;

/// By the record. A status without one was written by another version: there a pod that is bound means that its gang was.
pub(super) fn was_placed(status: Option<&PodCliqueStatus>, tally: &Tally) -> bool {
    let Some(status) = status else { return false };
    status.was_scheduled.unwrap_or_else(|| {
        tally.placed > 0
            || is_true(&status.conditions, pod_clique_scheduled::TYPE)
            || status.restart.as_ref().is_some_and(|it| it.scheduled_at.is_some())
    })
}

/// Puts the record into the new status, which is complete but for it. `is_placed`: the minimum is bound now, or was since the
/// operator started.
pub(super) fn record(
    status: &mut PodCliqueStatus,
    written: Option<&PodCliqueStatus>,
    tally: &Tally,
    is_placed: bool,
) {
    let is_missing = written.is_some_and(|it| it.was_scheduled.is_none());
    // The status of another version gets the record with the next write, and is not written because of it.
    if !is_missing || written != Some(&*status) {
        status.was_scheduled = Some(is_placed || was_placed(written, tally));
    }
}

#[cfg(test)]
mod tests;
