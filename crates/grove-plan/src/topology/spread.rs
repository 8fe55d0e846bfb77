//! Replicas of a set in different domains, by anti-affinity of their pods: every scheduler knows that.
//!
//! What holds for a replica is noted on its gangs when they are made, so that a later change of the set reaches new replicas
//! alone.

use std::collections::BTreeMap;

use grove_api::{
    constants::{annotations, labels},
    wire::{PodCliqueSet, PodGang, SpreadMode},
};
use k8s_openapi::{
    api::core::v1::{PodAffinityTerm, PodSpec, WeightedPodAffinityTerm},
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};

use super::Topology;

/// Somebody asked for it, so that it counts for as much as anything may.
const WEIGHT: i32 = 100;

/// How far a replica is from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread<'a> {
    /// Node label of the level.
    key: &'a str,
    mode: SpreadMode,
}

impl<'a> Spread<'a> {
    /// What a set asks for. `None` where its topology has no such level: then nothing is spread, and a condition says so.
    pub fn asked(set: &PodCliqueSet, topology: Option<&'a Topology>) -> Option<Self> {
        let spread = set.spec.replica_spread.as_ref()?;
        Some(Self { key: topology?.key_of(&spread.topology_domain)?, mode: spread.mode })
    }

    /// What was noted on a gang of the replica.
    pub fn noted(gang: &'a PodGang) -> Option<Self> {
        let note = gang.metadata.annotations.as_ref()?.get(annotations::REPLICA_SPREAD)?;
        let (mode, key) = note.split_once(' ')?;
        let modes = [SpreadMode::Preferred, SpreadMode::Required];
        Some(Self { key, mode: modes.into_iter().find(|it| word(*it) == mode)? })
    }

    /// Notes it on a gang.
    pub(crate) fn note_on(self, gang: &mut PodGang) {
        let notes = gang.metadata.annotations.get_or_insert_default();
        notes.insert(annotations::REPLICA_SPREAD.to_owned(), format!("{} {}", word(self.mode), self.key));
    }

    /// Keeps a pod of a set replica away from pods of the others.
    pub(crate) fn add_to(self, pod: &mut PodSpec, set: &str, replica: u32) {
        let term = PodAffinityTerm {
            label_selector: Some(others(set, replica)),
            topology_key: self.key.to_owned(),
            ..PodAffinityTerm::default()
        };
        let apart = pod.affinity.get_or_insert_default().pod_anti_affinity.get_or_insert_default();
        match self.mode {
            SpreadMode::Required => {
                apart.required_during_scheduling_ignored_during_execution.get_or_insert_default().push(term);
            }
            SpreadMode::Preferred => {
                let terms = &mut apart.preferred_during_scheduling_ignored_during_execution;
                let term = WeightedPodAffinityTerm { weight: WEIGHT, pod_affinity_term: term };
                terms.get_or_insert_default().push(term);
            }
        }
    }
}

fn word(mode: SpreadMode) -> &'static str {
    match mode {
        SpreadMode::Preferred => "Preferred",
        SpreadMode::Required => "Required",
    }
}

/// Pods of other replicas of a set.
fn others(set: &str, replica: u32) -> LabelSelector {
    let of_set = [(labels::MANAGED_BY, labels::MANAGED_BY_VALUE), (labels::PART_OF, set)];
    let of_set = of_set.map(|(key, value)| (key.to_owned(), value.to_owned()));
    LabelSelector {
        match_labels: Some(BTreeMap::from(of_set)),
        match_expressions: Some(vec![LabelSelectorRequirement {
            key: labels::SET_REPLICA_INDEX.to_owned(),
            operator: "NotIn".to_owned(),
            values: Some(vec![replica.to_string()]),
        }]),
    }
}

#[cfg(test)]
mod tests;
