//! Status of a PodCliqueSet: counters, and conditions that say in words what is awaited.

use grove_api::{
    constants::conditions as names,
    ignored, names as objects,
    wire::{LastError, PodCliqueScalingGroup, PodCliqueSet, PodCliqueSetStatus, PodGang, ScalingGroupConfig},
};

use super::{
    CliqueState,
    conditions::{Now, put, remove},
    generation,
    group::ReplicaTally,
    state::SetState,
    summary::{Counts, Summary},
    topology,
    update::{self, UpdateSeen},
};
use crate::{
    allotment::Allotment,
    layout::{self, count, set_name, wire_count},
    objects::set_selector,
    restart_policy::{self, Rules},
    rollout::SetReplica,
};

/// Gangs that the status lists; of more, the ones that need attention.
pub const MAX_GANGS: usize = 100;

/// What is reported on.
#[derive(Clone, Debug)]
pub struct SetReport<'a> {
    /// The set and its children.
    pub state: SetState<'a>,
    /// Its gangs.
    pub gangs: Vec<&'a PodGang>,
    /// What its scheduler passes over, in sentences; `None` where nobody knows, and then what was said stands.
    pub passed_over: Option<Vec<String>>,
    /// What its update waits for.
    pub update: UpdateSeen,
    /// What may be created of it.
    pub allotment: Allotment,
    /// What went wrong with its children.
    pub errors: Vec<LastError>,
    /// Generation whose children were created, changed and deleted.
    pub acted: Option<i64>,
}

/// The status.
pub fn set(report: &SetReport<'_>) -> PodCliqueSetStatus {
    let set = report.state.set;
    let mut status = set.status.clone().unwrap_or_default();
    let replicas = Replicas::of(report);
    status.observed_generation =
        generation::observed(set.metadata.generation, report.acted, status.observed_generation);
    status.replicas = set.spec.replicas;
    status.available_replicas = wire_count(replicas.available);
    status.updated_replicas = wire_count(replicas.updated);
    status.hpa_pod_selector = Some(set_selector(set_name(set)));
    status.current_generation_hash = Some(report.state.generation_hash.clone());
    status.last_errors.clone_from(&report.errors);
    let refusal =
        report.state.cliques.values().find_map(|it| it.refusal.as_ref().map(|refusal| (it, refusal)));
    status.last_errors.extend(refusal.map(|(_, it)| super::clique::refused(it)));

    status.update_progress = update::progress(report, &replicas.seen);
    status.restart_policy = restart_policy::in_force(set, status.update_progress.as_ref(), report.state.now);

    let mut gangs: Vec<Summary<'_>> = report.gangs.iter().map(|it| Summary::of(it)).collect();
    gangs.sort_by_key(Summary::rank);
    let counts = Counts::of(&gangs);
    status.pod_gang_statuses = gangs.into_iter().take(MAX_GANGS).map(Summary::into_wire).collect();

    let (generation, now) = (set.metadata.generation, report.state.now);
    let mut conditions = std::mem::take(&mut status.conditions);
    put(&mut conditions, available(&replicas, count(set.spec.replicas)), generation, now);
    put(&mut conditions, progressing(report, status.observed_generation, &counts), generation, now);
    match refusal {
        None => remove(&mut conditions, names::REPLICA_FAILURE),
        Some((clique, refusal)) => {
            let name = clique.clique.metadata.name.as_deref().unwrap_or_default();
            let message = format!("{name}: {}", refusal.message);
            let reason = names::FAILED_CREATE;
            let failure = Now { type_: names::REPLICA_FAILURE, status: Some(true), reason, message };
            put(&mut conditions, failure, generation, now);
        }
    }
    match topology::condition(set, report.state.topology) {
        None => remove(&mut conditions, names::topology_levels_unavailable::TYPE),
        Some(condition) => put(&mut conditions, condition, generation, now),
    }
    match report.passed_over.as_deref() {
        None => {}
        Some([]) => remove(&mut conditions, names::SCHEDULER_CAPABILITY_GAP),
        Some(sentences) => {
            let message = sentences.join(" ");
            let reason = names::FEATURES_PASSED_OVER;
            let gap = Now { type_: names::SCHEDULER_CAPABILITY_GAP, status: Some(true), reason, message };
            put(&mut conditions, gap, generation, now);
        }
    }
    match ignored(set) {
        None => remove(&mut conditions, names::SETTINGS_IGNORED),
        Some(condition) => put(&mut conditions, condition, generation, now),
    }
    match report.allotment.message(set) {
        None => remove(&mut conditions, names::size_limit_exceeded::TYPE),
        Some(message) => put(&mut conditions, too_large(message), generation, now),
    }
    match exhausted(report) {
        None => remove(&mut conditions, names::RESTART_BUDGET_EXHAUSTED),
        Some(message) => put(&mut conditions, super::clique::exhausted(message), generation, now),
    }
    for condition in update::conditions(report, status.update_progress.as_ref(), &replicas, &conditions) {
        put(&mut conditions, condition, generation, now);
    }
    status.conditions = conditions;
    status
}

