//! Status of a PodClique.

use grove_api::{
    constants::{conditions as names, labels},
    wire::{
        LostNode, PodClique, PodCliqueStatus, PodCliqueUpdateProgress, PodsSelectedToUpdate, RestartScope,
        Time,
    },
};
use k8s_openapi::jiff::Timestamp;

use super::{
    behind, breached,
    conditions::{Now, forget_zero, put, put_since, remove},
    generation, keeps_completed, losses, placed,
};
use crate::{
    facts::{Refusal, Tally, label, template_hash},
    layout::{count, spec_minimum, wire_count},
    objects::clique_selector,
    restart_policy::Rules,
    rollout::Pace,
};

/// What is reported on.
#[derive(Clone, Copy, Debug)]
pub struct CliqueReport<'a> {
    /// The clique.
    pub clique: &'a PodClique,
    /// Its pods.
    pub tally: Tally,
    /// Whether its minimum was bound at some time since the operator started. It may have been lost again before that was written.
    pub was_scheduled: bool,
    /// Why the API server refuses more.
    pub refusal: Option<&'a Refusal>,
    /// Name of the set.
    pub set: &'a str,
    /// Hash of the set's template.
    pub generation_hash: &'a str,
    /// Whether the clique is of that template.
    pub is_current: bool,
    /// How changes of the template reach it.
    pub pace: Pace,
    /// Whether its set replica has its turn. Never for members of groups: their pods are the group's business.
    pub has_turn: bool,
    /// A pod of another template that is on its way out.
    pub replacing: Option<&'a str>,
    /// The restart policy of the set.
    pub restarts: Option<Rules<'a>>,
    /// Nodes with pods of it that are lost, or about to be.
    pub lost: &'a [LostNode],
    /// Generation whose pods were created and deleted.
    pub acted: Option<i64>,
    /// The time.
    pub now: Timestamp,
}

/// The status.
pub fn clique(report: &CliqueReport<'_>) -> PodCliqueStatus {
    let clique = report.clique;
    let mut status = clique.status.clone().unwrap_or_default();
    let (tally, now) = (report.tally, report.now);
    let labels = clique.metadata.labels.as_ref();
    let is_zero = clique.spec.replicas == Some(0);
    status.observed_generation =
        generation::observed(clique.metadata.generation, report.acted, status.observed_generation);
    status.replicas = number(tally.live);
    status.ready_replicas = number(tally.ready);
    status.updated_replicas = number(tally.updated);
    status.schedule_gated_replicas = number(tally.gated);
    status.scheduled_replicas = number(tally.scheduled);
    if label(labels, labels::SCALING_GROUP).is_none() {
        let name = clique.metadata.name.as_deref().unwrap_or_default();
        status.hpa_pod_selector = Some(clique_selector(report.set, name));
    }
    status.update_progress = update_progress(report);
    // All pods are of one template, which is the one that is wanted: then the clique is.
    let updating = status.update_progress.as_ref().is_some_and(|it| it.update_ended_at.is_none());
    if report.is_current && !updating && behind(clique, &tally) == 0 {
        status.current_pod_clique_set_generation_hash = Some(report.generation_hash.to_owned());
        status.current_pod_template_hash = label(labels, labels::POD_TEMPLATE_HASH).map(str::to_owned);
    }
    status.last_errors.clear();
    if let Some(refusal) = report.refusal {
        status.last_errors.push(refused(refusal));
    }
    if status.observed_generation.is_some() {
        let minimum = spec_minimum(&clique.spec);
        // A clique that never was has not been since it was made.
        let made = clique.metadata.creation_timestamp.as_ref().map(|it| it.0);
        if !is_zero {
            forget_zero(&mut status.conditions);
        }
        let scheduled = if is_zero { zero(true) } else { scheduled(&tally, minimum) };
        let since = made.filter(|_| scheduled.status == Some(false) && !report.was_scheduled);
        put_since(&mut status.conditions, scheduled, since, now);
        let mut breached =
            if is_zero { zero(false) } else { min_available_breached(&tally, minimum, updating) };
        breached.message.push_str(&waiting(&tally, &clique.spec.starts_after));
        put(&mut status.conditions, breached, None, now);
        note_recovery(&mut status, report, minimum);
    }
    put_restarts(&mut status, report.restarts, now);
    losses::note(&mut status, report.lost, &tally, spec_minimum(&clique.spec), now);
    match report.refusal {
        None => remove(&mut status.conditions, names::REPLICA_FAILURE),
        Some(refusal) => {
            let condition = Now {
                type_: names::REPLICA_FAILURE,
                status: Some(true),
                reason: names::FAILED_CREATE,
                message: refusal.message.clone(),
            };
            put(&mut status.conditions, condition, None, now);
        }
    }
    // What wants no pods has had no place.
    let is_placed = report.was_scheduled || tally.scheduled >= spec_minimum(&clique.spec).max(1);
    placed::record(&mut status, clique.status.as_ref(), &tally, is_placed);
    // Scaled up again, it is like a new one: it has lost nothing while it finds no place.
    status.was_scheduled = status.was_scheduled.map(|it| it && !is_zero);
    status
}

