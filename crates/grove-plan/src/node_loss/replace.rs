//! Units that are placed anew because their domain no longer fits: a node of it is lost, what replaces its pods finds no
//! place, and it may not be anywhere else than with the others. Then the others move too.
//!
//! Once for each loss: the note of the restart keeps its cliques quiet until their minimum is bound, and with that the
//! loss is over.

use grove_api::{
    constants::{conditions::node_lost, restarts},
    names,
    wire::{GangTermination, ScalingGroupConfig},
};
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::{
    layout::{self, count, set_name},
    restart::{self, Restart, Unit},
    rollout,
    status::{CliqueState, SetState, TopologySeen, find},
    termination::TerminationPlan,
    topology::Placement,
};

/// A unit that waits in vain.
struct Waiting {
    unit: Unit,
    since: Timestamp,
    /// What is said of the loss.
    words: String,
}

/// Decides. `after` is how long pods may be without a place.
pub fn plan(observed: &SetState<'_>, after: SignedDuration) -> TerminationPlan {
    let mut plan = TerminationPlan::default();
    let set = observed.set;
    let progress = set.status.as_ref().and_then(|it| it.update_progress.as_ref());
    let never = set.spec.template.gang_termination == Some(GangTermination::Disabled);
    if never || rollout::is_open(progress) {
        return plan;
    }
    // A level that the topology does not have, nobody asks for.
    let TopologySeen::On(Some(topology)) = observed.topology else { return plan };
    let Some(placement) = Placement::of(set, topology) else { return plan };
    for replica in 0..count(set.spec.replicas) {
        let mut waiting = waiting(observed, &placement, replica);
        // The largest first: with a set replica its parts are placed anew too.
        waiting.sort_by(|one, other| (&one.unit, one.since).cmp(&(&other.unit, other.since)));
        let mut done: Vec<Unit> = Vec::new();
        for Waiting { unit, since, words } in waiting {
            let covered = done.iter().any(|it| *it == unit || matches!(it, Unit::SetReplica(_)));
            if !covered && plan.is_due(observed, since, after) {
                let words = format!("{words}, and what replaces them found no place for {after:#}");
                let reason = restarts::NODE_LOST;
                plan.restarts.push(Restart::begin(
                    &observed.cliques,
                    unit.clone(),
                    reason,
                    words,
                    observed.now,
                ));
                done.push(unit);
            }
        }
    }
    plan
}

/// The units of a set replica that wait, as gang termination would choose them; but a constraint of the whole set holds its
/// base gang together, and then no part of that moves alone.
fn waiting(observed: &SetState<'_>, placement: &Placement<'_>, replica: u32) -> Vec<Waiting> {
    let set = observed.set;
    let mut all = Vec::new();
    for clique in layout::standalone(set, replica) {
        // What is about to be made comes before what is about to be restarted.
        let Some(state) = observed.cliques.get(clique.name.as_str()).filter(|it| it.is_present()) else {
            return Vec::new();
        };
        if placement.binds(&clique.template.name) {
            all.extend(since(state).map(|(since, words)| Waiting {
                unit: Unit::SetReplica(replica),
                since,
                words,
            }));
        }
    }
    for config in &set.spec.template.scaling_groups {
        all.extend(waiting_members(observed, placement, replica, config));
    }
    all
}

fn waiting_members(
    observed: &SetState<'_>,
    placement: &Placement<'_>,
    replica: u32,
    config: &ScalingGroupConfig,
) -> Vec<Waiting> {
    let set = observed.set;
    let name = names::scaling_group(set_name(set), replica, &config.name);
    let Some(group) = observed.group(&name) else { return Vec::new() };
    let members = observed.members(replica, config, group);
    let is_down = |it: &&Vec<Option<CliqueState<'_>>>| {
        it.iter().any(|it| it.as_ref().is_none_or(|it| !it.is_scheduled()))
    };
    let down = members.values().filter(is_down).count();
    let minimum = layout::required_replicas(group);
    let enough = members.len() - down >= minimum;
    let whole = placement.binds_whole();
    let mut all = Vec::new();
    for (group_replica, states) in &members {
        let templates = layout::members(set, replica, config, *group_replica);
        for (state, wanted) in states.iter().zip(templates) {
            let Some(state) = state else { continue };
            if !placement.binds(&wanted.template.name) {
                continue;
            }
            let unit = if enough && !(whole && wanted.gang.base.is_none()) {
                Unit::GroupReplica(name.clone(), *group_replica)
            } else {
                Unit::SetReplica(replica)
            };
            all.extend(since(state).map(|(since, words)| Waiting { unit, since, words }));
        }
    }
    all
}

/// Since when pods of a clique wait for a place that others lost with their nodes, and what is said of that. Not where it
/// was restarted and has not had its minimum bound since.
fn since(state: &CliqueState<'_>) -> Option<(Timestamp, String)> {
    let status = state.clique.status.as_ref()?;
    let lost = find(&status.conditions, node_lost::TYPE).filter(|it| it.status == "True")?;
    let tally = state.tally;
    // Those that are held back do not wait for a place yet, and those that do not exist would not get one.
    let waiting = tally.live.saturating_sub(tally.scheduled).saturating_sub(tally.gated);
    if !state.is_present() || restart::is_open(state) || state.is_scheduled() || waiting == 0 {
        return None;
    }
    let newest = tally.created.map(|(_, last)| last);
    Some((newest.into_iter().chain([lost.last_transition_time.0]).max()?, lost.message.clone()))
}

#[cfg(test)]
mod tests;