/// Set replicas, counted; and the first that is not available, in words.
pub(super) struct Replicas {
    pub(super) available: usize,
    updated: usize,
    pub(super) missing: Option<String>,
    /// By index.
    pub(super) seen: Vec<SetReplica>,
}

impl Replicas {
    fn of(report: &SetReport<'_>) -> Self {
        let mut replicas = Self { available: 0, updated: 0, missing: None, seen: Vec::new() };
        for replica in 0..count(report.state.set.spec.replicas) {
            let missing = short_of(report, replica);
            let seen = SetReplica {
                is_outdated: update::is_outdated(report, replica),
                is_converged: is_updated(report, replica),
                is_available: missing.is_none(),
            };
            replicas.available += usize::from(seen.is_available);
            replicas.updated += usize::from(seen.is_available && seen.is_converged);
            replicas.seen.push(seen);
            replicas.missing = replicas.missing.or(missing);
        }
        replicas
    }
}

/// What a set replica lacks to be available.
fn short_of(report: &SetReport<'_>, replica: u32) -> Option<String> {
    let set = report.state.set;
    for clique in layout::standalone(set, replica) {
        match report.state.cliques.get(clique.name.as_str()).filter(|it| it.is_present()) {
            None => return Some(format!("PodClique {} does not exist", clique.name)),
            Some(state) if !state.is_available() => {
                let (ready, minimum) = (state.tally.ready, state.minimum());
                return Some(format!("{}: {ready} pods ready, at least {minimum} needed", clique.name));
            }
            Some(_) => {}
        }
    }
    for config in &set.spec.template.scaling_groups {
        let name = objects::scaling_group(set_name(set), replica, &config.name);
        let Some(group) = report.state.group(&name) else {
            return Some(format!("PodCliqueScalingGroup {name} does not exist"));
        };
        let minimum = layout::required_replicas(group);
        let available = tally(report, replica, config, group).available;
        if available < minimum {
            return Some(format!("{name}: {available} replicas available, at least {minimum} needed"));
        }
    }
    None
}

fn tally(
    report: &SetReport<'_>,
    replica: u32,
    config: &ScalingGroupConfig,
    group: &PodCliqueScalingGroup,
) -> ReplicaTally {
    ReplicaTally::of(&report.state.members(replica, config, group), &report.state.generation_hash)
}

fn is_updated(report: &SetReport<'_>, replica: u32) -> bool {
    let hash = report.state.generation_hash.as_str();
    let set = report.state.set;
    let cliques = layout::standalone(set, replica)
        .all(|it| report.state.cliques.get(it.name.as_str()).is_some_and(|it| it.is_converged(hash)));
    let groups = set.spec.template.scaling_groups.iter().all(|config| {
        let name = objects::scaling_group(set_name(set), replica, &config.name);
        let status = report.state.group(&name).and_then(|it| it.status.as_ref());
        status.is_some_and(|it| it.current_pod_clique_set_generation_hash.as_deref() == Some(hash))
    });
    cliques && groups
}

