//! What would help the pods of a group: a pure function of why they wait.

use std::collections::BTreeSet;

use grove_scheduler::workload::SeenGroup;

use super::{
    super::{
        obstacle::{Obstacle, Question},
        room,
        words::{Shortage, is_over_quota, lacks_queue, lacks_topology},
    },
    cause::{Cause, Unit},
    facts::Member,
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
            vec![format!("resume {about}, or scale it up")]
        }
        Cause::NoPods => vec![format!(
            "if this does not change, `kubectl describe {about} -n {namespace}` shows why its pods are not created"
        )],
        Cause::PodsMissing(_) => vec![
            format!(
                "`kubectl describe {about} -n {namespace}` shows why pods are not created, for instance a quota of the namespace"
            ),
            "or lower the minimum, where the kind of the workload has a setting for it".to_owned(),
        ],
        Cause::NotGrouped if scheduler == schedulers::VOLCANO => {
            vec![
                "check that Volcano's controllers are running: they create groups for pods that have none"
                    .to_owned(),
            ]
        }
        Cause::NotGrouped => vec![format!(
            "check that a pod grouper is running for {scheduler} and that its selectors match this namespace and these pods"
        )],
        Cause::GrouperWarns(_) => {
            vec!["fix the cause named above; the pod grouper retries".to_owned()]
        }
        Cause::GroupGone => gone(unit),
        Cause::GroupUnread(_) => {
            let resource = unit.group.map(|it| it.resource.as_str()).unwrap_or_default();
            vec![format!("ask for permission to list {resource} in namespace {namespace}")]
        }
        Cause::NoQueue(_) => no_queue(unit),
        Cause::OverQuota(words) => over_quota(words, unit),
        Cause::Queued(_) => vec![format!(
            "wait, free up capacity in the queue {}, or raise its limits",
            queue(unit).unwrap_or_default()
        )],
        Cause::NoPlace(words) | Cause::AboveMinimum { words: Some(words), .. } => no_place(words, unit),
        Cause::Gated { gate, .. } | Cause::AboveMinimum { gate: Some(gate), .. } => {
            vec![format!("find the controller that set the gate {gate}: it has to remove it")]
        }
        Cause::Silent => {
            vec![format!("if this does not change, check that the scheduler {scheduler} is running")]
        }
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
        return vec![format!("create {} {}, or recreate the pods", group.resource, group.key.name)];
    }
    vec![
        format!("check that a pod grouper is running for {}: it recreates the group", unit.scheduler),
        "or create it, if the pods refer to a group of your own".to_owned(),
    ]
}

fn no_queue(unit: &Unit<'_>) -> Vec<String> {
    let scheduler = unit.scheduler;
    let create = match queue(unit) {
        Some(queue) => format!("create the queue {queue}"),
        None => "create a queue".to_owned(),
    };
    let label = if scheduler == schedulers::KAI { " (label kai.scheduler/queue)" } else { "" };
    vec![format!("{create}, or set another queue that {scheduler} has{label}")]
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
        [] => format!("raise the {bound} of queue {queue}, or free up capacity in it"),
        short => {
            format!("raise the {bound} of queue {queue} by {}, or free up as much in it", short.join(" and "))
        }
    }];
    if bound == "quota" {
        help.push(
            "or make the workload preemptible (label kai.scheduler/preemptibility: preemptible): the quota holds only for workloads that are not"
                .to_owned(),
        );
    }
    help.push("or move the workload to another queue, or let it request less".to_owned());
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
        return vec![format!("create the topology object named above for {}", unit.scheduler)];
    }
    if is_over_quota(words) {
        return vec![
            "raise the quota of its queue, or free up capacity in it".to_owned(),
            "or move the workload to another queue".to_owned(),
        ];
    }
    let mut shortage = Shortage::read(words).unwrap_or_default();
    // A scheduler without sub-groups names the group itself.
    let own = unit.group.map(|it| it.key.name.as_str());
    shortage.group = shortage.group.filter(|it| Some(*it) != own);
    let is_of = |it: &&Member| shortage.group.is_none() || it.part.as_deref() == shortage.group;
    let members: Vec<&Member> = unit.waiting().filter(is_of).collect();
    let said = members.iter().filter_map(|it| it.words.as_deref());
    let obstacles = Obstacle::all(&Question {
        messages: std::iter::once(words).chain(said).collect(),
        pods: members.iter().map(|it| &it.pod).collect(),
        nodes: unit.facts.nodes.as_deref(),
        keys: BTreeSet::new(),
    });
    room::joined(room::help(&shortage, &obstacles, members.iter().map(|it| &it.pod)))
}

#[cfg(test)]
mod tests;
