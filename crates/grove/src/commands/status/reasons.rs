//! What the pods of a role wait for, in plain words: from what the operator, the scheduler and the kubelet wrote.

use std::collections::BTreeMap;

use grove_api::{
    constants::{
        annotations,
        conditions::{self as names, pod_gang},
        gates, labels,
    },
    wire::{PodClique, PodGang},
};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition};
use kube::ResourceExt;
use serde::Serialize;

use super::{
    screen::condition,
    seen::{label, minimum, wanted},
};
use crate::commands::preemptions;

/// Reasons of a container that is on its way.
const ON_ITS_WAY: &[&str] = &["ContainerCreating", "PodInitializing"];

/// Pods that wait for the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(in crate::commands) struct Reason {
    pub(in crate::commands) pods: usize,
    pub(in crate::commands) why: String,
}

/// What else has to be known to say why a pod waits.
pub(in crate::commands) struct Around<'a> {
    pub(in crate::commands) clique: &'a PodClique,
    pub(in crate::commands) gang: Option<&'a PodGang>,
    /// Cliques that have to be ready first, and are not.
    pub(in crate::commands) parents: Vec<&'a str>,
}

/// Whether a pod is one of those that are wanted, and ready.
pub(in crate::commands) fn counts_as_ready(pod: &Pod) -> bool {
    is_live(pod) && says(pod, "Ready", "True").is_some()
}

/// What the pods of a clique wait for, most of them first.
pub(in crate::commands) fn of(around: &Around<'_>, pods: &[&Pod]) -> Vec<Reason> {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for why in pods.iter().filter_map(|it| why(around, it)) {
        *reasons.entry(why).or_default() += 1;
    }
    let live = pods.iter().filter(|it| is_live(it)).count();
    let missing = wanted(around.clique).saturating_sub(live);
    if missing > 0 {
        *reasons.entry(not_created(around.clique)).or_default() += missing;
    }
    let mut reasons: Vec<Reason> = reasons.into_iter().map(|(why, pods)| Reason { pods, why }).collect();
    reasons.sort_by(|one, other| other.pods.cmp(&one.pods).then_with(|| one.why.cmp(&other.why)));
    reasons
}

fn not_created(clique: &PodClique) -> String {
    let conditions = clique.status.iter().flat_map(|it| &it.conditions).cloned().collect::<Vec<_>>();
    match condition(&conditions, names::REPLICA_FAILURE).filter(|it| it.status == "True") {
        Some(refused) => format!("cannot be created: {}", refused.message),
        None => "not created yet".to_owned(),
    }
}

/// Why a pod is not ready; `None` if it is.
fn why(around: &Around<'_>, pod: &Pod) -> Option<String> {
    if pod.metadata.deletion_timestamp.is_some() {
        return Some(match preemptions::of_pod(pod) {
            Some(who) => format!("being deleted: {who}"),
            None => "being deleted".to_owned(),
        });
    }
    if phase(pod) == "Succeeded" {
        return Some("completed".to_owned());
    }
    if phase(pod) == "Failed" {
        let status = pod.status.as_ref();
        let said = [status.and_then(|it| it.reason.as_deref()), status.and_then(|it| it.message.as_deref())];
        return Some(joined("failed", said));
    }
    if counts_as_ready(pod) {
        return None;
    }
    Some(gate(around, pod).or_else(|| place(pod)).unwrap_or_else(|| start(around, pod)))
}

/// Held back before the scheduler may see it.
fn gate(around: &Around<'_>, pod: &Pod) -> Option<String> {
    let gates = pod.spec.as_ref().and_then(|it| it.scheduling_gates.as_deref()).unwrap_or_default();
    if let Some(other) = gates.iter().find(|it| it.name != gates::POD_GANG_PENDING) {
        return Some(format!("gated by {}, which Grove does not manage", other.name));
    }
    gates.first()?;
    let gang = label(pod, labels::POD_GANG);
    let conditions = around.gang.and_then(|it| it.status.as_ref()).map_or(&[][..], |it| &it.conditions);
    let is_complete = condition(conditions, pod_gang::INITIALIZED).is_some_and(|it| it.status == "True");
    let scheduled = condition(conditions, pod_gang::SCHEDULED);
    let waits_for_base = scheduled.is_some_and(|it| it.reason == pod_gang::WAITING_FOR_BASE);
    let others = scheduled.filter(|it| it.reason == pod_gang::WAITING_FOR_OTHERS);
    let is_placed = scheduled.is_some_and(|it| it.status == "True");
    let base = label(pod, labels::BASE_POD_GANG);
    Some(if !is_complete {
        format!("gated until every pod of gang {gang} exists")
    } else if waits_for_base && !base.is_empty() {
        format!("gated until its base gang {base} is scheduled")
    } else if let Some(others) = others {
        format!("gated: {}", others.message)
    } else if is_placed {
        "gated until the other gangs of the set have their minimum scheduled".to_owned()
    } else if is_above(around.clique, pod) {
        format!("gated: above minAvailable, until the minimum of gang {gang} is scheduled")
    } else {
        "scheduling gate about to be removed".to_owned()
    })
}

