//! How far an update is: a pure function of the objects.

use grove_api::{
    constants::{
        conditions::{update_in_progress, update_pending},
        labels,
    },
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, Time, UpdateStrategyType},
};
use kube::ResourceExt;
use serde::Serialize;

use crate::commands::status::{
    reasons::Reason,
    screen::{Role, Screen, condition},
    seen::{Seen, belongs, label, number, wanted},
};

/// The update of one set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) strategy: UpdateStrategyType,
    pub(super) paused: bool,
    /// Whether the template was changed and waits until updates are resumed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) change_pending: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at: Option<Time>,
    pub(super) updated_replicas: usize,
    pub(super) wanted_replicas: usize,
    /// Replicas of the set that are being updated now.
    pub(super) updating_replicas: Vec<usize>,
    /// What the operator says of it.
    pub(super) message: String,
    /// What is being replaced, then what waits, then what is done.
    pub(super) units: Vec<Unit>,
}

/// How an update is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    /// The template was never changed.
    Never,
    /// The operator has not seen the newest change.
    Unseen,
    Running,
    Paused,
    /// The API server rejects pods of the new template. It is tried again, for as long as it may take.
    Blocked,
    /// Nothing has moved for longer than it may take.
    Stuck,
    Ended,
}

/// A clique or a scaling group of one replica of the set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) replica: usize,
    pub(super) state: Turn,
    /// Pods of a clique, replicas of a group.
    pub(super) updated: usize,
    pub(super) wanted: usize,
    /// The ready pod, or the replica of the group, that is being replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replacing: Option<String>,
    /// What its pods wait for, while it is its turn.
    pub(super) awaited: Vec<Reason>,
}

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Kind {
    PodClique,
    PodCliqueScalingGroup,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Turn {
    Updating,
    Waiting,
    Done,
}

impl State {
    /// Whether nothing is to come by itself.
    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::Never | Self::Stuck | Self::Ended)
    }

    fn of(set: &PodCliqueSet) -> Self {
        let status = set.status.clone().unwrap_or_default();
        if set.spec.update_strategy.as_ref().is_some_and(|it| it.paused) {
            return Self::Paused;
        }
        if status.observed_generation < set.metadata.generation {
            return Self::Unseen;
        }
        let Some(progress) = &status.update_progress else { return Self::Never };
        if progress.update_ended_at.is_some() {
            return Self::Ended;
        }
        let said = condition(&status.conditions, update_in_progress::TYPE).filter(|it| it.status == "True");
        match said.map(|it| it.reason.as_str()) {
            Some(update_in_progress::DEADLINE_EXCEEDED) => Self::Stuck,
            Some(update_in_progress::TEMPLATE_REFUSED) => Self::Blocked,
            _ => Self::Running,
        }
    }
}

impl Progress {
    /// That of the set called `name`.
    pub(super) fn of(seen: &Seen, name: &str) -> Option<Self> {
        let set = seen.sets.values().find(|it| it.name_any() == name)?;
        let roles = Screen::of(seen, name)?.roles;
        let status = set.status.clone().unwrap_or_default();
        let progress = status.update_progress.clone().unwrap_or_default();
        let updating: Vec<usize> =
            progress.currently_updating.iter().map(|it| number(it.replica_index)).collect();
        let pending = condition(&status.conditions, update_pending::TYPE).filter(|it| it.status == "True");
        let paused = set.spec.update_strategy.as_ref().is_some_and(|it| it.paused);
        let change_pending = paused && pending.is_some_and(|it| it.reason == update_pending::PAUSED);
        let view = Around { seen, set, roles: &roles, updating: &updating, change_pending };
        let groups = seen.groups.values().filter(|it| belongs(*it, set)).map(|it| view.group(it));
        let cliques = seen.cliques.values().filter(|it| belongs(*it, set));
        let standalone = cliques.filter(|it| label(*it, labels::SCALING_GROUP).is_empty());
        let mut units: Vec<Unit> = standalone.map(|it| view.clique(it)).chain(groups).collect();
        units.sort_by_key(|it| (it.state, it.replica, it.name.clone()));
        let strategy = set.spec.update_strategy.clone().unwrap_or_default();
        let said = [update_in_progress::TYPE, update_pending::TYPE]
            .into_iter()
            .filter_map(|it| condition(&status.conditions, it))
            .find(|it| it.status == "True");
        Some(Self {
            namespace: set.namespace().unwrap_or_default(),
            name: set.name_any(),
            state: State::of(set),
            strategy: strategy.type_,
            paused: strategy.paused,
            started_at: progress.update_started_at,
            ended_at: progress.update_ended_at,
            change_pending,
            // What the operator counts is of the template in use.
            updated_replicas: if change_pending { 0 } else { number(status.updated_replicas) },
            wanted_replicas: number(set.spec.replicas),
            message: said.map(|it| it.message.clone()).unwrap_or_default(),
            units,
            updating_replicas: updating,
        })
    }
}

