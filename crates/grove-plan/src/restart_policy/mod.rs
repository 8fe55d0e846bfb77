//! Restart policies: a unit of which a container failed is restarted as a whole, so often and so fast as its policy
//! allows.
//!
//! A pod that failed asks for one restart, whatever else fails with it: the restart replaces it. How often there was one is
//! noted on the cliques of the unit together with the restart itself, so that nobody who dies in between forgets it.

mod force;
mod pods;
mod rules;

use std::collections::BTreeMap;

use grove_api::{
    constants::{labels, restarts},
    wire::{PodCliqueSet, PodCliqueStatus, RestartCount, RestartScope},
};
use k8s_openapi::jiff::Timestamp;

pub(crate) use self::force::in_force;
pub use self::{
    pods::{FailedPods, failed_pods},
    rules::{Rules, Ruling, reset},
};
use crate::{
    facts::index_label,
    layout,
    restart::{self, Restart, Unit},
    rollout,
    status::{CliqueState, SetState},
};

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyPlan {
    /// What is restarted now.
    pub restarts: Vec<Restart>,
    /// What is not restarted any more.
    pub exhausted: Vec<Exhausted>,
    /// When the next restart would be, if nothing changes.
    pub next: Option<Timestamp>,
}

/// A unit that failed once too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The unit.
    pub unit: Unit,
    /// How often it was restarted.
    pub count: RestartCount,
    /// That in words.
    pub words: String,
    /// Cliques that do not say so yet.
    pub cliques: Vec<String>,
}

impl Exhausted {
    /// The status of a clique with the note.
    pub fn noted(&self, status: Option<&PodCliqueStatus>) -> PodCliqueStatus {
        let status = status.cloned().unwrap_or_default();
        PodCliqueStatus { restarts: Some(self.count.clone()), ..status }
    }
}

/// A clique of a unit, by name.
type Member<'r, 'a> = (&'r str, &'r CliqueState<'a>);

/// Decides. Pods that are replaced one by one are the business of their clique: [`failed_pods`].
pub fn plan(observed: &SetState<'_>) -> PolicyPlan {
    let mut plan = PolicyPlan::default();
    let Some(rules) = Rules::of(observed.set, &observed.generation_hash) else { return plan };
    if rules.scope == RestartScope::Pod {
        return plan;
    }
    for (unit, members) in units(observed, rules.scope) {
        let noted = noted(&rules, &members);
        if let Some(count) = noted.filter(|it| rules.is_exhausted(it)) {
            plan.exhaust(&rules, unit, &members, count);
        } else if is_due(observed.set, noted, &members) {
            match rules.on_failure(noted, observed.now) {
                Ruling::Restart(count) => {
                    let (reason, words) = (restarts::RESTART_POLICY, rules.words(&count));
                    let restart = Restart::begin(&observed.cliques, unit, reason, words, observed.now);
                    plan.restarts.push(restart.counted(count));
                }
                Ruling::Wait(until) => plan.next = Some(plan.next.map_or(until, |it| it.min(until))),
                Ruling::Exhausted(count) => plan.exhaust(&rules, unit, &members, &count),
                Ruling::Over => {}
            }
        }
    }
    plan
}

impl PolicyPlan {
    fn exhaust(&mut self, rules: &Rules<'_>, unit: Unit, members: &[Member<'_, '_>], count: &RestartCount) {
        let says_so = |it: &Member<'_, '_>| restart::count(it.1) == Some(count);
        let cliques: Vec<String> =
            members.iter().filter(|it| !says_so(it)).map(|it| it.0.to_owned()).collect();
        if !cliques.is_empty() {
            let words = rules.exhausted_words(&unit, count);
            self.exhausted.push(Exhausted { unit, count: count.clone(), words, cliques });
        }
    }
}

/// What is restarted together, as far as it is wanted and no update replaces pods in it.
fn units<'r, 'a>(observed: &'r SetState<'a>, scope: RestartScope) -> BTreeMap<Unit, Vec<Member<'r, 'a>>> {
    let mut units: BTreeMap<Unit, Vec<Member<'r, 'a>>> = BTreeMap::new();
    for (name, state) in observed.cliques.iter().filter(|(_, it)| it.is_present()) {
        let replica = index_label(state.clique.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX);
        let is_wanted = replica.is_some_and(|it| it < layout::count(observed.set.spec.replicas));
        if is_wanted
            && rollout::turn(observed.set) != replica
            && let Some(unit) = Unit::of(state.clique, scope)
        {
            units.entry(unit).or_default().push((*name, state));
        }
    }
    units
}

/// The count of a unit. Where its notes differ, somebody did not finish: the later one is right.
fn noted<'a>(rules: &Rules<'_>, members: &[Member<'_, 'a>]) -> Option<&'a RestartCount> {
    let counts = members.iter().filter_map(|(_, it)| restart::count(it)).filter(|it| rules.counts(it));
    counts.max_by_key(|it| (it.window_start.0, it.count, it.exhausted_at.is_some()))
}

/// Whether a pod failed that no restart has to do with, and the last restart of its clique is over. Other cliques of the
/// unit may be without a place for long, or for ever: those that were scaled out, say.
///
/// A pod that is ready again counts where it failed since the policy is in force. Where the policy has restarted the unit
/// already, it is.
fn is_due(set: &PodCliqueSet, noted: Option<&RestartCount>, members: &[Member<'_, '_>]) -> bool {
    let has_failed = |state: &CliqueState<'_>| {
        let before = restart::note(state).map(|it| it.before.0);
        let is_new = |created| before.is_none_or(|before| created >= before);
        let counts = |failed_at| noted.is_some() || force::counts(set, state.clique, failed_at);
        let healed = state.tally.healed;
        state.tally.failed.is_some_and(is_new)
            || healed.is_some_and(|(failed_at, created)| is_new(created) && counts(failed_at))
    };
    members.iter().any(|(_, it)| has_failed(it) && !restart::is_open(it))
}

/// The units that are not restarted any more, and how often they were.
pub(crate) fn exhausted<'a>(observed: &SetState<'a>, rules: &Rules<'_>) -> BTreeMap<Unit, &'a RestartCount> {
    let present = observed.cliques.values().filter(|it| it.is_present());
    let noted = present.filter_map(|it| Some((it, restart::count(it).filter(|it| rules.is_exhausted(it))?)));
    noted.filter_map(|(it, count)| Some((Unit::of(it.clique, rules.scope)?, count))).collect()
}

#[cfg(test)]
mod tests;
