//! Status of a PodGang.

use grove_api::{
    constants::{conditions as names, phases},
    wire::{Condition, PodGangStatus, Time},
};
use k8s_openapi::jiff::Timestamp;

use super::conditions::{Now, find, put, remove};
use crate::{
    gang::{self, CliqueSeen, Seen, Told},
    topology,
};

/// The status. `initialized`: the gang is complete, and this is the write that says so.
pub fn gang(seen: &Seen<'_>, initialized: bool, now: Timestamp) -> PodGangStatus {
    let mut status = seen.gang.status.clone().unwrap_or_default();
    let was_placed = gang::was_placed(&status);
    let initialized = initialized || gang::is_initialized(seen.gang);
    let scheduled = initialized && gang::is_scheduled(seen);
    let ready = scheduled && short(seen, "ready", |it| it.tally().ready).is_none();

    let said = |type_| find(&status.conditions, type_).cloned();
    let (said_scheduled, said_ready) = (said(names::pod_gang::SCHEDULED), said(names::pod_gang::READY));
    note_last(&mut status.last_scheduled, said_scheduled.as_ref(), scheduled, now);
    note_last(&mut status.last_ready, said_ready.as_ref(), ready, now);
    put(&mut status.conditions, initialized_condition(seen, initialized), None, now);
    put(&mut status.conditions, scheduled_condition(seen, initialized, scheduled), None, now);
    put(&mut status.conditions, ready_condition(seen, scheduled, ready), None, now);
    // Only what had its place once can lose it.
    if was_placed || scheduled {
        put(&mut status.conditions, unhealthy_condition(seen), None, now);
    }
    score(seen, scheduled, &mut status, now);
    match refused(seen) {
        None => remove(&mut status.conditions, names::REPLICA_FAILURE),
        Some(message) => {
            let reason = names::FAILED_CREATE;
            let condition = Now { type_: names::REPLICA_FAILURE, status: Some(true), reason, message };
            put(&mut status.conditions, condition, None, now);
        }
    }
    let phase = match (scheduled, ready) {
        (true, true) => phases::RUNNING,
        (true, false) => phases::STARTING,
        (false, _) => phases::PENDING,
    };
    phase.clone_into(&mut status.phase);
    status
}

/// Notes when a condition became True, with the write that says so. Where another version said so, with the write that says that
/// it is over.
fn note_last(noted: &mut Option<Time>, said: Option<&Condition>, is_true: bool, now: Timestamp) {
    match (said.filter(|it| it.status == "True"), is_true) {
        (None, true) => *noted = Some(Time(now)),
        (Some(said), false) if noted.is_none() => *noted = Some(said.last_transition_time.clone()),
        _ => {}
    }
}

/// How well the gang sits, where it prefers something; else what others say of it stays.
fn score(seen: &Seen<'_>, scheduled: bool, status: &mut PodGangStatus, now: Timestamp) {
    if topology::preferred_keys(seen.gang).is_empty() {
        // It preferred something until its set or the operator changed.
        if status.conditions.iter().any(|it| it.type_ == names::pod_gang::PREFERRED_PLACEMENT) {
            remove(&mut status.conditions, names::pod_gang::PREFERRED_PLACEMENT);
            status.placement_score = None;
        }
        return;
    }
    let members = seen.cliques.iter().flat_map(|(name, clique)| {
        let pods = clique.pods.iter().filter(|it| it.is_live() && it.bound);
        pods.map(|it| (name.as_str(), it.node.as_str()))
    });
    let members: Vec<_> = members.collect();
    let score = topology::score(seen.gang, &members, &seen.places).filter(|_| scheduled);
    status.placement_score = score.as_ref().map(|it| it.share);
    match score.filter(|it| !it.missed.is_empty()) {
        None => remove(&mut status.conditions, names::pod_gang::PREFERRED_PLACEMENT),
        Some(score) => {
            let (type_, reason) =
                (names::pod_gang::PREFERRED_PLACEMENT, names::pod_gang::PREFERRED_LEVELS_MISSED);
            let message = score.missed.join("; ");
            put(&mut status.conditions, Now { type_, status: Some(false), reason, message }, None, now);
        }
    }
}

/// The first clique of which fewer pods than its minimum are `state`, in words.
fn short(seen: &Seen<'_>, state: &str, count: impl Fn(&CliqueSeen<'_>) -> u32) -> Option<String> {
    short_of(seen.cliques.iter(), state, count)
}

