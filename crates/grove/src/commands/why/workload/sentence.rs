//! Causes, and what is said of one pod, as sentences.

use super::{
    super::facts::{Gate, gate, node},
    cause::{Cause, Unit},
    facts::{Found, Member},
    standing::Shortfall,
};

/// Why the pods of a group wait, in one sentence.
pub(super) fn of(cause: &Cause, unit: &Unit<'_>) -> String {
    let scheduler = named(unit.scheduler);
    match cause {
        Cause::Placed => match unit.count(None).pods {
            1 => "its pod is scheduled".to_owned(),
            all => format!("all of its {all} pods are scheduled"),
        },
        Cause::Finished => match unit.count(None).failed {
            0 => "it has finished".to_owned(),
            failed => format!("it has finished; {} failed", pods(failed)),
        },
        Cause::NoPods => match unit.facts.asked.idle {
            Some(why) => format!("there are no pods: {why}"),
            None => "there are no pods yet".to_owned(),
        },
        Cause::NotGrouped => {
            let (count, verb) = are(unit.waiting().count() as u64);
            format!(
                "{count} {verb} in no group, and {scheduler} schedules only grouped pods: no pod grouper has grouped them"
            )
        }
        Cause::GrouperWarns(words) => format!("the pod grouper cannot group it: {words}"),
        Cause::GroupGone => format!("its pods refer to {}, which does not exist", group(unit)),
        Cause::GroupUnread(words) => format!("{} cannot be read: {words}", group(unit)),
        Cause::PodsMissing(it) => match unit.facts.asked.idle {
            Some(why) => format!("{}: {why}", too_few(it)),
            None => too_few(it),
        },
        Cause::Gated { pods: count, gate } => {
            let (count, verb) = are(*count);
            format!("{count} {verb} gated by {gate}, and {scheduler} waits for that")
        }
        Cause::NoQueue(words) => match queue(unit) {
            Some(queue) => format!("{scheduler} has no queue {queue}: {words}"),
            None => format!("it has no queue: {words}"),
        },
        Cause::OverQuota(words) => format!("its queue is at its limit: {words}"),
        Cause::Queued(words) => words.clone(),
        Cause::NoPlace(words) => format!("{scheduler} cannot place it: {words}"),
        Cause::Silent => format!("{scheduler} has not answered yet"),
        Cause::AboveMinimum { pods: count, gate, words } => {
            let gate = gate.as_ref().map(|it| format!(": gated by {it}"));
            let words = words.as_ref().map(|it| format!(": {it}")).or(gate).unwrap_or_default();
            let verb = if *count == 1 { "waits" } else { "wait" };
            format!("its minimum is scheduled; {} above it {verb}{words}", pods(*count))
        }
    }
}

/// How one pod is, in one sentence.
pub(super) fn of_pod(member: &Member) -> String {
    let pod = &member.pod;
    let phase = pod.status.as_ref().and_then(|it| it.phase.as_deref());
    let scheduler = named(&member.scheduler);
    match (phase, node(pod), gate(pod), &member.words) {
        (Some("Succeeded"), ..) => "it has finished".to_owned(),
        (Some("Failed"), ..) => "it failed".to_owned(),
        _ if pod.metadata.deletion_timestamp.is_some() => "it is being deleted".to_owned(),
        (_, Some(node), ..) => format!("scheduled on node {node}"),
        (_, _, Some(Gate::Foreign(gate)), _) => format!("it has the scheduling gate {gate}"),
        (_, _, Some(Gate::Ours), _) => "its scheduling gate is removed when its gang is complete".to_owned(),
        (.., Some(words)) => format!("{scheduler} cannot place it: {words}"),
        _ => format!("{scheduler} has not answered yet"),
    }
}

/// `4 pods`
pub(super) fn pods(count: u64) -> String {
    if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") }
}

fn are(count: u64) -> (String, &'static str) {
    (pods(count), if count == 1 { "is" } else { "are" })
}

fn named(scheduler: &str) -> &str {
    if scheduler.is_empty() { "the scheduler" } else { scheduler }
}

fn group(unit: &Unit<'_>) -> String {
    unit.group.map(|it| format!("the group {} ({})", it.key.name, it.resource)).unwrap_or_default()
}

pub(super) fn queue<'a>(unit: &Unit<'a>) -> Option<&'a str> {
    match &unit.group?.found {
        Found::Seen(seen) => seen.queue.as_deref(),
        Found::Gone | Found::Unread(_) => None,
    }
}

fn too_few(it: &Shortfall) -> String {
    let whose = it.part.as_ref().map_or_else(|| "it".to_owned(), |it| format!("sub-group {it}"));
    let Shortfall { have, need, .. } = it;
    if it.of_parts {
        return format!("{whose} has {have} complete sub-groups, and its minimum is {need}");
    }
    let there = match have {
        0 => "has no pods".to_owned(),
        some => format!("has {}", pods(*some)),
    };
    format!("{whose} {there}, and its minimum is {need}")
}
