//! Since when failures count. A policy that is new restarts nothing because of what happened long ago, nor does the end of a
//! turn because of what happened in it.

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueSet, PodCliqueSetUpdateProgress, RestartPolicyInForce, Time},
};
use k8s_openapi::jiff::Timestamp;

use crate::{facts::index_label, rollout};

/// What is to be noted, where an update is at `progress`.
pub(crate) fn in_force(
    set: &PodCliqueSet,
    progress: Option<&PodCliqueSetUpdateProgress>,
    now: Timestamp,
) -> Option<RestartPolicyInForce> {
    let scope = set.spec.template.restart_policy.as_ref()?.scope;
    let turn = rollout::turn_at(set, progress).and_then(|it| i32::try_from(it).ok());
    let noted = noted(set).filter(|it| it.scope == scope && it.turn == turn).cloned();
    Some(noted.unwrap_or(RestartPolicyInForce { scope, since: Time(now), turn }))
}

/// Whether a failure of a pod that is ready again counts, by its time. Where nothing is noted yet, it does not.
pub(super) fn counts(set: &PodCliqueSet, clique: &PodClique, failed_at: Timestamp) -> bool {
    let replica = index_label(clique.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX);
    let scope = set.spec.template.restart_policy.as_ref().map(|it| it.scope);
    noted(set).is_some_and(|it| {
        let has_turn = it.turn.is_some_and(|it| u32::try_from(it).ok() == replica);
        // Times in objects are whole seconds.
        Some(it.scope) == scope && !has_turn && failed_at.as_second() >= it.since.0.as_second()
    })
}

fn noted(set: &PodCliqueSet) -> Option<&RestartPolicyInForce> {
    set.status.as_ref().and_then(|it| it.restart_policy.as_ref())
}
