//! One set as a person wants to know it: a pure function of the objects.

use std::collections::BTreeMap;

use grove_api::{
    constants::{
        conditions::{self as names, pod_gang, size_limit_exceeded, update_in_progress},
        labels, phases,
    },
    wire::{Condition, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use grove_placement::natural::compare;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde::Serialize;

use super::{
    blocked::Blocked,
    countdown::Restart,
    reasons::{self, Reason},
    seen::{Seen, belongs, clique_of, label, minimum, number, wanted},
};
use crate::commands::preemptions;

/// So many errors are repeated.
const MAX_ERRORS: usize = 3;

/// One set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct Screen {
    pub(in crate::commands) namespace: String,
    pub(in crate::commands) name: String,
    pub(in crate::commands) state: State,
    /// Why nothing more is to come by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) blocked: Option<Blocked>,
    pub(in crate::commands) available_replicas: usize,
    pub(in crate::commands) wanted_replicas: usize,
    /// What the operator says, in sentences.
    pub(in crate::commands) notes: Vec<String>,
    /// Those that need attention first.
    pub(in crate::commands) gangs: Vec<Gang>,
    pub(in crate::commands) groups: Vec<Group>,
    /// Those that need attention first.
    pub(in crate::commands) roles: Vec<Role>,
}

/// How a set is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) enum State {
    /// All that is wanted is there.
    Available,
    /// The minimum of every replica is there, and more is to come.
    AvailableProgressing,
    /// Something is still to come.
    Progressing,
    /// Nothing is to come by itself.
    Unavailable,
    /// No operator has looked at it.
    Unseen,
    Deleting,
}

/// An all-or-nothing unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct Gang {
    pub(in crate::commands) name: String,
    pub(in crate::commands) phase: String,
    pub(in crate::commands) healthy: bool,
    pub(in crate::commands) ready_pods: usize,
    pub(in crate::commands) wanted_pods: usize,
    /// What it waits for; empty where it waits for nothing.
    pub(in crate::commands) awaited: String,
    /// When it is restarted, where it is below its minimum for long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) restart: Option<Restart>,
}

/// Roles that scale together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct Group {
    pub(in crate::commands) name: String,
    pub(in crate::commands) available_replicas: usize,
    pub(in crate::commands) wanted_replicas: usize,
    pub(in crate::commands) minimum_replicas: usize,
}

/// The pods of one role: a PodClique.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct Role {
    pub(in crate::commands) name: String,
    /// What the set calls it.
    #[serde(rename = "role")]
    pub(in crate::commands) title: String,
    pub(in crate::commands) gang: String,
    pub(in crate::commands) ready_pods: usize,
    pub(in crate::commands) wanted_pods: usize,
    pub(in crate::commands) minimum_pods: usize,
    /// What its pods wait for, most of them first.
    pub(in crate::commands) awaited: Vec<Reason>,
}

impl Screen {
    /// The set called `name`.
    pub(in crate::commands) fn of(seen: &Seen, name: &str) -> Option<Self> {
        let set = seen.sets.values().find(|it| it.name_any() == name)?;
        let status = set.status.clone().unwrap_or_default();
        let roles = roles(seen, set);
        let mut groups: Vec<Group> =
            seen.groups.values().filter(|it| belongs(*it, set)).map(Group::of).collect();
        groups.sort_by(|one, other| {
            let is_well = |it: &Group| it.available_replicas >= it.wanted_replicas;
            is_well(one).cmp(&is_well(other)).then_with(|| compare(&one.name, &other.name))
        });
        let cliques = || seen.cliques.values().filter(|it| belongs(*it, set));
        let gangs = seen.gangs.values().filter(|it| belongs(*it, set));
        let mut gangs: Vec<Gang> = gangs
            .map(|it| Gang { restart: Restart::of(set, it, cliques()), ..Gang::of(it, &roles, seen) })
            .collect();
        gangs.sort_by(|one, other| {
            one.rank().cmp(&other.rank()).then_with(|| compare(&one.name, &other.name))
        });
        Some(Self {
            namespace: set.namespace().unwrap_or_default(),
            name: set.name_any(),
            state: State::of(set),
            blocked: Blocked::of(set),
            available_replicas: number(status.available_replicas),
            wanted_replicas: number(set.spec.replicas),
            notes: notes(set),
            gangs,
            groups,
            roles,
        })
    }
}

