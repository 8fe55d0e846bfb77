//! What is said of a workload: a pure function of the facts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    advice,
    cause::{Cause, State, Unit},
    facts::{Facts, GroupKey, Member},
    quota::Quota,
    sentence,
    standing::Count,
};
use crate::columns::cut;

/// Characters of a sentence: others wrote most of it.
const MAX_SENTENCE: usize = 600;

/// All that is said.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) namespace: String,
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    /// Pods of what was asked about.
    pub(super) pods: Count,
    /// How the pod is that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    /// Those that are worst off first.
    pub(super) groups: Vec<GroupSaid>,
    /// What could not be read.
    pub(super) notes: Vec<String>,
}

/// What is said of one group, or of pods that are in none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupSaid {
    /// Absent: these pods are in no group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// `podgroups.scheduling.run.ai`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resource: Option<String>,
    pub(super) scheduler: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) above: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) priority_class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) preemptibility: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_pods: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_parts: Option<u64>,
    pub(super) pods: Count,
    pub(super) parts: Vec<PartSaid>,
    /// Pods that are in no part, where there are parts.
    pub(super) outside: u64,
    pub(super) state: State,
    pub(super) cause: &'static str,
    /// One sentence.
    pub(super) why: String,
    /// What would help, the likeliest first.
    pub(super) help: Vec<String>,
    /// What the queue has, where that is too little.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) quota: Option<Quota>,
}

/// A part of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartSaid {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_pods: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_parts: Option<u64>,
    pub(super) pods: Count,
}

impl Report {
    pub(super) fn of(facts: &Facts) -> Self {
        let asked = &facts.asked;
        let own = || facts.members.iter().filter(|it| it.is_asked);
        let mut groups: Vec<GroupSaid> = units(facts).iter().map(GroupSaid::of).collect();
        let rank = |it: &GroupSaid| (it.state, std::cmp::Reverse(it.pods.waiting()), it.name.clone());
        groups.sort_by_key(rank);
        Self {
            namespace: facts.namespace.clone(),
            api_version: asked.api_version.clone(),
            kind: asked.kind.clone(),
            name: asked.name.clone(),
            pods: Count::of(own()),
            why: own().next().filter(|_| asked.is_pod()).map(|it| cut(&sentence::of_pod(it), MAX_SENTENCE)),
            groups,
            notes: facts.notes.iter().map(|it| cut(it, MAX_SENTENCE)).collect(),
        }
    }
}

/// The groups, and the pods that are in none, by their scheduler. What was asked about and has neither is one by itself.
fn units(facts: &Facts) -> Vec<Unit<'_>> {
    let mut grouped: BTreeMap<&GroupKey, Vec<&Member>> = BTreeMap::new();
    let mut alone: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
    for member in &facts.members {
        match &member.group {
            Some(key) => grouped.entry(key).or_default().push(member),
            None => alone.entry(&member.scheduler).or_default().push(member),
        }
    }
    let mut units: Vec<Unit<'_>> = facts
        .groups
        .iter()
        .map(|group| {
            let members = grouped.remove(&group.key).unwrap_or_default();
            let scheduler = members.first().map_or(group.key.scheduler.as_str(), |it| &it.scheduler);
            Unit::new(facts, scheduler, Some(group), members)
        })
        .collect();
    units.extend(alone.into_iter().map(|(scheduler, members)| Unit::new(facts, scheduler, None, members)));
    if units.is_empty() {
        units.push(Unit::new(facts, "", None, Vec::new()));
    }
    units
}

impl GroupSaid {
    fn of(unit: &Unit<'_>) -> Self {
        let cause = Cause::of(unit);
        let seen = unit.group.and_then(|it| it.seen()).cloned().unwrap_or_default();
        let parts: Vec<PartSaid> = seen
            .parts
            .iter()
            .map(|it| PartSaid {
                name: it.name.clone(),
                parent: it.parent.clone(),
                min_pods: it.minimum.pods,
                min_parts: it.minimum.parts,
                pods: unit.count(Some(&it.name)),
            })
            .collect();
        let outside = unit.members.iter().filter(|it| it.part.is_none() && !parts.is_empty()).count() as u64;
        let quota = matches!(cause, Cause::OverQuota(_)).then(|| advice::share(&seen)).flatten();
        Self {
            name: unit.group.map(|it| it.key.name.clone()),
            resource: unit.group.map(|it| it.resource.clone()),
            scheduler: unit.scheduler.to_owned(),
            above: seen.above,
            queue: seen.queue,
            priority_class: seen.priority_class,
            preemptibility: seen.preemptibility,
            min_pods: seen.minimum.pods,
            min_parts: seen.minimum.parts,
            pods: unit.count(None),
            parts,
            outside,
            state: cause.state(),
            cause: cause.name(),
            why: cut(&sentence::of(&cause, unit), MAX_SENTENCE),
            help: advice::of(&cause, unit),
            quota,
        }
    }
}

#[cfg(test)]
mod tests;
