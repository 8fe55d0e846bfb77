//! The progress of an update of a set: one set replica after the other.

use grove_api::{
    constants::conditions::update_in_progress,
    wire::{PodCliqueSet, PodCliqueSetUpdateProgress, ReplicaUpdateProgress, Time},
};
use k8s_openapi::jiff::Timestamp;

use super::{Pace, is_open, pace};
use crate::layout::count;

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
    let available = set.status.as_ref().map_or(0, |it| it.available_replicas);
    PodCliqueSetUpdateProgress {
        update_started_at: Some(Time(now)),
        update_ended_at: (!rolls).then_some(Time(now)),
        currently_updating: open.map(|it| since(it, now)).unwrap_or_default(),
        // Another change in the middle: what serves less since the first one began still does.
        available_at_start: open.map_or(0, |it| it.available_at_start).max(available),
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
            Pace::Rolling => {
                if was_paused(set) {
                    progress.currently_updating = since(&progress, now);
                }
                turn(&mut progress, replicas, now);
            }
        }
    }
    progress.updated_pod_cliques_count = totals.updated_cliques;
    progress.total_pod_cliques_count = totals.cliques;
    progress.updated_pod_clique_scaling_groups_count = totals.updated_groups;
    progress.total_pod_clique_scaling_groups_count = totals.groups;
    Some(progress)
}

/// Whose turn it is, from now on: the time before is not held against what begins now.
fn since(progress: &PodCliqueSetUpdateProgress, now: Timestamp) -> Vec<ReplicaUpdateProgress> {
    let turn = |it: &ReplicaUpdateProgress| ReplicaUpdateProgress {
        update_started_at: Some(Time(now)),
        ..it.clone()
    };
    progress.currently_updating.iter().map(turn).collect()
}

/// Whether the last that was said of the update is that it is paused.
fn was_paused(set: &PodCliqueSet) -> bool {
    let said = set.status.iter().flat_map(|it| &it.conditions);
    said.filter(|it| it.type_ == update_in_progress::TYPE).any(|it| it.reason == update_in_progress::PAUSED)
}

fn end(progress: &mut PodCliqueSetUpdateProgress, now: Timestamp) {
    progress.update_ended_at = Some(Time(now));
    progress.currently_updating.clear();
}

/// How an update goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The replica that has its turn is not done.
    Stays,
    /// Too few are available to take one more away.
    Waits,
    /// This replica has its turn.
    Turn(i32),
    /// Nothing is left to do.
    Ends,
}

/// The turn goes to the next replica when the one that has it is done: an unavailable one, which has nothing to lose, then
/// by index, each when as many are available as when it began. So those that were updated before are looked at again. One
/// that has nothing of another template needs no turn.
fn next(progress: &PodCliqueSetUpdateProgress, replicas: &[SetReplica]) -> Next {
    let is_done = |it: &SetReplica| !it.is_outdated && it.is_converged && it.is_available;
    if progress.currently_updating.first().and_then(|it| seen(replicas, it)).is_some_and(|it| !is_done(it)) {
        return Next::Stays;
    }
    let available = replicas.iter().filter(|it| it.is_available).count();
    let is_enough = available >= awaited(progress, replicas);
    let outdated = replicas.iter().zip(0..).filter(|(it, _)| it.is_outdated);
    match outdated.min_by_key(|(it, index)| (it.is_available, *index)) {
        None => Next::Ends,
        Some((it, _)) if it.is_available && !is_enough => Next::Waits,
        Some((_, index)) => Next::Turn(index),
    }
}

fn seen<'a>(replicas: &'a [SetReplica], turn: &ReplicaUpdateProgress) -> Option<&'a SetReplica> {
    replicas.get(usize::try_from(turn.replica_index).ok()?)
}

fn awaited(progress: &PodCliqueSetUpdateProgress, replicas: &[SetReplica]) -> usize {
    (count(progress.available_at_start) as usize).min(replicas.len())
}

/// How many replicas have to be available before the next one has its turn, where too few are.
pub fn awaited_replicas(progress: &PodCliqueSetUpdateProgress, replicas: &[SetReplica]) -> Option<usize> {
    (next(progress, replicas) == Next::Waits).then(|| awaited(progress, replicas))
}

fn turn(progress: &mut PodCliqueSetUpdateProgress, replicas: &[SetReplica], now: Timestamp) {
    match next(progress, replicas) {
        Next::Stays => {}
        // The one that had its turn keeps it, as far as it is there.
        Next::Waits => progress.currently_updating.retain(|it| seen(replicas, it).is_some()),
        Next::Ends => end(progress, now),
        Next::Turn(replica_index) => {
            let turn = ReplicaUpdateProgress {
                replica_index,
                update_started_at: Some(Time(now)),
                update_ended_at: None,
            };
            progress.currently_updating = vec![turn];
        }
    }
}
