//! Since when cliques and groups are below their minimum, as far as that counts.

use grove_api::{
    constants::conditions as names,
    wire::{Condition, PodCliqueScalingGroup},
};
use k8s_openapi::jiff::Timestamp;

use crate::{
    layout::required_replicas,
    restart,
    status::{
        CliqueState, Members, ReplicaTally, SetState, find, group_was_placed, is_healthy, is_terminated,
    },
};

/// Since when a clique is below its minimum, where that may lead to a restart: its conditions say so and its pods still
/// do, it had its place before, and has had it since it was restarted last.
pub(super) fn clique_since(state: &CliqueState<'_>) -> Option<Timestamp> {
    if !state.is_present() || restart::is_open(state) || !state.is_breached() {
        return None;
    }
    let breached = breached_since(state)?;
    if !state.was_placed() {
        return None;
    }
    // It has the whole delay to come up, whenever it got its place.
    let scheduled = state.scheduled_condition().filter(|it| it.status == "True");
    let placed = scheduled.map(|it| it.last_transition_time.0);
    [placed, restart::rescheduled(state)].into_iter().flatten().chain([breached]).max()
}

/// Since when a clique that is below its minimum is: as its status says, or where that could not be written yet, as it was seen.
/// While it is updated nobody says so.
fn breached_since(state: &CliqueState<'_>) -> Option<Timestamp> {
    let conditions = state.clique.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
    let said = find(conditions, names::min_available_breached::TYPE);
    match said.map(|it| it.status.as_str()) {
        Some("Unknown") => None,
        Some("True") => said.map(|it| it.last_transition_time.0),
        _ => state.breached_since,
    }
}

/// Likewise for a group.
///
/// Its status may be of an earlier spec: after a scale-in the replicas that are left may have been down for long, and the group
/// only since then. Then it counts from when that spec was first seen.
pub(super) fn group_since(
    observed: &SetState<'_>,
    group: &PodCliqueScalingGroup,
    members: &Members<'_>,
) -> Option<Timestamp> {
    let minimum = required_replicas(group);
    let conditions = group.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
    let said =
        find(conditions, names::gang_termination_in_progress::TYPE).is_some_and(|it| it.status == "True");
    if is_updating(group) || is_terminated(members, minimum, said) {
        return None;
    }
    if ReplicaTally::of(members, "").healthy >= minimum || !group_was_placed(members, minimum) {
        return None;
    }
    // Its cliques know too: what the group says may be missing, or of an earlier breach, where its status could not be written.
    let of_members = members_breach(members, minimum);
    let mut breached = breach(conditions).max(of_members).filter(|it| *it != UNWRITTEN)?;
    if is_status_outdated(group) {
        let name = group.metadata.name.as_deref().unwrap_or_default();
        breached = breached.max(*observed.groups_changed.get(name)?);
    }
    // What was restarted has the whole delay to come up, and the group as long as enough of those that are down have it.
    let helped = too_few_since(members, minimum, last_chance);
    Some(helped.map_or(breached, |it| it.max(breached)))
}

/// Whether the status of a group is of an earlier spec.
pub fn is_status_outdated(group: &PodCliqueScalingGroup) -> bool {
    let observed = group.status.as_ref().and_then(|it| it.observed_generation);
    observed.is_some_and(|it| group.metadata.generation > Some(it))
}

/// A breach that the pods show and the status does not yet: later than any that is written.
const UNWRITTEN: Timestamp = Timestamp::MAX;

/// Since when so many replicas are below their minimum, as their cliques say, that too few are left.
fn members_breach(members: &Members<'_>, minimum: usize) -> Option<Timestamp> {
    too_few_since(members, minimum, |it| it.iter().filter_map(|it| member_breach(it.as_ref())).min())
}

/// Since when a member of a replica is below its minimum at the earliest, as far as anything says so.
fn member_breach(member: Option<&CliqueState<'_>>) -> Option<Timestamp> {
    // It is made again at once, and had its place until just now for all that is known.
    let Some(state) = member else { return Some(UNWRITTEN) };
    if state.is_present() && !state.is_breached() {
        return None;
    }
    let written = breached_since(state);
    let is_waiting = state.is_present() && !state.was_placed();
    let made = state.clique.metadata.creation_timestamp.as_ref().map(|it| it.0).filter(|_| is_waiting);
    Some(written.or(made).unwrap_or(UNWRITTEN))
}

/// Since when fewer than the minimum of replicas are left, where those that are not healthy are down since `since`.
fn too_few_since(
    members: &Members<'_>,
    minimum: usize,
    since: impl Fn(&[Option<CliqueState<'_>>]) -> Option<Timestamp>,
) -> Option<Timestamp> {
    let mut times: Vec<Option<Timestamp>> =
        members.values().filter(|it| !is_healthy(it)).map(|it| since(it)).collect();
    times.sort_unstable();
    times.get(members.len().saturating_sub(minimum)).copied().flatten()
}

/// When the time begins that a group replica has to come up after its last restart: when it was bound, and when its restart
/// policy may restart it again.
fn last_chance(members: &[Option<CliqueState<'_>>]) -> Option<Timestamp> {
    let next_at = |it| restart::count(it).map(|it| it.next_at.0);
    members.iter().flatten().flat_map(|it| [restart::rescheduled(it), next_at(it)]).flatten().max()
}

/// Whether the clique is missing from its group replica: below its minimum, or restarted and not back.
pub(super) fn is_down(state: &CliqueState<'_>) -> bool {
    restart::is_open(state) || clique_since(state).is_some()
}

/// Whether judgement on a group is suspended.
pub(super) fn is_updating(group: &PodCliqueScalingGroup) -> bool {
    let conditions = group.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
    find(conditions, names::min_available_breached::TYPE).is_some_and(|it| it.status == "Unknown")
}

/// Since when the conditions say that the minimum is breached.
fn breach(conditions: &[Condition]) -> Option<Timestamp> {
    let breached = find(conditions, names::min_available_breached::TYPE)?;
    (breached.status == "True").then_some(breached.last_transition_time.0)
}
