//! Status of a PodCliqueScalingGroup.

use std::collections::BTreeMap;

use grove_api::{
    constants::conditions as names,
    wire::{
        PodCliqueScalingGroup, PodCliqueScalingGroupStatus, ReplicasSelectedToUpdate,
        ScalingGroupUpdateProgress, Time,
    },
};
use k8s_openapi::jiff::Timestamp;

use super::{
    CliqueState,
    conditions::{Now, forget_zero, is_true, put, put_since, remove},
    generation,
};
use crate::{
    layout::{count, required_replicas, wire_count},
    objects::group_selector,
    restart,
    rollout::Pace,
};

/// What is reported on.
#[derive(Clone, Debug)]
pub struct GroupReport<'a> {
    /// The group.
    pub group: &'a PodCliqueScalingGroup,
    /// Its wanted member cliques by replica; `None` is one that does not exist.
    pub replicas: Members<'a>,
    /// Name of the set.
    pub set: &'a str,
    /// Hash of the set's template.
    pub generation_hash: &'a str,
    /// How changes of the template reach it.
    pub pace: Pace,
    /// Whether its set replica has its turn.
    pub has_turn: bool,
    /// Generation whose children were created and deleted.
    pub acted: Option<i64>,
    /// The time.
    pub now: Timestamp,
}

/// Replicas of a group, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplicaTally {
    pub(super) scheduled: usize,
    pub(super) available: usize,
    pub(super) updated: usize,
    pub(crate) healthy: usize,
}

impl ReplicaTally {
    pub(crate) fn of(replicas: &Members<'_>, hash: &str) -> Self {
        let mut tally = Self::default();
        for members in replicas.values() {
            let all = |test: &dyn Fn(&CliqueState<'_>) -> bool| {
                !members.is_empty() && members.iter().all(|it| it.as_ref().is_some_and(test))
            };
            let scheduled = all(&|it| it.is_scheduled());
            let available = scheduled && all(&|it| it.is_available());
            tally.scheduled += usize::from(scheduled);
            tally.available += usize::from(available);
            tally.updated += usize::from(available && all(&|it| it.is_converged(hash)));
            tally.healthy += usize::from(is_healthy(members));
        }
        tally
    }
}

/// Whether a replica has all its members, and none of them is below its minimum.
pub(crate) fn is_healthy(members: &[Option<CliqueState<'_>>]) -> bool {
    let is_well = |it: &CliqueState<'_>| it.is_present() && !it.is_breached();
    !members.is_empty() && members.iter().all(|it| it.as_ref().is_some_and(is_well))
}

/// The status.
pub fn group(report: &GroupReport<'_>) -> PodCliqueScalingGroupStatus {
    let group = report.group;
    let mut status = group.status.clone().unwrap_or_default();
    let tally = ReplicaTally::of(&report.replicas, report.generation_hash);
    let name = group.metadata.name.as_deref().unwrap_or_default();
    let minimum = required_replicas(group);
    status.observed_generation =
        generation::observed(group.metadata.generation, report.acted, status.observed_generation);
    status.replicas = group.spec.replicas;
    status.scheduled_replicas = wire_count(tally.scheduled);
    status.available_replicas = wire_count(tally.available);
    status.updated_replicas = wire_count(tally.updated);
    status.selector = Some(group_selector(report.set, name));
    let is_current =
        report.replicas.values().flatten().all(|it| has_hash(it.as_ref(), report.generation_hash));
    status.update_progress = update_progress(report, is_current, tally.available);
    let updating = status.update_progress.as_ref().is_some_and(|it| it.update_ended_at.is_none());
    if is_current && !updating {
        status.current_pod_clique_set_generation_hash = Some(report.generation_hash.to_owned());
    }
    status.last_errors.clear();
    let members = report.replicas.values().flatten().flatten();
    status
        .last_errors
        .extend(members.filter_map(|it| it.refusal.as_ref()).map(super::clique::refused).take(1));
    if status.observed_generation.is_some() {
        if group.spec.replicas != 0 {
            forget_zero(&mut status.conditions);
        }
        let condition =
            if group.spec.replicas == 0 { zero() } else { breached(tally.healthy, minimum, updating) };
        let is_breached = condition.status == Some(true);
        // A group that never was healthy has not been since it was made.
        let made = group.metadata.creation_timestamp.as_ref().map(|it| it.0);
        let since = made.filter(|_| is_breached && !was_placed(&report.replicas, minimum));
        put_since(&mut status.conditions, condition, since, report.now);
        let was_terminated = is_true(&status.conditions, names::gang_termination_in_progress::TYPE);
        if is_breached && is_terminated(&report.replicas, minimum, was_terminated) {
            put(&mut status.conditions, terminated(), None, report.now);
        } else {
            remove(&mut status.conditions, names::gang_termination_in_progress::TYPE);
        }
    }
    status
}

/// Members of a group by replica.
pub type Members<'a> = BTreeMap<u32, Vec<Option<CliqueState<'a>>>>;

/// Whether so many replicas as are needed have each had the minimum of every clique bound at some time.
pub(crate) fn was_placed(replicas: &Members<'_>, minimum: usize) -> bool {
    let had_place = |it: &&Vec<Option<CliqueState<'_>>>| {
        it.iter().all(|it| it.as_ref().is_some_and(CliqueState::was_placed))
    };
    replicas.values().filter(had_place).count() >= minimum
}

