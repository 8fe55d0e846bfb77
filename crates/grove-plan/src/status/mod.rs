//! What the status says: computed from what is, never from what was asked.

mod clique;
mod conditions;
mod gang;
mod group;
mod set;
mod summary;
mod topology;

use grove_api::wire::{
    Condition, PodClique, PodCliqueScalingGroupStatus, PodCliqueSetStatus, PodCliqueStatus, PodGangStatus,
};
use serde::Serialize;
use serde_json::{Value, json};

pub use self::{
    clique::{CliqueReport, clique},
    gang::gang,
    group::{GroupReport, group},
    set::{MAX_GANGS, SetReport, set},
    topology::{TopologySeen, topology_name},
};
use crate::{
    facts::{Refusal, Tally},
    layout::count,
};

/// How soon a status has to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// It says what is written already.
    Same,
    /// Only counters and wording changed.
    Soon,
    /// A condition changed: now.
    Now,
}

/// A status with conditions.
pub trait Reported: PartialEq {
    /// How soon a first status has to be written.
    const FIRST: Urgency = Urgency::Now;

    /// The conditions.
    fn conditions(&self) -> &[Condition];
    /// Another value that readers wait for, such as a phase.
    #[expect(clippy::unnecessary_literal_bound, reason = "other kinds have a value")]
    fn phase(&self) -> &str {
        ""
    }
}

/// How soon `new` has to replace `old`.
pub fn urgency<S: Reported>(old: Option<&S>, new: &S) -> Urgency {
    let Some(old) = old else { return S::FIRST };
    if old == new {
        return Urgency::Same;
    }
    let essence = |status: &S| -> Vec<(String, String, String)> {
        let mut essence: Vec<_> = status
            .conditions()
            .iter()
            .map(|it| (it.type_.clone(), it.status.clone(), it.reason.clone()))
            .collect();
        essence.sort();
        essence
    };
    if essence(old) == essence(new) && old.phase() == new.phase() { Urgency::Soon } else { Urgency::Now }
}

/// Merge patch of an object's status, bound to the version of the object that it was computed from: who computed from
/// an older one is told, instead of undoing what happened since.
pub fn status_patch<S: Serialize>(old: Option<&S>, new: &S, resource_version: &str) -> Value {
    let value = |status: &S| serde_json::to_value(status).unwrap_or_default();
    let change = crate::patch::exact(&old.map(value).unwrap_or_default(), &value(new));
    // Nothing changed is an empty patch: `null` would remove the status.
    let change = change.unwrap_or_else(|| json!({}));
    json!({ "metadata": { "resourceVersion": resource_version }, "status": change })
}

impl Reported for PodCliqueStatus {
    // Its pods come right after it: one write says both.
    const FIRST: Urgency = Urgency::Soon;

    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }
}

impl Reported for PodCliqueScalingGroupStatus {
    const FIRST: Urgency = Urgency::Soon;

    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }
}

impl Reported for PodCliqueSetStatus {
    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }
}

impl Reported for PodGangStatus {
    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn phase(&self) -> &str {
        &self.phase
    }
}

/// A clique with its pods counted: what groups and sets report on.
#[derive(Clone, Debug)]
pub struct CliqueState<'a> {
    /// The object.
    pub clique: &'a PodClique,
    /// Its pods.
    pub tally: Tally,
    /// Why the API server refuses more.
    pub refusal: Option<Refusal>,
}

impl CliqueState<'_> {
    /// Smallest number of pods that makes sense.
    pub fn minimum(&self) -> u32 {
        self.clique.spec.min_available.or(self.clique.spec.replicas).map_or(0, count)
    }

    /// Whether it is here to stay.
    pub fn is_present(&self) -> bool {
        self.clique.metadata.deletion_timestamp.is_none()
    }

    /// Whether the minimum is bound.
    pub fn is_scheduled(&self) -> bool {
        self.is_present() && self.tally.scheduled >= self.minimum()
    }

    /// Whether the minimum is ready.
    pub fn is_available(&self) -> bool {
        self.is_present() && self.tally.ready >= self.minimum()
    }

    /// Whether it is below its minimum, pods that still start not counted against it.
    pub fn is_breached(&self) -> bool {
        breached(&self.tally, self.minimum())
    }

    /// Whether all it says of itself is of the set's current template `hash`.
    pub fn is_converged(&self, hash: &str) -> bool {
        let Some(status) = &self.clique.status else { return false };
        let label = self.clique.metadata.labels.as_ref();
        let label = label.and_then(|it| it.get(grove_api::constants::labels::POD_TEMPLATE_HASH));
        self.is_available()
            && self.tally.updated >= self.minimum()
            && status.current_pod_clique_set_generation_hash.as_deref() == Some(hash)
            && status.current_pod_template_hash.as_ref() == label
    }
}

fn breached(tally: &Tally, minimum: u32) -> bool {
    tally.healthy() < minimum
}

#[cfg(test)]
mod tests;
