//! Status of a PodCliqueScalingGroup.

use std::collections::BTreeMap;

use grove_api::{
    constants::conditions as names,
    wire::{PodCliqueScalingGroup, PodCliqueScalingGroupStatus},
};
use k8s_openapi::jiff::Timestamp;

use super::{
    CliqueState,
    conditions::{Now, put},
};
use crate::{
    layout::{count, wire_count},
    objects::group_selector,
};

/// What is reported on.
#[derive(Clone, Debug)]
pub struct GroupReport<'a> {
    /// The group.
    pub group: &'a PodCliqueScalingGroup,
    /// Its wanted member cliques by replica; `None` is one that does not exist.
    pub replicas: BTreeMap<u32, Vec<Option<CliqueState<'a>>>>,
    /// Name of the set.
    pub set: &'a str,
    /// Hash of the set's template.
    pub generation_hash: Option<&'a str>,
    /// Generation whose children were created and deleted.
    pub acted: Option<i64>,
    /// The time.
    pub now: Timestamp,
}

/// Replicas of a group, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReplicaTally {
    pub(super) scheduled: usize,
    pub(super) available: usize,
    pub(super) updated: usize,
    pub(super) healthy: usize,
}

impl ReplicaTally {
    pub(super) fn of(replicas: &BTreeMap<u32, Vec<Option<CliqueState<'_>>>>, hash: Option<&str>) -> Self {
        let mut tally = Self::default();
        for members in replicas.values() {
            let all = |test: &dyn Fn(&CliqueState<'_>) -> bool| {
                !members.is_empty() && members.iter().all(|it| it.as_ref().is_some_and(test))
            };
            let scheduled = all(&|it| it.is_scheduled());
            let available = scheduled && all(&|it| it.is_available());
            tally.scheduled += usize::from(scheduled);
            tally.available += usize::from(available);
            tally.updated +=
                usize::from(available && hash.is_some_and(|hash| all(&|it| it.is_converged(hash))));
            tally.healthy += usize::from(all(&|it| it.is_present() && !it.is_breached()));
        }
        tally
    }
}

/// The status.
pub fn group(report: &GroupReport<'_>) -> PodCliqueScalingGroupStatus {
    let group = report.group;
    let mut status = group.status.clone().unwrap_or_default();
    let tally = ReplicaTally::of(&report.replicas, report.generation_hash);
    let name = group.metadata.name.as_deref().unwrap_or_default();
    status.observed_generation = report.acted.max(status.observed_generation);
    status.replicas = group.spec.replicas;
    status.scheduled_replicas = wire_count(tally.scheduled);
    status.available_replicas = wire_count(tally.available);
    status.updated_replicas = wire_count(tally.updated);
    status.selector = Some(group_selector(report.set, name));
    let updating = status.update_progress.as_ref().is_some_and(|it| it.update_ended_at.is_none());
    if let (Some(hash), false) = (report.generation_hash, updating) {
        let has_hash = |it: &Option<CliqueState<'_>>| {
            let status = it.as_ref().filter(|it| it.is_present()).and_then(|it| it.clique.status.as_ref());
            status.is_some_and(|it| it.current_pod_clique_set_generation_hash.as_deref() == Some(hash))
        };
        if report.replicas.values().flatten().all(has_hash) {
            status.current_pod_clique_set_generation_hash = Some(hash.to_owned());
        }
    }
    status.last_errors.clear();
    let members = report.replicas.values().flatten().flatten();
    status
        .last_errors
        .extend(members.filter_map(|it| it.refusal.as_ref()).map(super::clique::refused).take(1));
    if status.observed_generation.is_some() {
        let minimum = group.spec.min_available.map_or(1, count) as usize;
        let condition = breached(tally.healthy, minimum, updating);
        put(&mut status.conditions, condition, None, report.now);
    }
    status
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
    let message = format!("{healthy} of at least {minimum} replicas have the minimum of every clique");
    Now { type_: reasons::TYPE, status, reason, message }
}

#[cfg(test)]
mod tests;
