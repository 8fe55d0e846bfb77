//! The progress of an update of a set: one set replica after the other.

use grove_api::wire::{PodCliqueSet, PodCliqueSetUpdateProgress, ReplicaUpdateProgress, Time};
use k8s_openapi::jiff::Timestamp;

use super::{Pace, is_open, pace};

/// A set replica, as it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetReplica {
    /// Whether a clique or a pod of it is of another template.
    pub is_outdated: bool,
    /// Whether all of it is of the current template, and says so.
    pub is_converged: bool,
    /// Whether it has all its minima.
    pub is_available: bool,
}

/// Standalone cliques and scaling groups, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Standalone cliques of the current template.
    pub updated_cliques: i32,
    /// Standalone cliques.
    pub cliques: i32,
    /// Scaling groups of the current template.
    pub updated_groups: i32,
    /// Scaling groups.
    pub groups: i32,
}

/// The progress of an update that begins because the template changed. A replica that had its turn keeps it: it is the one that
/// misses something already.
pub fn started(set: &PodCliqueSet, now: Timestamp) -> PodCliqueSetUpdateProgress {
    let before = set.status.as_ref().and_then(|it| it.update_progress.as_ref());
    let rolls = pace(set) != Pace::OnDelete;
    let open = before.filter(|it| rolls && is_open(Some(it)));
    PodCliqueSetUpdateProgress {
        update_started_at: Some(Time(now)),
        update_ended_at: (!rolls).then_some(Time(now)),
        currently_updating: open.map(|it| it.currently_updating.clone()).unwrap_or_default(),
        ..PodCliqueSetUpdateProgress::default()
    }
}

/// The progress as it is now; `replicas` by their index.
pub fn progress(
    set: &PodCliqueSet,
    replicas: &[SetReplica],
    totals: Totals,
    now: Timestamp,
) -> Option<PodCliqueSetUpdateProgress> {
    let before = set.status.as_ref().and_then(|it| it.update_progress.clone());
    let is_needed = replicas.iter().any(|it| it.is_outdated);
    let mut progress = match (pace(set), before) {
        // Also pods that were left over by another strategy.
        (Pace::Rolling, before) if is_needed && !is_open(before.as_ref()) => started(set, now),
        (_, before) => before?,
    };
    if is_open(Some(&progress)) {
        match pace(set) {
            Pace::Paused => {}
            Pace::OnDelete => end(&mut progress, now),
            Pace::Rolling => turn(&mut progress, replicas, now),
        }
    }
    progress.updated_pod_cliques_count = totals.updated_cliques;
    progress.total_pod_cliques_count = totals.cliques;
    progress.updated_pod_clique_scaling_groups_count = totals.updated_groups;
    progress.total_pod_clique_scaling_groups_count = totals.groups;
    Some(progress)
}

fn end(progress: &mut PodCliqueSetUpdateProgress, now: Timestamp) {
    progress.update_ended_at = Some(Time(now));
    progress.currently_updating.clear();
}

/// Gives the turn to the next replica when the one that has it is done: an unavailable one, which has nothing to lose,
/// then by index. One that has nothing of another template needs no turn.
fn turn(progress: &mut PodCliqueSetUpdateProgress, replicas: &[SetReplica], now: Timestamp) {
    let seen = |it: &ReplicaUpdateProgress| replicas.get(usize::try_from(it.replica_index).ok()?);
    let is_done = |it: &SetReplica| !it.is_outdated && it.is_converged && it.is_available;
    if progress.currently_updating.first().and_then(seen).is_some_and(|it| !is_done(it)) {
        return;
    }
    let outdated = replicas.iter().zip(0..).filter(|(it, _)| it.is_outdated);
    match outdated.min_by_key(|(it, index)| (it.is_available, *index)) {
        None => end(progress, now),
        Some((_, replica_index)) => {
            let turn = ReplicaUpdateProgress {
                replica_index,
                update_started_at: Some(Time(now)),
                update_ended_at: None,
            };
            progress.currently_updating = vec![turn];
        }
    }
}