fn available(replicas: &Replicas, wanted: u32) -> Now<'static> {
    let type_ = names::available::TYPE;
    match &replicas.missing {
        None => {
            let message = format!("{wanted} of {wanted} replicas are available");
            Now { type_, status: Some(true), reason: names::available::ALL, message }
        }
        Some(missing) => {
            let message = format!("{} of {wanted} replicas are available; {missing}", replicas.available);
            Now { type_, status: Some(false), reason: names::available::NOT_ALL, message }
        }
    }
}

/// It asks for more than it may have.
fn too_large(message: String) -> Now<'static> {
    use names::size_limit_exceeded::{NOT_ALL_CREATED, TYPE};
    Now { type_: TYPE, status: Some(true), reason: NOT_ALL_CREATED, message }
}

/// The fields that have no effect.
fn ignored(set: &PodCliqueSet) -> Option<Now<'static>> {
    let found: Vec<String> = ignored::in_set(set).iter().map(ToString::to_string).collect();
    let (type_, reason) = (names::SETTINGS_IGNORED, names::NOT_IMPLEMENTED);
    (!found.is_empty()).then(|| Now { type_, status: Some(true), reason, message: found.join("; ") })
}

/// What the restart policy does not restart any more.
fn exhausted(report: &SetReport<'_>) -> Option<String> {
    let rules = Rules::of(report.state.set, &report.state.generation_hash)?;
    let units = restart_policy::exhausted(&report.state, &rules);
    let (unit, count) = units.first_key_value()?;
    let words = rules.exhausted_words(unit, count);
    Some(match units.len() {
        1 => words,
        all => format!("{words}; and {} more", all - 1),
    })
}

fn progressing(report: &SetReport<'_>, observed: Option<i64>, counts: &Counts) -> Now<'static> {
    use names::progressing as reasons;
    let cliques = report.state.cliques.values();
    let (mut wanted, mut live, mut ready) = (0, 0, 0);
    for state in cliques.filter(|it| it.is_present()) {
        wanted += state.clique.spec.replicas.map_or(0, count);
        live += state.tally.live;
        ready += state.tally.ready;
    }
    let acted = observed == report.state.set.metadata.generation;
    let (status, reason) = if !report.errors.is_empty() {
        (true, reasons::RETRYING)
    } else if !acted || live != wanted || ready < wanted || !all_exist(report) {
        (true, reasons::AWAITING_PODS)
    } else {
        (false, reasons::COMPLETE)
    };
    let message = format!("{ready} of {wanted} pods are ready; gangs: {}", counts.words());
    Now { type_: reasons::TYPE, status: Some(status), reason, message }
}

/// Whether every clique that the set wants is there, also in replicas of groups beyond their minimum: what nobody has
/// made yet has no pods that could be missing.
fn all_exist(report: &SetReport<'_>) -> bool {
    let set = report.state.set;
    let is_there = |it: layout::Clique<'_>| {
        report.state.cliques.get(it.name.as_str()).is_some_and(CliqueState::is_present)
    };
    let members_of = |replica: u32, config: &ScalingGroupConfig| {
        let name = objects::scaling_group(set_name(set), replica, &config.name);
        report.state.group(&name).is_some_and(|group| {
            let mut replicas = 0..count(group.spec.replicas);
            replicas.all(|it| layout::members(set, replica, config, it).all(is_there))
        })
    };
    (0..count(set.spec.replicas)).all(|replica| {
        let groups = &set.spec.template.scaling_groups;
        layout::standalone(set, replica).all(is_there) && groups.iter().all(|it| members_of(replica, it))
    })
}

#[cfg(test)]
mod tests;