/// What has to be known to say how far a unit is.
struct Around<'a> {
    seen: &'a Seen,
    set: &'a PodCliqueSet,
    roles: &'a [Role],
    updating: &'a [usize],
    /// Whether the newest template has reached nothing.
    change_pending: bool,
}

impl Around<'_> {
    fn clique(&self, clique: &PodClique) -> Unit {
        let status = clique.status.clone().unwrap_or_default();
        let selected = status.update_progress.filter(|it| it.update_ended_at.is_none());
        let selected = selected.and_then(|it| it.ready_pods_selected_to_update);
        let unit = Unit {
            name: clique.name_any(),
            kind: Kind::PodClique,
            replica: index(clique),
            state: Turn::Done,
            updated: number(status.updated_replicas),
            wanted: wanted(clique),
            replacing: selected.map(|it| format!("pod {}", it.current)),
            awaited: Vec::new(),
        };
        let is_done = unit.updated >= unit.wanted
            && self.is_target(status.current_pod_clique_set_generation_hash.as_deref());
        self.finished(unit, is_done, |role| role.name == clique.name_any())
    }

    fn group(&self, group: &PodCliqueScalingGroup) -> Unit {
        let status = group.status.clone().unwrap_or_default();
        let selected = status.update_progress.filter(|it| it.update_ended_at.is_none());
        let selected = selected.and_then(|it| it.ready_replica_indices_selected_to_update);
        let unit = Unit {
            name: group.name_any(),
            kind: Kind::PodCliqueScalingGroup,
            replica: index(group),
            state: Turn::Done,
            updated: number(status.updated_replicas),
            wanted: number(group.spec.replicas),
            replacing: selected.map(|it| format!("replica {}", it.current)),
            awaited: Vec::new(),
        };
        let is_done = self.is_target(status.current_pod_clique_set_generation_hash.as_deref());
        let is_member = |role: &Role| {
            let named = self.seen.cliques.values().filter(|it| belongs(*it, self.set));
            let mut named = named.filter(|it| it.name_any() == role.name);
            named.any(|it| label(it, labels::SCALING_GROUP) == group.name_any())
        };
        self.finished(unit, is_done, is_member)
    }

    /// Whether this is the hash that everything should have.
    fn is_target(&self, hash: Option<&str>) -> bool {
        hash == self.set.status.as_ref().and_then(|it| it.current_generation_hash.as_deref())
    }

    fn finished(&self, mut unit: Unit, is_done: bool, is_its: impl Fn(&Role) -> bool) -> Unit {
        if self.change_pending {
            (unit.state, unit.updated, unit.replacing) = (Turn::Waiting, 0, None);
            return unit;
        }
        unit.state = match is_done {
            true => Turn::Done,
            false if self.updating.contains(&unit.replica) => Turn::Updating,
            false => Turn::Waiting,
        };
        if unit.state == Turn::Updating {
            let roles = self.roles.iter().filter(|it| is_its(it));
            unit.awaited = roles.flat_map(|it| it.awaited.clone()).collect();
        } else {
            unit.replacing = None;
        }
        unit
    }
}

/// Replica of the set that something belongs to.
fn index<K: kube::Resource>(object: &K) -> usize {
    label(object, labels::SET_REPLICA_INDEX).parse().unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests;