/// Whether too few replicas have been bound since their set replica was terminated; those that came since and had no place
/// yet are not. What another implementation said stands where there are no notes of ours.
pub(crate) fn is_terminated(replicas: &Members<'_>, minimum: usize, said: bool) -> bool {
    let any = |test: fn(&CliqueState<'_>) -> bool| replicas.values().flatten().flatten().any(test);
    let was_bound = |it: &CliqueState<'_>| it.was_placed() && !restart::is_open_with_set(it);
    let is_back = |it: &&Vec<Option<CliqueState<'_>>>| it.iter().all(|it| it.as_ref().is_some_and(was_bound));
    let is_ours = any(|it| it.clique.status.as_ref().is_some_and(|it| it.restart.is_some()));
    let is_open = any(restart::is_open_with_set);
    (is_open && replicas.values().filter(is_back).count() < minimum) || (said && !is_ours)
}

fn terminated() -> Now<'static> {
    use names::gang_termination_in_progress as reasons;
    let message =
        "the set replica was below minAvailable for longer than terminationDelay and is being restarted"
            .to_owned();
    Now { type_: reasons::TYPE, status: Some(true), reason: reasons::ACTIVE, message }
}

fn has_hash(member: Option<&CliqueState<'_>>, hash: &str) -> bool {
    let status = member.filter(|it| it.is_present()).and_then(|it| it.clique.status.as_ref());
    status.is_some_and(|it| it.current_pod_clique_set_generation_hash.as_deref() == Some(hash))
}

/// The progress of an update: it begins with the turn of the group's set replica, and ends when every member is of the
/// current template. Where others delete the pods, it ends where it begins.
fn update_progress(
    report: &GroupReport<'_>,
    is_current: bool,
    available: usize,
) -> Option<ScalingGroupUpdateProgress> {
    let hash = report.generation_hash;
    let members = || report.replicas.values().flatten();
    let before = report.group.status.as_ref().and_then(|it| it.update_progress.clone());
    let is_outdated = members().flatten().any(|it| it.is_outdated(hash));
    let begins = ScalingGroupUpdateProgress {
        update_started_at: Time(report.now),
        update_ended_at: None,
        pod_clique_set_generation_hash: hash.to_owned(),
        updated_pod_cliques_count: 0,
        total_pod_cliques_count: 0,
        available_at_start: wire_count(available),
        ready_replica_indices_selected_to_update: None,
    };
    let rolls = report.pace == Pace::Rolling && report.has_turn;
    let on_delete = report.pace == Pace::OnDelete;
    let is_new = before.as_ref().is_none_or(|it| it.pod_clique_set_generation_hash != hash);
    let is_open = before.as_ref().is_some_and(|it| it.update_ended_at.is_none());
    let mut progress = match before {
        before if is_outdated && (rolls && (is_new || !is_open) || on_delete && is_new) => {
            // Another change in the middle: what serves less since the first one began still does.
            let before = before.filter(|_| is_open).unwrap_or_else(|| begins.clone());
            ScalingGroupUpdateProgress {
                update_started_at: before.update_started_at,
                available_at_start: before.available_at_start.max(begins.available_at_start),
                ..begins
            }
        }
        before => before?,
    };
    let serving = count(progress.available_at_start).min(count(report.group.spec.replicas)) as usize;
    let is_done = is_current && !is_outdated && available >= serving;
    let ends = is_done || !rolls && report.pace != Pace::Paused;
    if progress.update_ended_at.is_none() && ends {
        progress.update_ended_at = Some(Time(report.now));
    }
    let is_open = progress.update_ended_at.is_none();
    progress.updated_pod_cliques_count =
        wire_count(members().filter(|it| has_hash(it.as_ref(), hash)).count());
    progress.total_pod_cliques_count = wire_count(members().count());
    progress.ready_replica_indices_selected_to_update =
        replacing(report).filter(|_| is_open).and_then(|current| {
            Some(ReplicasSelectedToUpdate { current: current.try_into().ok()?, completed: Vec::new() })
        });
    Some(progress)
}

/// The first replica that is not available: the one that is being replaced.
fn replacing(report: &GroupReport<'_>) -> Option<u32> {
    let is_available =
        |members: &[Option<CliqueState<'_>>]| members.iter().flatten().all(CliqueState::is_available);
    report.replicas.iter().find(|(_, members)| !is_available(members)).map(|(index, _)| *index)
}

/// The condition of a group that is scaled to zero.
fn zero() -> Now<'static> {
    let (type_, reason) = (names::min_available_breached::TYPE, names::SCALED_TO_ZERO);
    Now { type_, status: Some(false), reason, message: "scaled to zero: no replicas are needed".to_owned() }
}

fn breached(healthy: usize, minimum: usize, updating: bool) -> Now<'static> {
    use names::min_available_breached as reasons;
    let (status, reason) = if updating {
        (None, reasons::UPDATE_IN_PROGRESS)
    } else if healthy < minimum {
        (Some(true), reasons::INSUFFICIENT_GROUP_REPLICAS)
    } else {
        (Some(false), reasons::SUFFICIENT_GROUP_REPLICAS)
    };
    let message =
        format!("{healthy} replicas have minAvailable pods in every PodClique; at least {minimum} needed");
    Now { type_: reasons::TYPE, status, reason, message }
}

#[cfg(test)]
mod tests;
