//! Gang termination: what stays below its minimum for the termination delay is restarted as a whole. A scaling group
//! replica alone where enough others are left; else the set replica.
//!
//! Only what was healthy before counts: pods that never had a place would not get one by being made anew.

mod breach;

use std::time::Duration;

use grove_api::{
    constants::restarts,
    names,
    wire::{GangTermination, PodCliqueSet, ScalingGroupConfig},
};
use k8s_openapi::jiff::{SignedDuration, Timestamp};

pub use self::breach::is_status_outdated;
use self::breach::{clique_since, group_since, is_down, is_updating};
use crate::{
    layout::{self, count, set_name},
    restart::{self, Restart, Unit},
    restart_policy::Rules,
    status::{CliqueState, SetState},
};

/// How long a breach that was noted before this operator watched has to be seen before anything is restarted because of it.
///
/// etcd that was restored from a backup says of pods what was true when the backup was made. Kubelets have corrected that
/// within a minute, and pods that serve are not deleted because of it.
const CONFIRMED: SignedDuration = SignedDuration::from_mins(1);

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminationPlan {
    /// What is due.
    pub restarts: Vec<Restart>,
    /// When the next would be, if nothing changes.
    pub next: Option<Timestamp>,
}

/// Decides.
pub fn plan(observed: &SetState<'_>) -> TerminationPlan {
    let mut plan = TerminationPlan::default();
    let Some(delay) = delay(observed.set) else { return plan };
    let is_final = |unit: &Unit| observed.cliques.values().any(|it| is_final(observed, it, unit));
    for replica in 0..count(observed.set.spec.replicas) {
        // A replica that is restarted as a whole needs no look at its parts.
        if let Some(since) = set_replica_since(observed, replica)
            && !is_final(&Unit::SetReplica(replica))
            && plan.is_due(observed, since, delay)
        {
            plan.restart(observed, Unit::SetReplica(replica), delay);
            continue;
        }
        for config in &observed.set.spec.template.scaling_groups {
            for (unit, since) in group_replicas_since(observed, replica, config) {
                if !is_final(&unit) && plan.is_due(observed, since, delay) {
                    plan.restart(observed, unit, delay);
                }
            }
        }
    }
    plan
}

impl TerminationPlan {
    /// Whether what is so since then is due now; else the time when it will be is kept.
    pub(crate) fn is_due(
        &mut self,
        observed: &SetState<'_>,
        since: Timestamp,
        delay: SignedDuration,
    ) -> bool {
        let (now, watched_since) = (observed.now, observed.watched_since);
        // Beyond the end of time is never.
        let Ok(due) = since.checked_add(delay) else { return false };
        let confirmed = watched_since.checked_add(CONFIRMED).unwrap_or(Timestamp::MAX);
        let due = if since < watched_since { due.max(confirmed) } else { due };
        if due > now {
            self.next = Some(self.next.map_or(due, |it| it.min(due)));
        }
        due <= now
    }

    fn restart(&mut self, observed: &SetState<'_>, unit: Unit, delay: SignedDuration) {
        let words = format!("below minAvailable for {delay:#}");
        let reason = restarts::GANG_TERMINATION;
        self.restarts.push(Restart::begin(&observed.cliques, unit, reason, words, observed.now));
    }
}

/// How long is waited; `None` where nothing is ever terminated.
fn delay(set: &PodCliqueSet) -> Option<SignedDuration> {
    let template = &set.spec.template;
    if template.gang_termination == Some(GangTermination::Disabled) {
        return None;
    }
    let delay: Duration = template.termination_delay.as_ref()?.to_std().ok()?;
    SignedDuration::try_from(delay).ok()
}

/// Whether a clique is of that unit, and its restart policy restarts it no more: then nobody does.
fn is_final(observed: &SetState<'_>, state: &CliqueState<'_>, unit: &Unit) -> bool {
    let rules = Rules::of(observed.set, &observed.generation_hash);
    let noted = restart::count(state).filter(|_| state.is_present());
    let is_exhausted = rules.zip(noted).is_some_and(|(rules, noted)| rules.is_exhausted(noted));
    is_exhausted && Unit::of(state.clique, unit.scope()).as_ref() == Some(unit)
}

/// Since when a set replica is below its minimum: the first of its standalone cliques and groups that is.
fn set_replica_since(observed: &SetState<'_>, replica: u32) -> Option<Timestamp> {
    let mut first: Option<Timestamp> = None;
    for clique in layout::standalone(observed.set, replica) {
        // What is about to be made comes before what is about to be restarted.
        let state = observed.cliques.get(clique.name.as_str()).filter(|it| it.is_present())?;
        first = [first, clique_since(state)].into_iter().flatten().min();
    }
    let groups = observed.set.spec.template.scaling_groups.iter().filter_map(|config| {
        let name = names::scaling_group(set_name(observed.set), replica, &config.name);
        let group = observed.group(&name)?;
        group_since(observed, group, &observed.members(replica, config, group))
    });
    groups.chain(first).min()
}

/// The replicas of a group that are below their minimum and may be restarted by themselves, and since when.
fn group_replicas_since(
    observed: &SetState<'_>,
    replica: u32,
    config: &ScalingGroupConfig,
) -> Vec<(Unit, Timestamp)> {
    let name = names::scaling_group(set_name(observed.set), replica, &config.name);
    let Some(group) = observed.group(&name).filter(|it| !is_updating(it)) else {
        return Vec::new();
    };
    let members = observed.members(replica, config, group);
    let down = members.values().filter(|it| it.iter().flatten().any(is_down)).count();
    let minimum = layout::required_replicas(group);
    // Too few others would be left: that is for the set replica as a whole.
    if members.len() - down < minimum {
        return Vec::new();
    }
    let units = members.iter().filter_map(|(group_replica, members)| {
        let since = members.iter().flatten().filter_map(clique_since).min()?;
        Some((Unit::GroupReplica(name.clone(), *group_replica), since))
    });
    units.collect()
}

#[cfg(test)]
mod tests;
