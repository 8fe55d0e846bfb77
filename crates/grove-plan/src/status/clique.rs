//! Status of a PodClique.

use grove_api::{
    constants::{conditions as names, labels},
    wire::{PodClique, PodCliqueStatus},
};
use k8s_openapi::jiff::Timestamp;

use super::{
    breached,
    conditions::{Now, put, remove},
};
use crate::{
    facts::{Refusal, Tally, label},
    layout::{count, wire_count},
    objects::clique_selector,
};

/// What is reported on.
#[derive(Clone, Copy, Debug)]
pub struct CliqueReport<'a> {
    /// The clique.
    pub clique: &'a PodClique,
    /// Its pods.
    pub tally: Tally,
    /// Why the API server refuses more.
    pub refusal: Option<&'a Refusal>,
    /// Name of the set.
    pub set: &'a str,
    /// Hash of the set's template, where the clique is of that template.
    pub generation_hash: Option<&'a str>,
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
    status.observed_generation = report.acted.max(status.observed_generation);
    status.replicas = number(tally.live);
    status.ready_replicas = number(tally.ready);
    status.updated_replicas = number(tally.updated);
    status.schedule_gated_replicas = number(tally.gated);
    status.scheduled_replicas = number(tally.scheduled);
    if label(labels, labels::SCALING_GROUP).is_none() {
        let name = clique.metadata.name.as_deref().unwrap_or_default();
        status.hpa_pod_selector = Some(clique_selector(report.set, name));
    }
    // All pods are of one template, which is the one that is wanted: then the clique is.
    let updating = status.update_progress.as_ref().is_some_and(|it| it.update_ended_at.is_none());
    if let (Some(hash), false, true) = (report.generation_hash, updating, tally.updated == tally.live) {
        status.current_pod_clique_set_generation_hash = Some(hash.to_owned());
        status.current_pod_template_hash = label(labels, labels::POD_TEMPLATE_HASH).map(str::to_owned);
    }
    status.last_errors.clear();
    if let Some(refusal) = report.refusal {
        status.last_errors.push(refused(refusal));
    }
    if status.observed_generation.is_some() {
        let minimum = clique.spec.min_available.or(clique.spec.replicas).map_or(0, count);
        put(&mut status.conditions, scheduled(&tally, minimum), None, now);
        let mut breached = min_available_breached(&tally, minimum, updating);
        breached.message.push_str(&waiting(&tally, &clique.spec.starts_after));
        put(&mut status.conditions, breached, None, now);
    }
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
    status
}

pub(super) fn refused(refusal: &Refusal) -> grove_api::wire::LastError {
    grove_api::wire::LastError {
        code: "ERR_CREATE_POD".to_owned(),
        description: refusal.message.clone(),
        observed_at: grove_api::wire::Time(refusal.since),
    }
}

fn number(count: u32) -> i32 {
    wire_count(count as usize)
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
        message: format!("{} of at least {minimum} pods are bound to nodes", tally.scheduled),
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
        "{} bound, {} failing, {} running without being ready; at least {minimum} are needed",
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
