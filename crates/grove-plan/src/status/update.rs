//! What a set says of an update of its pods.

use std::{collections::BTreeSet, time::Duration};

use grove_api::{
    constants::conditions as names,
    names as objects,
    wire::{Condition, PodCliqueSetUpdateProgress},
};
use k8s_openapi::jiff::Timestamp;

use super::{SetReport, conditions::Now, set::Replicas};
use crate::{
    layout::{self, count, set_name},
    rollout::{self, Pace, SetReplica, Totals, is_open},
};

/// How long an update may go without progress before it says that it is stuck.
const DEADLINE: Duration = Duration::from_mins(10);

/// What was seen of an update, mostly of the set replica that has its turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateSeen {
    /// When the last of its pods of the new template got ready.
    pub moved: Option<Timestamp>,
    /// What it waits for.
    pub waits_for: Option<String>,
    /// A PodClique whose new pods the API server refuses in a dry run, and why: nothing of it is replaced.
    pub refused: Option<String>,
    /// Where the template changed while updates are paused: the clique templates of which nobody knows what is in force.
    pub held: Option<BTreeSet<String>>,
}

/// The progress of the update, as it is now.
pub(super) fn progress(
    report: &SetReport<'_>,
    replicas: &[SetReplica],
) -> Option<PodCliqueSetUpdateProgress> {
    rollout::progress(report.state.set, replicas, totals(report), report.state.now)
}

/// Whether a clique of a set replica, or a pod of it, is of another template.
pub(super) fn is_outdated(report: &SetReport<'_>, replica: u32) -> bool {
    let (set, hash) = (report.state.set, report.state.generation_hash.as_str());
    let is_outdated = |name: &str| report.state.cliques.get(name).is_some_and(|it| it.is_outdated(hash));
    let members = set.spec.template.scaling_groups.iter().flat_map(|config| {
        let name = objects::scaling_group(set_name(set), replica, &config.name);
        let replicas = report.state.group(&name).map_or(0, |it| count(it.spec.replicas));
        (0..replicas).flat_map(move |it| layout::members(set, replica, config, it))
    });
    layout::standalone(set, replica).chain(members).any(|it| is_outdated(&it.name))
}

fn totals(report: &SetReport<'_>) -> Totals {
    let (set, hash) = (report.state.set, report.state.generation_hash.as_str());
    let mut totals = Totals::default();
    for replica in 0..count(set.spec.replicas) {
        for clique in layout::standalone(set, replica) {
            let is_updated =
                report.state.cliques.get(clique.name.as_str()).is_some_and(|it| it.is_converged(hash));
            totals.cliques += 1;
            totals.updated_cliques += i32::from(is_updated);
        }
        for config in &set.spec.template.scaling_groups {
            let name = objects::scaling_group(set_name(set), replica, &config.name);
            let status = report.state.group(&name).and_then(|it| it.status.as_ref());
            let known = status.and_then(|it| it.current_pod_clique_set_generation_hash.as_deref());
            totals.groups += 1;
            totals.updated_groups += i32::from(known == Some(hash));
        }
    }
    totals
}

/// When an update that does not move counts as stuck; `None` where none is under way.
pub fn deadline(report: &SetReport<'_>, progress: Option<&PodCliqueSetUpdateProgress>) -> Option<Timestamp> {
    let progress =
        progress.filter(|it| is_open(Some(it)) && rollout::pace(report.state.set) == Pace::Rolling)?;
    let began = progress.currently_updating.first().and_then(|it| it.update_started_at.as_ref());
    let began = began.or(progress.update_started_at.as_ref())?.0;
    let strategy = report.state.set.spec.update_strategy.as_ref();
    let deadline = strategy.and_then(|it| it.progress_deadline.as_ref()).and_then(|it| it.nanos().ok());
    let deadline = deadline.and_then(|it| u64::try_from(it).ok()).map_or(DEADLINE, Duration::from_nanos);
    began.max(report.update.moved.unwrap_or(began)).checked_add(deadline).ok()
}