impl State {
    pub(in crate::commands) fn of(set: &PodCliqueSet) -> Self {
        if set.metadata.deletion_timestamp.is_some() {
            return Self::Deleting;
        }
        let Some(status) = &set.status else { return Self::Unseen };
        let is = |type_: &str| condition(&status.conditions, type_).map(|it| it.status == "True");
        // Upstream's operator says it by counters alone.
        let available = is(names::available::TYPE).unwrap_or(status.available_replicas >= set.spec.replicas);
        match (available, is(names::progressing::TYPE).unwrap_or(!available)) {
            (true, false) => Self::Available,
            (true, true) => Self::AvailableProgressing,
            (false, true) => Self::Progressing,
            (false, false) => Self::Unavailable,
        }
    }

    /// In words; a set whose pods are rejected is not in progress.
    pub(in crate::commands) fn words(self, blocked: Option<Blocked>) -> &'static str {
        let is_available = matches!(self, Self::Available | Self::AvailableProgressing);
        match (self, blocked) {
            (Self::Unseen, _) => "not reconciled yet: check that the operator is running",
            (Self::Deleting, _) => "being deleted",
            (_, Some(blocked)) => blocked.words(is_available),
            (Self::Available, None) => "available",
            (Self::AvailableProgressing, None) => "available, in progress",
            (Self::Progressing, None) => "in progress",
            (Self::Unavailable, None) => "not available",
        }
    }
}

impl Group {
    fn of(group: &PodCliqueScalingGroup) -> Self {
        Self {
            name: group.name_any(),
            available_replicas: number(group.status.as_ref().map_or(0, |it| it.available_replicas)),
            wanted_replicas: number(group.spec.replicas),
            minimum_replicas: number(group.spec.min_available.unwrap_or(1).min(group.spec.replicas)),
        }
    }
}

impl Gang {
    fn of(gang: &PodGang, roles: &[Role], seen: &Seen) -> Self {
        let status = gang.status.clone().unwrap_or_default();
        let name = gang.name_any();
        let of_gang = || roles.iter().filter(|it| it.gang == name);
        let phase = if status.phase.is_empty() { phases::PENDING.to_owned() } else { status.phase };
        let is_unhealthy = |it: &Condition| it.type_ == pod_gang::UNHEALTHY && it.status == "True";
        Self {
            healthy: !status.conditions.iter().any(is_unhealthy),
            ready_pods: of_gang().map(|it| it.ready_pods).sum(),
            wanted_pods: of_gang().map(|it| it.wanted_pods).sum(),
            awaited: awaited(&status.conditions) + &preempted(seen, gang),
            restart: None,
            name,
            phase,
        }
    }

    pub(in crate::commands) fn is_well(&self) -> bool {
        self.healthy && self.phase == phases::RUNNING
    }

    /// Most in need of attention first, as in the set's own status.
    fn rank(&self) -> u8 {
        match (self.healthy, self.phase.as_str()) {
            (false, _) => 0,
            (true, phases::FAILED) => 1,
            (true, phases::STARTING) => 3,
            (true, phases::RUNNING | phases::SUCCEEDED) => 4,
            (true, _) => 2,
        }
    }
}

impl Role {
    pub(in crate::commands) fn is_well(&self) -> bool {
        self.ready_pods >= self.wanted_pods && self.awaited.is_empty()
    }
}

