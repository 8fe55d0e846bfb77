//! What would help a gang: a pure function of why it waits.

use grove_api::constants::{labels, schedulers};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::{
    cause::Cause,
    facts::Around,
    room,
    words::{Shortage, is_of_api_server, is_over_quota, lacks_queue, lacks_topology, resource_quota},
};

/// What would help, the likeliest first; empty where there is nothing to do but to wait.
pub(super) fn of(cause: &Cause, around: &Around<'_>) -> Vec<String> {
    let (name, scheduler) = (around.name(), around.scheduler());
    let set = &around.facts.set;
    match cause {
        Cause::None => Vec::new(),
        Cause::Unseen => vec!["see whether Grove's operator runs".to_owned()],
        Cause::PodsRefused(words) => refused(words, around),
        Cause::PodsMissing(_) => vec![format!("`grove status {set}` says which pods are missing")],
        Cause::BackendNotConfigured => vec![
            format!("add a profile {scheduler} to scheduler.profiles of the operator's configuration"),
            "or let the set name another schedulerName".to_owned(),
        ],
        Cause::BackendNotReady(_) => vec![format!(
            "put in place what is missing (`grove backends {scheduler}`); Grove notices it by itself and makes the pods"
        )],
        Cause::BackendFailed(words) => failed(words, scheduler),
        Cause::TopologyNotFound(_) => vec![
            "create the ClusterTopologyBinding (`grove topology detect` drafts one from the labels of nodes)".to_owned(),
            "or create the set anew without the required level: it cannot be changed later".to_owned(),
        ],
        Cause::WaitingForBase => {
            around.base().map(|it| format!("`grove why podgang/{it}` says what that one waits for")).into_iter().collect()
        }
        Cause::WaitingForOthers(_) => {
            vec![format!("wait: it goes by itself, after five minutes at most; `grove why {set}` tells of the other gangs")]
        }
        Cause::HeldByOthers(gate) => vec![format!("see to whoever set the gate {gate} and has to lift it")],
        Cause::NotLetGo => vec![format!(
            "if this lasts, `kubectl describe podgang {name}` and the operator's log say what {scheduler} was not told"
        )],
        Cause::NoPlace(words) => no_place(words, around),
        Cause::Silent(_) => vec![format!("if this lasts, see whether the scheduler {scheduler} runs")],
        Cause::NotHonoured(_) if scheduler == schedulers::DEFAULT => vec![
            "switch on in the scheduler what the API server has switched on: docs/backends/kube.md lists the feature gates"
                .to_owned(),
        ],
        Cause::NotHonoured(_) => vec![format!(
            "see whether {scheduler} is configured to place gangs: docs/backends says what it needs"
        )],
        Cause::MinimaFirst { .. } => vec![format!("`grove why {set}` says what the other gangs wait for")],
        Cause::NotReady(_) => vec![format!("`grove status {set}` says what its pods wait for")],
        Cause::Unhealthy(_) => vec![format!(
            "`grove status {set}` says what became of its pods; they are replaced, or the gang is after its terminationDelay"
        )],
    }
}

/// The pods cannot be created.
fn refused(words: &str, around: &Around<'_>) -> Vec<String> {
    let namespace = &around.facts.namespace;
    match resource_quota(words) {
        Some(quota) => vec![
            format!(
                "raise the ResourceQuota {quota} of namespace {namespace}, or free what others use of it"
            ),
            "or ask for fewer or smaller pods".to_owned(),
        ],
        None if is_of_api_server(words) => {
            vec!["change the pod template, or the policy of the cluster that refuses it".to_owned()]
        }
        None => vec!["mend what these words are about; Grove tries again by itself".to_owned()],
    }
}

/// The scheduler cannot be told.
fn failed(words: &str, scheduler: &str) -> Vec<String> {
    if lacks_queue(words) {
        return queue(scheduler);
    }
    if words.contains("forbidden") && words.contains("cannot") {
        return vec![
            "give the operator the right: `grove manifests --config FILE --only ClusterRole` prints all that it needs"
                .to_owned(),
        ];
    }
    vec!["mend what these words are about; Grove tries again by itself and lets the pods go then".to_owned()]
}

fn queue(scheduler: &str) -> Vec<String> {
    vec![
        format!("create the queue, or let the set name one that {scheduler} has"),
        "or set a default queue in the operator's configuration, where the scheduler's profile has one"
            .to_owned(),
    ]
}

/// The scheduler finds no place.
fn no_place(words: &str, around: &Around<'_>) -> Vec<String> {
    if lacks_queue(words) {
        return queue(around.scheduler());
    }
    if lacks_topology(words) {
        return vec![format!("create the topology object that {} looks for", around.scheduler())];
    }
    if is_over_quota(words) {
        return vec![
            "raise the quota of the gang's queue, or free what others in it use".to_owned(),
            "or put the set into another queue".to_owned(),
        ];
    }
    let mut shortage = Shortage::read(words).unwrap_or_default();
    // A scheduler with one group for all calls it like the gang.
    shortage.group = shortage.group.filter(|it| *it != around.name());
    let is_of = |pod: &&Pod| {
        shortage.group.is_none_or(|it| pod.labels().get(labels::POD_CLIQUE).is_some_and(|own| own == it))
    };
    let mut advice = room::help(words, &shortage, around.pods().filter(is_of));
    if let Some(group) = shortage.group {
        let set = &around.facts.set;
        advice.push(format!(
            "or make {set} anew with a smaller minAvailable for {group}: it cannot be changed later"
        ));
    }
    advice
}

#[cfg(test)]
mod tests;
