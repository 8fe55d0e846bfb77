//! What would help a gang: a pure function of why it waits.

use std::collections::BTreeMap;

use grove_api::constants::{labels, schedulers};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::{
    cause::Cause,
    facts::{Around, node},
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
    let mut advice = vec![room(&shortage, around)];
    if let Some(level) = shortage.level {
        advice.push(format!("or require a wider level of the topology than {level}"));
    }
    if words.contains("untolerated taint") {
        advice.push("or let the pods tolerate the taints of the nodes that have room".to_owned());
    }
    if words.contains("node affinity/selector") {
        advice.push("or see whether any node has the labels that the pods select".to_owned());
    }
    if let Some(group) = shortage.group {
        let set = &around.facts.set;
        advice.push(format!(
            "or make {set} anew with a smaller minAvailable for {group}: it cannot be changed later"
        ));
    }
    advice
}

/// `free, or add nodes with, room for 2 more pods of chat-0-decode (each 8 nvidia.com/gpu) in one domain of rack`
fn room(shortage: &Shortage<'_>, around: &Around<'_>) -> String {
    let count = match shortage.pods {
        Some(1) => "1 more pod".to_owned(),
        Some(count) => format!("{count} more pods"),
        None => "its pods".to_owned(),
    };
    let whose = shortage.group.map(|it| format!(" of {it}")).unwrap_or_default();
    let is_of = |pod: &&Pod| {
        shortage.group.is_none_or(|it| pod.labels().get(labels::POD_CLIQUE).is_some_and(|own| own == it))
    };
    let sizes: Vec<String> = {
        let mut sizes: Vec<String> =
            around.pods().filter(|it| node(it).is_none()).filter(is_of).map(size).collect();
        sizes.sort();
        sizes.dedup();
        sizes
    };
    let each = match sizes.as_slice() {
        [size] if !size.is_empty() => format!(" (each {size})"),
        _ => String::new(),
    };
    let place = shortage.level.map(|it| format!(" in one domain of {it}")).unwrap_or_default();
    format!("free, or add nodes with, room for {count}{whose}{each}{place}")
}

/// What a pod asks of devices; of all else nodes have plenty, or the words say it.
fn size(pod: &Pod) -> String {
    let mut devices: BTreeMap<&str, u64> = BTreeMap::new();
    for container in pod.spec.iter().flat_map(|it| &it.containers) {
        let Some(resources) = &container.resources else { continue };
        // Of a device, a limit without a request is a request.
        let asked = resources.requests.iter().flatten().chain(resources.limits.iter().flatten());
        let mut own: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, quantity) in asked.filter(|it| it.0.contains('/')) {
            if let Ok(count) = quantity.0.parse() {
                own.insert(name, count);
            }
        }
        for (name, count) in own {
            let sum = devices.entry(name).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    devices.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