fn short_of<'a>(
    mut cliques: impl Iterator<Item = (&'a String, &'a CliqueSeen<'a>)>,
    state: &str,
    count: impl Fn(&CliqueSeen<'_>) -> u32,
) -> Option<String> {
    cliques.find_map(|(name, clique)| {
        if clique.clique.is_none() {
            return Some(format!("PodClique {name} does not exist"));
        }
        let (count, minimum) = (count(clique), clique.minimum());
        (count < minimum).then(|| format!("{name}: {count} pods {state}, at least {minimum} needed"))
    })
}

fn refused(seen: &Seen<'_>) -> Option<String> {
    let refusals = seen.cliques.iter().filter_map(|(name, it)| it.refusal.map(|refusal| (name, refusal)));
    refusals.map(|(name, it)| format!("{name}: {}", it.message)).next()
}

fn initialized_condition(seen: &Seen<'_>, initialized: bool) -> Now<'static> {
    let type_ = names::pod_gang::INITIALIZED;
    if initialized {
        let message = "all pods are created".to_owned();
        return Now { type_, status: Some(true), reason: names::pod_gang::ALL_PODS_CREATED, message };
    }
    let message = refused(seen).unwrap_or_else(|| "not all pods of the gang are created yet".to_owned());
    Now { type_, status: Some(false), reason: names::pod_gang::PODS_NOT_CREATED, message }
}

fn scheduled_condition(seen: &Seen<'_>, initialized: bool, scheduled: bool) -> Now<'static> {
    use names::pod_gang as reasons;
    let (reason, message) = if scheduled {
        (reasons::PLACED, "minAvailable pods of every PodClique are scheduled".to_owned())
    } else if let Some(held) = gang::why_held(seen) {
        held
    } else if let Told::Failed(reason, words) = seen.told {
        (reason, words.to_owned())
    } else if !initialized {
        (reasons::PODS_NOT_CREATED, "waiting for all pods of the gang to be created".to_owned())
    } else if !seen.may_go {
        (reasons::WAITING_FOR_BASE, "waiting for the base gang to be scheduled".to_owned())
    } else if let Some((reason, words)) = seen.words {
        (reason, words.to_owned())
    } else if let Some((pod, words)) = gang::unschedulable(seen) {
        (reasons::UNSCHEDULABLE, format!("{pod}: {words}"))
    } else {
        let message = short(seen, "scheduled", |it| it.tally().scheduled);
        (reasons::WAITING_FOR_SCHEDULER, message.unwrap_or_default())
    };
    Now { type_: reasons::SCHEDULED, status: Some(scheduled), reason, message }
}

fn ready_condition(seen: &Seen<'_>, scheduled: bool, ready: bool) -> Now<'static> {
    use names::pod_gang as reasons;
    let (reason, message) = if ready {
        (reasons::PODS_READY, "minAvailable pods of every PodClique are ready".to_owned())
    } else if scheduled {
        (reasons::PODS_NOT_READY, not_ready(seen))
    } else {
        (reasons::NOT_SCHEDULED, "the gang is not scheduled".to_owned())
    };
    Now { type_: reasons::READY, status: Some(ready), reason, message }
}

/// Who is not ready. Those that start later are not the cause, and are named after it.
fn not_ready(seen: &Seen<'_>) -> String {
    let ready = |it: &CliqueSeen<'_>| it.tally().ready;
    let (later, now): (Vec<_>, Vec<_>) = seen.cliques.iter().partition(|it| it.1.tally().waiting > 0);
    let Some(cause) = short_of(now.into_iter(), "ready", ready) else {
        return short(seen, "ready", ready).unwrap_or_default();
    };
    match later.as_slice() {
        [] => cause,
        [(one, _)] => format!("{cause}; {one} starts later"),
        many => format!("{cause}; {} cliques start later", many.len()),
    }
}

fn unhealthy_condition(seen: &Seen<'_>) -> Now<'static> {
    use names::pod_gang as reasons;
    let lost = short(seen, "scheduled", |it| it.tally().scheduled);
    let failing = short(seen, "healthy", |it| it.tally().healthy());
    let (status, reason, message) = match (lost, failing) {
        (Some(lost), _) => (true, reasons::PODS_LOST, lost),
        (None, Some(failing)) => (true, reasons::PODS_FAILING, failing),
        (None, None) => (false, reasons::HEALTHY, "every PodClique has minAvailable healthy pods".to_owned()),
    };
    Now { type_: reasons::UNHEALTHY, status: Some(status), reason, message }
}

#[cfg(test)]
mod tests;