fn roles(seen: &Seen, set: &PodCliqueSet) -> Vec<Role> {
    let mut pods: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for pod in seen.pods.values().filter(|it| belongs(*it, set)) {
        pods.entry(clique_of(pod)).or_default().push(pod);
    }
    let ready = |clique: &PodClique| {
        let pods = pods.get(clique.name_any().as_str());
        pods.into_iter().flatten().filter(|it| reasons::counts_as_ready(it)).count()
    };
    let cliques: Vec<&PodClique> = seen.cliques.values().filter(|it| belongs(*it, set)).collect();
    // Parents are named in the clique itself; those that are not there cannot be ready.
    let satisfied: BTreeMap<String, bool> =
        cliques.iter().map(|it| (it.name_any(), ready(it) >= minimum(it))).collect();
    let mut roles: Vec<Role> = cliques
        .iter()
        .map(|clique| {
            let name = clique.name_any();
            let gang = label(*clique, labels::POD_GANG);
            let parents = clique.spec.starts_after.iter().filter(|it| satisfied.get(*it) != Some(&true));
            let around = reasons::Around {
                clique,
                gang: seen.gangs.values().find(|it| belongs(*it, set) && it.name_any() == gang),
                parents: parents.map(String::as_str).collect(),
            };
            Role {
                title: clique.spec.role_name.clone().unwrap_or_default(),
                gang: gang.to_owned(),
                ready_pods: ready(clique),
                wanted_pods: wanted(clique),
                minimum_pods: minimum(clique),
                awaited: reasons::of(&around, pods.get(name.as_str()).map_or(&[], Vec::as_slice)),
                name,
            }
        })
        .collect();
    let rank = |it: &Role| (it.ready_pods >= it.minimum_pods, it.is_well());
    roles.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| compare(&one.name, &other.name)));
    roles
}

/// What a gang waits for: of all that its conditions say, what comes first.
pub(crate) fn awaited(conditions: &[Condition]) -> String {
    let says = |type_: &str, status: &str| condition(conditions, type_).filter(|it| it.status == status);
    if let Some(refused) = says(names::REPLICA_FAILURE, "True") {
        return format!("pods cannot be created: {}", refused.message);
    }
    if let Some(unhealthy) = says(pod_gang::UNHEALTHY, "True") {
        return format!("below minAvailable: {}", unhealthy.message);
    }
    let waits = [pod_gang::INITIALIZED, pod_gang::SCHEDULED, pod_gang::READY];
    let Some(waits) = waits.iter().find_map(|it| says(it, "False")) else { return String::new() };
    match waits.reason.as_str() {
        pod_gang::UNSCHEDULABLE => format!("the scheduler cannot place it: {}", waits.message),
        pod_gang::WAITING_FOR_SCHEDULER => format!("waiting for the scheduler: {}", waits.message),
        _ => waits.message.clone(),
    }
}

/// Who preempted a gang, as the end of a sentence. It says nothing of one that has a place again.
fn preempted(seen: &Seen, gang: &PodGang) -> String {
    let conditions = gang.status.as_ref().map_or(&[][..], |it| &it.conditions);
    let waits = condition(conditions, pod_gang::SCHEDULED).is_some_and(|it| it.status == "False");
    let words = preemptions::of_gang(&seen.preemptions, gang).filter(|_| waits);
    words.map(|it| format!("; it was {it}")).unwrap_or_default()
}

/// What the operator says of a set, where there is something to say.
fn notes(set: &PodCliqueSet) -> Vec<String> {
    let Some(status) = &set.status else { return Vec::new() };
    let mut notes = Vec::new();
    let mut note = |type_: &str, when: &[&str], prefix: &str| {
        if let Some(it) = condition(&status.conditions, type_).filter(|it| when.contains(&it.status.as_str()))
        {
            notes.push(format!("{prefix}{}", it.message));
        }
    };
    note(names::available::TYPE, &["False"], "");
    note(names::progressing::TYPE, &["True"], "");
    note(names::REPLICA_FAILURE, &["True"], "pods cannot be created: ");
    if matches!(Blocked::of(set), Some(Blocked::UpdateRefused | Blocked::UpdateStuck)) {
        note(update_in_progress::TYPE, &["True"], "update: ");
    }
    note(size_limit_exceeded::TYPE, &["True"], "");
    note(names::SETTINGS_IGNORED, &["True"], "");
    note(names::RESTART_BUDGET_EXHAUSTED, &["True"], "");
    note(names::topology_levels_unavailable::TYPE, &["True", "Unknown"], "topology: ");
    note(names::SCHEDULER_CAPABILITY_GAP, &["True"], "ignored by the scheduler: ");
    note(names::update_pending::TYPE, &["True"], "");
    let errors = status.last_errors.iter().take(MAX_ERRORS);
    notes.extend(errors.map(|it| format!("error {}: {}", it.code, it.description)));
    if status.observed_generation.is_some_and(|it| Some(it) < set.metadata.generation) {
        notes.push("the operator has not acted on the last change yet".to_owned());
    }
    notes
}

pub(crate) fn condition<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|it| it.type_ == type_)
}

#[cfg(test)]
mod tests;