/// The progress of an update: it begins with the clique's turn, and ends when all its pods are there, as far as they are not
/// refused, and of the wanted template, and enough are ready. Where others delete the pods, it ends where it begins.
fn update_progress(report: &CliqueReport<'_>) -> Option<PodCliqueUpdateProgress> {
    let (clique, tally) = (report.clique, report.tally);
    let before = clique.status.as_ref().and_then(|it| it.update_progress.clone());
    let (minimum, wanted) = (spec_minimum(&clique.spec), clique.spec.replicas.map_or(0, count));
    let has_old = behind(clique, &tally) > 0;
    let begins = PodCliqueUpdateProgress {
        update_started_at: Some(Time(report.now)),
        update_ended_at: None,
        pod_clique_set_generation_hash: report.generation_hash.to_owned(),
        pod_template_hash: template_hash(&clique.metadata).to_owned(),
        ready_at_start: number(tally.ready),
        ready_pods_selected_to_update: None,
    };
    let rolls = report.pace == Pace::Rolling && report.has_turn;
    let on_delete = report.pace == Pace::OnDelete;
    let is_new = before.as_ref().is_none_or(|it| it.pod_template_hash != begins.pod_template_hash);
    let is_open = before.as_ref().is_some_and(|it| it.update_ended_at.is_none());
    let mut progress = match before {
        before if has_old && (rolls && (is_new || !is_open) || on_delete && is_new) => {
            // Another change in the middle: what serves less since the first one began still does.
            let before = before.filter(|_| is_open).unwrap_or_else(|| begins.clone());
            PodCliqueUpdateProgress {
                update_started_at: before.update_started_at,
                ready_at_start: before.ready_at_start.max(begins.ready_at_start),
                ..begins
            }
        }
        before => before?,
    };
    // One that has done its work meanwhile serves no more.
    let completed = if keeps_completed(clique) { tally.completed } else { 0 };
    let serving = minimum.max(count(progress.ready_at_start)).min(wanted.saturating_sub(completed));
    // What the API server refuses is not of the old template, and comes when there is room.
    let is_whole = tally.live == wanted || report.refusal.is_some();
    let is_done = !has_old && is_whole && tally.ready >= serving;
    if progress.update_ended_at.is_none() && (is_done || !rolls && report.pace != Pace::Paused) {
        progress.update_ended_at = Some(Time(report.now));
    }
    let is_open = progress.update_ended_at.is_none();
    progress.ready_pods_selected_to_update = report
        .replacing
        .filter(|_| is_open)
        .map(|it| PodsSelectedToUpdate { current: it.to_owned(), completed: Vec::new() });
    Some(progress)
}

/// Forgets restarts that count no more, and says where there will be none.
fn put_restarts(status: &mut PodCliqueStatus, rules: Option<Rules<'_>>, now: Timestamp) {
    let counted = rules.zip(status.restarts.take()).filter(|(rules, count)| rules.counts(count));
    match &counted {
        Some((rules, count)) if rules.is_exhausted(count) => {
            let message = rules.exhausted_words(unit_words(rules.scope), count);
            put(&mut status.conditions, exhausted(message), None, now);
        }
        _ => remove(&mut status.conditions, names::RESTART_BUDGET_EXHAUSTED),
    }
    status.restarts = counted.map(|(_, count)| count);
}

