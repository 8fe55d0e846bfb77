//! How a changed template reaches pods that run: which set replica has its turn, and which replicas of a scaling group.
//!
//! Nothing here remembers: what is outdated is seen from hashes and pods, so that a crash, a second change in the middle
//! of the first, or a template that is set back are nothing special. The one note is whose turn it is, in the set's status.

mod dry_run;
mod group;
mod set;
mod template;

pub use self::{
    dry_run::refuses_template,
    group::{GroupReplica, replaced_now},
    set::{SetReplica, Totals, awaited_replicas, progress, started},
    template::{
        HeldTemplate, KeptTemplate, TemplateSeen, TemplateState, cliques_show, has_noted_template,
        noted_hash, template_state,
    },
};
use grove_api::wire::{
    PodClique, PodCliqueScalingGroup, PodCliqueSet, PodCliqueSetUpdateProgress, UpdateStrategyType,
};

use crate::{facts::template_hash, layout::count, pods::Outdated};

/// How changes of a set's template reach pods that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Not at all for now.
    Paused,
    /// When somebody deletes the pods.
    OnDelete,
    /// Replica by replica.
    Rolling,
}

/// The pace of a set.
pub fn pace(set: &PodCliqueSet) -> Pace {
    match &set.spec.update_strategy {
        Some(strategy) if strategy.paused => Pace::Paused,
        Some(strategy) if strategy.type_ == UpdateStrategyType::OnDelete => Pace::OnDelete,
        _ => Pace::Rolling,
    }
}

/// Whether an update is under way.
pub fn is_open(progress: Option<&PodCliqueSetUpdateProgress>) -> bool {
    progress.is_some_and(|it| it.update_ended_at.is_none())
}

/// The set replica that has its turn.
pub fn turn(set: &PodCliqueSet) -> Option<u32> {
    turn_at(set, set.status.as_ref().and_then(|it| it.update_progress.as_ref()))
}

/// Likewise, where its update is at `progress`.
pub(crate) fn turn_at(set: &PodCliqueSet, progress: Option<&PodCliqueSetUpdateProgress>) -> Option<u32> {
    let current = progress.filter(|it| is_open(Some(it)))?.currently_updating.first()?;
    u32::try_from(current.replica_index).ok().filter(|_| pace(set) == Pace::Rolling)
}

/// What happens to pods of an old template in a standalone clique of a set replica. Nothing that serves goes before the
/// clique has noted how much serves.
pub fn outdated_pods(set: &PodCliqueSet, replica: u32, clique: &PodClique) -> Outdated {
    let progress = clique.status.as_ref().and_then(|it| it.update_progress.as_ref());
    let noted = progress
        .filter(|it| it.update_ended_at.is_none() && it.pod_template_hash == template_hash(&clique.metadata));
    match (pace(set), noted) {
        (Pace::Paused | Pace::OnDelete, _) => Outdated::Stay,
        (Pace::Rolling, Some(noted)) if turn(set) == Some(replica) => {
            Outdated::Replaced { ready_at_start: count(noted.ready_at_start) }
        }
        (Pace::Rolling, _) => Outdated::Unbound,
    }
}

/// Replicas of a scaling group that were available when its update began, where it has its turn.
pub fn available_at_start(set: &PodCliqueSet, replica: u32, group: &PodCliqueScalingGroup) -> Option<u32> {
    let hash = set.status.as_ref()?.current_generation_hash.as_deref()?;
    let progress = group.status.as_ref()?.update_progress.as_ref()?;
    let is_noted = progress.update_ended_at.is_none() && progress.pod_clique_set_generation_hash == hash;
    (is_noted && turn(set) == Some(replica)).then(|| count(progress.available_at_start))
}

#[cfg(test)]
mod tests;
