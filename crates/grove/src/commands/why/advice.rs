//! What would help a gang: a pure function of why it waits.

use grove_api::constants::{labels, schedulers};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::{
    cause::Cause,
    facts::{Around, node, refusal},
    obstacle::{Obstacle, Question},
    room::{self, Help},
    words::{Shortage, is_of_api_server, is_over_quota, lacks_queue, lacks_topology, resource_quota},
};

/// What would help, the likeliest first; empty where there is nothing to do but to wait.
pub(super) fn of(cause: &Cause, around: &Around<'_>, obstacles: &[Obstacle]) -> Vec<String> {
    let (name, scheduler) = (around.name(), around.scheduler());
    let set = &around.facts.set;
    match cause {
        Cause::None => Vec::new(),
        Cause::Unseen => vec!["check that the Grove operator is running".to_owned()],
        Cause::PodsRefused(words) => refused(words, around),
        Cause::PodsMissing(_) => vec![format!("`grove status {set}` shows which pods are missing")],
        Cause::BackendNotConfigured => vec![
            format!("add a profile {scheduler} to scheduler.profiles of the operator's configuration"),
            "or set another schedulerName in the pod templates".to_owned(),
        ],
        Cause::BackendNotReady(_) => vec![format!(
            "install what is missing (`grove backends {scheduler}` shows it); Grove then creates the pods"
        )],
        Cause::BackendFailed(words) => failed(words, scheduler),
        Cause::TopologyNotFound(_) => vec![
            "create the ClusterTopologyBinding (`grove topology detect` drafts one from the labels of nodes)".to_owned(),
            "or recreate the set without the required level: it cannot be changed later".to_owned(),
        ],
        Cause::WaitingForBase => {
            around.base().map(|it| format!("`grove why podgang/{it}` shows what that gang waits for")).into_iter().collect()
        }
        Cause::WaitingForOthers(_) => {
            vec![format!("wait: its gates are removed within five minutes; `grove why {set}` shows the other gangs")]
        }
        Cause::HeldByOthers(gate) => vec![format!("find the controller that set the gate {gate}: it has to remove it")],
        Cause::NotLetGo => vec![format!(
            "if this does not change, look at `kubectl describe podgang {name}` and the operator's log"
        )],
        Cause::NoPlace(words) => no_place(words, around, obstacles),
        Cause::Silent(_) => vec![format!("if this does not change, check that the scheduler {scheduler} is running")],
        Cause::NotHonoured(_) if scheduler == schedulers::DEFAULT => vec![
            "enable the feature gates of the API server in kube-scheduler too: docs/backends/kube.md lists them"
                .to_owned(),
        ],
        Cause::NotHonoured(_) => vec![format!(
            "check that {scheduler} is configured for gang scheduling (docs/backends)"
        )],
        Cause::MinimaFirst { .. } => vec![format!("`grove why {set}` shows what the other gangs wait for")],
        Cause::NotReady(_) => vec![format!("`grove status {set}` shows what its pods wait for")],
        Cause::Unhealthy(_) => vec![format!(
            "`grove status {set}` shows its pods; they are replaced, or the gang is restarted after its terminationDelay"
        )],
    }
}

/// The pods cannot be created.
fn refused(words: &str, around: &Around<'_>) -> Vec<String> {
    let namespace = &around.facts.namespace;
    match resource_quota(words) {
        Some(quota) => vec![
            format!("raise the ResourceQuota {quota} of namespace {namespace}, or delete pods that use it"),
            "or request fewer or smaller pods".to_owned(),
        ],
        None if words.contains("waiting for quota") => vec![format!(
            "raise the ResourceQuotas of namespace {namespace}, or free what others use of them; gangs get it one after the \
             other, the oldest first"
        )],
        None if is_of_api_server(words) => {
            vec!["change the pod template, or the cluster policy that rejects it".to_owned()]
        }
        None => vec!["fix the cause named above; Grove retries".to_owned()],
    }
}

/// The scheduler cannot be told.
fn failed(words: &str, scheduler: &str) -> Vec<String> {
    if lacks_queue(words) {
        return queue(scheduler);
    }
    if words.contains("forbidden") && words.contains("cannot") {
        return vec![
            "grant the operator that permission: `grove manifests --config FILE --only ClusterRole` prints its ClusterRoles"
                .to_owned(),
        ];
    }
    vec!["fix the cause named above; Grove retries and then removes the scheduling gates".to_owned()]
}

fn queue(scheduler: &str) -> Vec<String> {
    vec![
        format!("create the queue, or set another queue on the set that {scheduler} has"),
        "or set a default queue in the scheduler's profile of the operator's configuration".to_owned(),
    ]
}

/// The scheduler finds no place.
fn no_place(words: &str, around: &Around<'_>, obstacles: &[Obstacle]) -> Vec<String> {
    if lacks_queue(words) {
        return queue(around.scheduler());
    }
    if lacks_topology(words) {
        return vec![format!("create the topology object named above for {}", around.scheduler())];
    }
    if is_over_quota(words) {
        return vec![
            "raise the quota of the gang's queue, or free up capacity in it".to_owned(),
            "or move the set to another queue".to_owned(),
        ];
    }
    let shortage = shortage(words, around);
    let pods = around.pods().filter(|it| is_of(&shortage, it));
    let mut help = room::help(&shortage, obstacles, pods);
    if let Some(group) = shortage.group
        && !obstacles.iter().any(Obstacle::is_final)
    {
        let set = &around.facts.set;
        let smaller = format!("recreate {set} with a smaller minAvailable for {group} (it is immutable)");
        help.push(Help::Alternative(smaller));
    }
    room::joined(help)
}

fn shortage<'a>(words: &'a str, around: &Around<'_>) -> Shortage<'a> {
    let mut shortage = Shortage::read(words).unwrap_or_default();
    // A scheduler with one group for all calls it like the gang.
    shortage.group = shortage.group.filter(|it| *it != around.name());
    shortage
}

fn is_of(shortage: &Shortage<'_>, pod: &Pod) -> bool {
    shortage.group.is_none_or(|it| pod.labels().get(labels::POD_CLIQUE).is_some_and(|own| own == it))
}

/// What keeps the pods of a gang off nodes; none where it waits for something else.
pub(super) fn obstacles(cause: &Cause, around: &Around<'_>) -> Vec<Obstacle> {
    let Cause::NoPlace(words) = cause else { return Vec::new() };
    if lacks_queue(words) || lacks_topology(words) || is_over_quota(words) {
        return Vec::new();
    }
    let shortage = shortage(words, around);
    let waiting = around.pods().filter(|it| node(it).is_none() && is_of(&shortage, it));
    let pods: Vec<&Pod> = waiting.collect();
    let messages = std::iter::once(words.as_str()).chain(pods.iter().filter_map(|it| refusal(it))).collect();
    Obstacle::all(&Question {
        messages,
        pods,
        nodes: around.facts.nodes.as_deref(),
        keys: around.required_levels(),
    })
}

#[cfg(test)]
mod tests;
