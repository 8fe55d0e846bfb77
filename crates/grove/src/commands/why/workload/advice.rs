//! What would help the pods of a group: a pure function of why they wait.

use grove_scheduler::workload::SeenGroup;

use super::{
    super::{
        room,
        words::{Shortage, is_over_quota, lacks_queue, lacks_topology},
    },
    cause::{Cause, Unit},
    quota::Quota,
    sentence::queue,
};
use grove_api::constants::schedulers;

/// What would help, the likeliest first; empty where there is nothing to do.
pub(super) fn of(cause: &Cause, unit: &Unit<'_>) -> Vec<String> {
    let (asked, scheduler, namespace) = (&unit.facts.asked, unit.scheduler, &unit.facts.namespace);
    let about = maker(unit);
    match cause {
        Cause::Placed | Cause::Finished | Cause::AboveMinimum { gate: None, words: None, .. } => Vec::new(),
        Cause::NoPods | Cause::PodsMissing(_) if asked.idle.is_some() => {
            vec![format!("let {about} go on, or ask for its pods")]
        }
        Cause::NoPods => vec![format!(
            "if this lasts, `kubectl describe {about} -n {namespace}` says why its pods are not made"
        )],
        Cause::PodsMissing(_) => vec![
            format!(
                "`kubectl describe {about} -n {namespace}` says why pods are not made: a quota of the namespace, or who makes them"
            ),
            "or lower the minimum, where the kind of the workload has a setting for it".to_owned(),
        ],
        Cause::NotGrouped if scheduler == schedulers::VOLCANO => {
            vec!["see whether Volcano's controllers run: they make groups for pods that have none".to_owned()]
        }
        Cause::NotGrouped => vec![format!(
            "see whether a pod grouper runs for {scheduler}, and whether its selectors take this namespace and these pods"
        )],
        Cause::GrouperWarns(_) => {
            vec!["mend what these words are about; the pod grouper tries again by itself".to_owned()]
        }
        Cause::GroupGone => gone(unit),
        Cause::GroupUnread(_) => {
            let resource = unit.group.map(|it| it.resource.as_str()).unwrap_or_default();
            vec![format!("have somebody look who may list {resource} in namespace {namespace}")]
        }
        Cause::NoQueue(_) => no_queue(unit),
        Cause::OverQuota(words) => over_quota(words, unit),
        Cause::Queued(_) => vec![format!(
            "wait, or free what others in the queue {} use, or raise what it may have",
            queue(unit).unwrap_or_default()
        )],
        Cause::NoPlace(words) | Cause::AboveMinimum { words: Some(words), .. } => no_place(words, unit),
        Cause::Gated { gate, .. } | Cause::AboveMinimum { gate: Some(gate), .. } => {
            vec![format!("see to whoever set the gate {gate} and has to lift it")]
        }
        Cause::Silent => vec![format!("if this lasts, see whether the scheduler {scheduler} runs")],
    }
}

/// Who makes the pods, as kubectl takes it: what was asked about, or the owner of the pod.
fn maker(unit: &Unit<'_>) -> String {
    let asked = &unit.facts.asked;
    let own = unit.members.iter().find(|it| it.is_asked && asked.is_pod());
    let owner = own.and_then(|it| it.pod.metadata.owner_references.as_ref()?.first());
    let (kind, name) = owner.map_or((&asked.kind, &asked.name), |it| (&it.kind, &it.name));
    format!("{}/{name}", kind.to_lowercase())
}

fn gone(unit: &Unit<'_>) -> Vec<String> {
    let Some(group) = unit.group else { return Vec::new() };
    if group.key.scheduler == schedulers::DEFAULT {
        // What a pod was created with stays.
        return vec![format!("create {} {}, or make the pods anew", group.resource, group.key.name)];
    }
    vec![
        format!("see whether a pod grouper runs for {}: it makes the group anew", unit.scheduler),
        "or create it, where the pods name a group of your own".to_owned(),
    ]
}

fn no_queue(unit: &Unit<'_>) -> Vec<String> {
    let scheduler = unit.scheduler;
    let create = match queue(unit) {
        Some(queue) => format!("create the queue {queue}"),
        None => "create a queue".to_owned(),
    };
    let label = if scheduler == schedulers::KAI { " (label kai.scheduler/queue)" } else { "" };
    vec![format!("{create}, or let the workload name one that {scheduler} has{label}")]
}

/// The queue may not have more.
fn over_quota(words: &str, unit: &Unit<'_>) -> Vec<String> {
    let share = unit.group.and_then(|it| it.seen()).and_then(share);
    let Some(quota) = share else {
        return no_place(words, unit);
    };
    let short: Vec<String> = quota
        .short()
        .filter_map(|it| Some(format!("{} {}", it.missing()?.text(&it.resource), it.resource)))
        .collect();
    let (bound, queue) = (quota.bound, &quota.queue);
    let mut help = vec![match short.as_slice() {
        [] => format!("raise the {bound} of queue {queue}, or free what others in it use"),
        short => {
            format!("raise the {bound} of queue {queue} by {}, or free as much in it", short.join(" and "))
        }
    }];
    if bound == "quota" {
        help.push(
            "or let the workload be preemptible (label kai.scheduler/preemptibility: preemptible): only what is not has to stay within the quota"
                .to_owned(),
        );
    }
    help.push("or put the workload into another queue, or let it ask for less".to_owned());
    help
}

pub(super) fn share(seen: &SeenGroup) -> Option<Quota> {
    seen.refusal.as_ref()?.share.as_ref().map(Quota::of)
}

/// The scheduler finds no place.
fn no_place(words: &str, unit: &Unit<'_>) -> Vec<String> {
    if lacks_queue(words) {
        return no_queue(unit);
    }
    if lacks_topology(words) {
        return vec![format!("create the topology object that {} looks for", unit.scheduler)];
    }
    if is_over_quota(words) {
        return vec![
            "raise the quota of its queue, or free what others in it use".to_owned(),
            "or put the workload into another queue".to_owned(),
        ];
    }
    let mut shortage = Shortage::read(words).unwrap_or_default();
    // A scheduler without sub-groups names the group itself.
    let own = unit.group.map(|it| it.key.name.as_str());
    shortage.group = shortage.group.filter(|it| Some(*it) != own);
    let pods = unit.waiting().filter(|it| shortage.group.is_none() || it.part.as_deref() == shortage.group);
    room::help(words, &shortage, pods.map(|it| &it.pod))
}

#[cfg(test)]
mod tests;
