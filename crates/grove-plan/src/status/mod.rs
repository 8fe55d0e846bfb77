//! What the status says: computed from what is, never from what was asked.

mod binding;
mod clique;
mod conditions;
mod gang;
mod generation;
mod group;
mod losses;
mod placed;
mod set;
mod state;
mod summary;
mod topology;
mod update;

use grove_api::{
    constants::{conditions as names, labels},
    wire::{
        Condition, PodClique, PodCliqueScalingGroupStatus, PodCliqueSetStatus, PodCliqueStatus, PodGangStatus,
    },
};
use k8s_openapi::jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

pub use self::{
    binding::{Compared, Coverage, Found, binding_news, binding_status},
    clique::{CliqueReport, clique},
    conditions::{Now, put as put_condition},
    gang::gang,
    group::{GroupReport, Members, group},
    set::{MAX_GANGS, SetReport, set},
    state::SetState,
    topology::TopologySeen,
    update::{UpdateSeen, deadline as update_deadline},
};
pub(crate) use self::{
    conditions::find,
    group::{ReplicaTally, is_healthy, is_terminated, was_placed as group_was_placed},
};
use crate::{
    facts::{Refusal, Tally, label, template_hash},
    layout::spec_minimum,
    pods::may_complete,
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
    /// Whether an update of pods begins, ends, or goes on elsewhere with `new`: others wait for that.
    fn is_step(&self, _new: &Self) -> bool {
        false
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
    let is_minor = essence(old) == essence(new) && old.phase() == new.phase() && !old.is_step(new);
    if is_minor { Urgency::Soon } else { Urgency::Now }
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

    fn is_step(&self, new: &Self) -> bool {
        let step = |it: &Self| {
            let progress = it.update_progress.as_ref();
            progress.map(|it| (it.pod_template_hash.clone(), it.update_ended_at.is_some()))
        };
        step(self) != step(new)
    }
}

impl Reported for PodCliqueScalingGroupStatus {
    const FIRST: Urgency = Urgency::Soon;

    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn is_step(&self, new: &Self) -> bool {
        let step = |it: &Self| {
            let progress = it.update_progress.as_ref();
            progress.map(|it| (it.pod_clique_set_generation_hash.clone(), it.update_ended_at.is_some()))
        };
        step(self) != step(new)
    }
}

impl Reported for PodCliqueSetStatus {
    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn is_step(&self, new: &Self) -> bool {
        let step = |it: &Self| {
            let progress = it.update_progress.as_ref();
            progress.map(|it| {
                let turn = it.currently_updating.first().map(|it| it.replica_index);
                (it.update_started_at.clone(), it.update_ended_at.clone(), turn)
            })
        };
        step(self) != step(new)
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
    /// Whether it is of another template than the set's, and has not noted the one it has: the set's was changed right after it
    /// was made, or set back right after the change reached it.
    pub is_behind: bool,
    /// Whether this operator has seen its minimum bound, which its status may not say yet.
    pub was_scheduled: bool,
    /// Since when this operator sees it below its minimum, where it is.
    pub breached_since: Option<Timestamp>,
}

impl CliqueState<'_> {
    /// Smallest number of pods that makes sense.
    pub fn minimum(&self) -> u32 {
        spec_minimum(&self.clique.spec)
    }

    /// Whether it is here to stay.
    pub fn is_present(&self) -> bool {
        self.clique.metadata.deletion_timestamp.is_none()
    }

    /// Whether the minimum is bound.
    pub fn is_scheduled(&self) -> bool {
        self.is_present() && self.tally.scheduled >= self.minimum()
    }

    /// What it says of that.
    pub(crate) fn scheduled_condition(&self) -> Option<&Condition> {
        find(&self.clique.status.as_ref()?.conditions, names::pod_clique_scheduled::TYPE)
    }

    /// Whether the minimum has ever been bound.
    pub(crate) fn was_placed(&self) -> bool {
        self.was_scheduled || placed::was_placed(self.clique.status.as_ref(), &self.tally)
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
        self.is_available()
            && self.behind() == 0
            && status.current_pod_clique_set_generation_hash.as_deref() == Some(hash)
            && status.current_pod_template_hash.as_deref().unwrap_or_default()
                == template_hash(&self.clique.metadata)
    }

    /// Whether it, or a pod of it, is known to be of another template than the set's current one, `hash`.
    pub fn is_outdated(&self, hash: &str) -> bool {
        let status = self.clique.status.as_ref();
        let known = status.and_then(|it| it.current_pod_clique_set_generation_hash.as_deref());
        let is_other = self.is_behind || known.is_some_and(|it| it != hash);
        self.is_present() && (self.behind() > 0 || is_other)
    }

    /// Pods of another template that are still to be replaced.
    pub(crate) fn behind(&self) -> u32 {
        behind(self.clique, &self.tally)
    }
}

/// Pods of another template that are still to be replaced, also those that failed and that a restart policy keeps. One that
/// has done its work is not, unless it goes with its replica of a group.
fn behind(clique: &PodClique, tally: &Tally) -> u32 {
    let stay = if keeps_completed(clique) { tally.completed_old } else { 0 };
    tally.live - tally.updated - stay + tally.fallen_old
}

/// Whether pods that have done their work stay in an update.
fn keeps_completed(clique: &PodClique) -> bool {
    may_complete(clique) && label(clique.metadata.labels.as_ref(), labels::SCALING_GROUP).is_none()
}

fn breached(tally: &Tally, minimum: u32) -> bool {
    tally.healthy() < minimum
}

#[cfg(test)]
mod tests;