/// Whether a pod is above the minimum of its clique.
fn is_above(clique: &PodClique, pod: &Pod) -> bool {
    label(pod, labels::POD_INDEX).parse::<usize>().is_ok_and(|it| it >= minimum(clique))
}

/// Without a node.
fn place(pod: &Pod) -> Option<String> {
    let spec = pod.spec.as_ref();
    if spec.and_then(|it| it.node_name.as_deref()).is_some_and(|it| !it.is_empty()) {
        return None;
    }
    // The API server's word about gates stays for a moment after they are removed; it is not the scheduler's.
    let said =
        says(pod, "PodScheduled", "False").filter(|it| it.reason.as_deref() != Some("SchedulingGated"));
    let refused = said.and_then(|it| it.message.as_deref());
    if let Some(message) = refused.filter(|it| !it.is_empty()) {
        return Some(format!("the scheduler cannot place it: {message}"));
    }
    let scheduler = spec.and_then(|it| it.scheduler_name.as_deref()).unwrap_or_default();
    Some(format!("waiting for the scheduler {scheduler}").trim_end().to_owned())
}

/// On a node, and not ready.
fn start(around: &Around<'_>, pod: &Pod) -> String {
    let status = pod.status.as_ref();
    let of = |it: Option<&Vec<ContainerStatus>>| it.into_iter().flatten().cloned().collect::<Vec<_>>();
    let first = of(status.and_then(|it| it.init_container_statuses.as_ref()));
    let main = of(status.and_then(|it| it.container_statuses.as_ref()));
    if let Some(trouble) = first.iter().chain(&main).find_map(trouble) {
        return trouble;
    }
    let may_start = pod.annotations().get(annotations::PARENTS_READY).is_some_and(|it| !it.is_empty());
    let is_initialised = says(pod, "Initialized", "True").is_some();
    if !may_start && !is_initialised && !around.parents.is_empty() {
        return format!("waiting for {} to be ready first", around.parents.join(", "));
    }
    if main.iter().any(|it| it.state.as_ref().is_some_and(|it| it.running.is_some())) {
        return "running, not ready yet".to_owned();
    }
    "starting".to_owned()
}

/// Why a container cannot start or does not stay, in the kubelet's words.
fn trouble(container: &ContainerStatus) -> Option<String> {
    let waiting = container.state.as_ref()?.waiting.as_ref()?;
    let reason = waiting.reason.as_deref().filter(|it| !it.is_empty() && !ON_ITS_WAY.contains(it))?;
    let ended = container.last_state.as_ref().and_then(|it| it.terminated.as_ref());
    let code = ended.map(|it| format!("it ended with exit code {}", it.exit_code));
    let said = [waiting.message.as_deref(), code.as_deref()];
    Some(joined(&format!("container {}: {reason}", container.name), said))
}

fn joined(first: &str, more: [Option<&str>; 2]) -> String {
    let more = more.into_iter().flatten().filter(|it| !it.is_empty());
    std::iter::once(first).chain(more).collect::<Vec<_>>().join(": ")
}

/// Whether a pod counts as one of those that are wanted.
fn is_live(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_none() && phase(pod) != "Failed"
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|it| it.phase.as_deref()).unwrap_or_default()
}

fn says<'a>(pod: &'a Pod, type_: &str, status: &str) -> Option<&'a PodCondition> {
    let conditions = pod.status.as_ref().and_then(|it| it.conditions.as_ref());
    conditions.into_iter().flatten().find(|it| it.type_ == type_ && it.status == status)
}

#[cfg(test)]
mod tests;