/// Conditions that speak of updates. Before the first one there are none.
pub(super) fn conditions(
    report: &SetReport<'_>,
    progress: Option<&PodCliqueSetUpdateProgress>,
    replicas: &Replicas,
    before: &[Condition],
) -> Vec<Now<'static>> {
    let mut all = Vec::new();
    let (live, old) = counted(report);
    let pace = rollout::pace(report.state.set);
    let held = report.update.held.as_ref().filter(|_| pace == Pace::Paused);
    match (pace, old) {
        _ if held.is_some() => all.extend(held.map(held_back)),
        (Pace::OnDelete | Pace::Paused, 1..) => {
            let message =
                format!("{old} of {live} pods have an older template and keep it until they are deleted");
            all.push(now(names::update_pending::TYPE, true, names::update_pending::OLD_PODS_KEPT, message));
        }
        _ if before.iter().any(|it| it.type_ == names::update_pending::TYPE) => {
            let (reason, message) = match old {
                0 => (names::update_pending::ALL_CURRENT, "all pods have the current template"),
                _ => (names::update_pending::REPLACED, "pods with an older template are being replaced"),
            };
            all.push(now(names::update_pending::TYPE, false, reason, message.to_owned()));
        }
        _ => {}
    }
    all.extend(progress.map(|it| in_progress(report, it, replicas, live, old)));
    all
}

/// A changed template waits. Where nobody knows the template in force, new pods wait too, instead of getting the new one.
fn held_back(unknown: &BTreeSet<String>) -> Now<'static> {
    use names::update_pending as reasons;
    let mut message =
        "the template changed while updates are paused; pods get it after spec.updateStrategy.paused is set to false".to_owned();
    if unknown.is_empty() {
        return now(reasons::TYPE, true, reasons::PAUSED, message);
    }
    let roles: Vec<&str> = unknown.iter().map(String::as_str).collect();
    message = format!(
        "{message}. No PodClique is created from {}: the template in use is in no ControllerRevision (over 1 MiB, or \
         deleted) and no PodClique has it. Set paused to false to use the new template, or set the old one back",
        roles.join(", ")
    );
    now(reasons::TYPE, true, reasons::TEMPLATE_UNKNOWN, message)
}

fn in_progress(
    report: &SetReport<'_>,
    progress: &PodCliqueSetUpdateProgress,
    replicas: &Replicas,
    live: u32,
    old: u32,
) -> Now<'static> {
    use names::update_in_progress as reasons;
    let updated = live - old;
    if !is_open(Some(progress)) {
        let message = match old {
            0 => format!("{updated} of {live} pods have the current template"),
            _ => format!("{old} of {live} pods have an older template and are replaced when deleted"),
        };
        return now(reasons::TYPE, false, reasons::ENDED, message);
    }
    let mut message = format!("{updated} of {live} pods have the current template");
    if rollout::pace(report.state.set) == Pace::Paused {
        return now(reasons::TYPE, true, reasons::PAUSED, message);
    }
    if let Some(wanted) = rollout::awaited_replicas(progress, &replicas.seen) {
        let (available, missing) = (replicas.available, replicas.missing.as_deref().unwrap_or_default());
        message = format!(
            "{message}; the next replica waits until {wanted} replicas are available, as before the update; {available} available: {missing}"
        );
    } else if let Some(turn) = progress.currently_updating.first() {
        message = format!("{message}; updating replica {}", turn.replica_index);
    }
    let refused = report.update.refused.as_ref();
    if let Some(refused) = refused {
        message = format!(
            "{message}. No pod is deleted for it: the API server refuses the new pods of {refused}. Change the template, \
             or what refuses it"
        );
    } else if let Some(waits_for) = &report.update.waits_for {
        message = format!("{message}, waiting for {waits_for}");
    }
    let is_late = deadline(report, Some(progress)).is_some_and(|it| it <= report.state.now);
    let reason = match refused {
        _ if is_late => reasons::DEADLINE_EXCEEDED,
        Some(_) => reasons::TEMPLATE_REFUSED,
        None => reasons::REPLACING,
    };
    now(reasons::TYPE, true, reason, message)
}

fn now(type_: &'static str, status: bool, reason: &'static str, message: String) -> Now<'static> {
    Now { type_, status: Some(status), reason, message }
}

/// Pods, and those of an older template. Cliques that the template has not reached yet are older as a whole.
fn counted(report: &SetReport<'_>) -> (u32, u32) {
    let hash = report.state.generation_hash.as_str();
    report.state.cliques.values().filter(|it| it.is_present()).fold((0, 0), |(live, old), state| {
        let (behind, there) = (state.behind(), state.tally.live + state.tally.fallen_old);
        let older = if behind == 0 && state.is_outdated(hash) { there } else { behind };
        (live + there, old + older)
    })
}