/// What a clique is restarted with.
fn unit_words(scope: RestartScope) -> &'static str {
    match scope {
        RestartScope::Pod => "a pod of this PodClique",
        RestartScope::Clique => "this PodClique",
        RestartScope::GroupReplica => "this replica of the scaling group",
        RestartScope::SetReplica => "this replica of the set",
    }
}

/// Nothing is restarted any more.
pub(super) fn exhausted(message: String) -> Now<'static> {
    let (type_, reason) = (names::RESTART_BUDGET_EXHAUSTED, names::TOO_MANY_RESTARTS);
    Now { type_, status: Some(true), reason, message }
}

/// Notes that the minimum is bound again after a restart, and nothing is left of what was there before. A pod that failed
/// since had its place.
///
/// Where failed pods stay for the restart of their whole unit, and leave no room for the minimum, it is over too: those that
/// are lost beside them are held back, and nothing would ever restart them.
fn note_recovery(status: &mut PodCliqueStatus, report: &CliqueReport<'_>, minimum: u32) {
    let Some(restart) = status.restart.as_mut().filter(|it| it.scheduled_at.is_none()) else { return };
    let tally = report.tally;
    let is_new = tally.created.is_none_or(|(first, _)| first >= restart.before.0);
    let wanted = report.clique.spec.replicas.map_or(0, count);
    let waiting = tally.live.saturating_sub(tally.scheduled).saturating_sub(tally.gated);
    let fallen_stay = report.restarts.is_some_and(|it| it.scope != RestartScope::Pod);
    let is_in_vain =
        fallen_stay && tally.fallen > 0 && waiting == 0 && wanted.saturating_sub(tally.fallen) < minimum;
    if is_new && (tally.placed >= minimum || is_in_vain) {
        restart.scheduled_at = Some(Time(report.now));
    }
}

pub(super) fn refused(refusal: &Refusal) -> grove_api::wire::LastError {
    grove_api::wire::LastError {
        code: "ERR_CREATE_POD".to_owned(),
        description: refusal.message.clone(),
        // Times of objects have whole seconds: with more, what is written would never be what is.
        observed_at: grove_api::wire::Time(whole_seconds(refusal.since)),
    }
}

fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

fn number(count: u32) -> i32 {
    wire_count(count as usize)
}

/// The conditions of a clique that is scaled to zero: it is scheduled, and its minimum is not breached.
fn zero(scheduled: bool) -> Now<'static> {
    let type_ =
        if scheduled { names::pod_clique_scheduled::TYPE } else { names::min_available_breached::TYPE };
    let message = "scaled to zero: no pods are needed".to_owned();
    Now { type_, status: Some(scheduled), reason: names::SCALED_TO_ZERO, message }
}

fn scheduled(tally: &Tally, minimum: u32) -> Now<'static> {
    let enough = tally.scheduled >= minimum;
    Now {
        type_: names::pod_clique_scheduled::TYPE,
        status: Some(enough),
        reason: if enough {
            names::pod_clique_scheduled::SUFFICIENT
        } else {
            names::pod_clique_scheduled::INSUFFICIENT
        },
        message: format!("{} pods scheduled, at least {minimum} needed", tally.scheduled),
    }
}

fn min_available_breached(tally: &Tally, minimum: u32, updating: bool) -> Now<'static> {
    let (status, reason) = if updating {
        (None, names::min_available_breached::UPDATE_IN_PROGRESS)
    } else if tally.scheduled < minimum {
        (Some(true), names::min_available_breached::SCHEDULED_BELOW_MINIMUM)
    } else if breached(tally, minimum) {
        (Some(true), names::min_available_breached::INSUFFICIENT_READY_PODS)
    } else {
        (Some(false), names::min_available_breached::SUFFICIENT_READY_PODS)
    };
    let message = format!(
        "{} scheduled, {} failing, {} running but not ready; at least {minimum} needed",
        tally.scheduled, tally.errored, tally.started
    );
    Now { type_: names::min_available_breached::TYPE, status, reason, message }
}

/// Who is waited for, in words.
fn waiting(tally: &Tally, parents: &[String]) -> String {
    const SHOWN: usize = 3;
    if tally.waiting == 0 || parents.is_empty() {
        return String::new();
    }
    let more = if parents.len() > SHOWN { ", …" } else { "" };
    format!("; {} wait for {}{more}", tally.waiting, parents[..SHOWN.min(parents.len())].join(", "))
}

#[cfg(test)]
mod tests;
