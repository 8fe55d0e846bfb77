//! Restarts of a part of a set as a whole: which cliques belong together, and what is noted on each of them. The pods
//! follow from the notes, clique by clique.

use std::{collections::BTreeMap, fmt};

use grove_api::{
    constants::{labels, restarts},
    wire::{PodClique, PodCliqueStatus, RestartCount, RestartScope, Time, UnitRestart},
};
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::{
    facts::{index_label, label},
    status::CliqueState,
};

/// What is restarted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A replica of the set.
    SetReplica(u32),
    /// A replica of the scaling group of this name.
    GroupReplica(String, u32),
    /// A clique.
    Clique(String),
}

impl Unit {
    /// The unit of that size that a clique belongs to.
    pub fn of(clique: &PodClique, scope: RestartScope) -> Option<Self> {
        let labels = clique.metadata.labels.as_ref();
        match (scope, label(labels, labels::SCALING_GROUP)) {
            (RestartScope::SetReplica, _) => {
                index_label(labels, labels::SET_REPLICA_INDEX).map(Self::SetReplica)
            }
            (RestartScope::GroupReplica, Some(group)) => {
                let replica = index_label(labels, labels::SCALING_GROUP_REPLICA_INDEX)?;
                Some(Self::GroupReplica(group.to_owned(), replica))
            }
            _ => clique.metadata.name.clone().map(Self::Clique),
        }
    }

    /// Its size.
    pub fn scope(&self) -> RestartScope {
        match self {
            Self::SetReplica(_) => RestartScope::SetReplica,
            Self::GroupReplica(..) => RestartScope::GroupReplica,
            Self::Clique(_) => RestartScope::Clique,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetReplica(replica) => write!(f, "replica {replica} of the set"),
            Self::GroupReplica(group, replica) => write!(f, "replica {replica} of scaling group {group}"),
            Self::Clique(name) => write!(f, "clique {name}"),
        }
    }
}

/// A restart that has to be noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// What is restarted.
    pub unit: Unit,
    /// Pods that were created before have to go.
    pub before: Timestamp,
    /// Why, as it is noted.
    pub reason: String,
    /// Why, in words.
    pub words: String,
    /// The count of the restart policy with this one, where it is one of these.
    pub count: Option<RestartCount>,
    /// Cliques that have no note of it yet.
    pub cliques: Vec<String>,
}

impl Restart {
    /// A restart of every pod that the unit has now. Its time is one of those that the API server gave to the pods: no
    /// clock of ours decides which of them are old.
    pub fn begin(
        cliques: &BTreeMap<&str, CliqueState<'_>>,
        unit: Unit,
        reason: &str,
        words: String,
        now: Timestamp,
    ) -> Self {
        let scope = unit.scope();
        let members: Vec<_> = cliques
            .iter()
            .filter(|(_, it)| it.is_present() && Unit::of(it.clique, scope).as_ref() == Some(&unit))
            .collect();
        let newest = members.iter().filter_map(|(_, it)| it.tally.created).map(|(_, last)| last).max();
        let after = newest.and_then(|it| it.checked_add(SignedDuration::from_secs(1)).ok());
        let made = members.iter().filter_map(|(_, it)| made(it)).max();
        Self {
            before: after.or(made).unwrap_or(now),
            reason: reason.to_owned(),
            words,
            count: None,
            cliques: members.iter().map(|(name, _)| (**name).to_owned()).collect(),
            unit,
        }
    }

    /// Likewise, with this count of the restart policy. Both are noted in one write: no restart is forgotten.
    #[must_use]
    pub fn counted(self, count: RestartCount) -> Self {
        Self { count: Some(count), ..self }
    }

    /// The status of a clique with the note.
    pub fn noted(&self, status: Option<&PodCliqueStatus>) -> PodCliqueStatus {
        let mut status = status.cloned().unwrap_or_default();
        status.restart = Some(UnitRestart {
            before: Time(self.before),
            reason: self.reason.clone(),
            scope: self.unit.scope(),
            scheduled_at: None,
        });
        if let Some(count) = &self.count {
            status.restarts = Some(count.clone());
        }
        status
    }
}

/// Restarts that somebody began to note and did not finish: the first note is the decision, the others follow from it.
pub fn unfinished(cliques: &BTreeMap<&str, CliqueState<'_>>) -> Vec<Restart> {
    let present = || cliques.iter().filter(|(_, it)| it.is_present());
    let mut begun: BTreeMap<Unit, (&UnitRestart, Option<&RestartCount>)> = BTreeMap::new();
    for (_, state) in present() {
        let Some(note) = note(state) else { continue };
        let Some(unit) = Unit::of(state.clique, note.scope) else { continue };
        let last = begun.entry(unit).or_insert((note, count(state)));
        if last.0.before.0 < note.before.0 {
            *last = (note, count(state));
        }
    }
    let mut rest: BTreeMap<&Unit, Vec<String>> = BTreeMap::new();
    for (name, state) in present() {
        let units = [RestartScope::SetReplica, RestartScope::GroupReplica];
        let units = units.into_iter().filter_map(|it| Unit::of(state.clique, it));
        let last = units.filter_map(|it| begun.get_key_value(&it)).max_by_key(|(_, it)| it.0.before.0);
        let Some((unit, (wanted, _))) = last else { continue };
        // What was made since has no pods that are older.
        let is_older = made(state).is_none_or(|it| it < wanted.before.0);
        if is_older && note(state).is_none_or(|it| it.before.0 < wanted.before.0) {
            rest.entry(unit).or_default().push((*name).to_owned());
        }
    }
    let restart = |(unit, cliques): (&Unit, Vec<String>)| {
        let (note, count) = begun.get(unit)?;
        let is_counted = note.reason == restarts::RESTART_POLICY;
        let words = "its restart had begun".to_owned();
        Some(Restart {
            unit: unit.clone(),
            before: note.before.0,
            reason: note.reason.clone(),
            words,
            count: count.filter(|_| is_counted).cloned(),
            cliques,
        })
    };
    rest.into_iter().filter_map(restart).collect()
}

/// The last restart, as it is noted on a clique.
pub(crate) fn note<'a>(state: &CliqueState<'a>) -> Option<&'a UnitRestart> {
    state.clique.status.as_ref().and_then(|it| it.restart.as_ref())
}

/// The count of the restart policy, as it is noted on a clique.
pub(crate) fn count<'a>(state: &CliqueState<'a>) -> Option<&'a RestartCount> {
    state.clique.status.as_ref().and_then(|it| it.restarts.as_ref())
}

fn made(state: &CliqueState<'_>) -> Option<Timestamp> {
    state.clique.metadata.creation_timestamp.as_ref().map(|it| it.0)
}

/// Whether a clique was restarted and its minimum has not been bound since.
pub fn is_open(state: &CliqueState<'_>) -> bool {
    note(state).is_some_and(|it| it.scheduled_at.is_none())
}

/// Likewise, together with its set replica.
pub(crate) fn is_open_with_set(state: &CliqueState<'_>) -> bool {
    is_open(state) && note(state).is_some_and(|it| it.scope == RestartScope::SetReplica)
}

/// When the minimum of a clique that was restarted was bound.
pub(crate) fn rescheduled(state: &CliqueState<'_>) -> Option<Timestamp> {
    note(state).and_then(|it| it.scheduled_at.as_ref()).map(|it| it.0)
}

#[cfg(test)]
mod tests;
