//! What is due happens while there are troubles, too: a clique that has fewer pods than are wanted gets them, and nobody waits for a
//! node to come back; a pod whose gang is complete is let go; and what stays below its minimum is restarted.

use std::time::Duration;

use grove_api::names;
use tokio::time::Instant;

use super::{Broken, Rule};
use crate::past::{Clique, Past, Pod, Track};

/// How long the operator may pause after failures that it was told of.
const PAUSES: Duration = Duration::from_mins(2);

/// How long pods above the minimum wait, at most, until the minima of their set are bound, where a scheduler has gangs.
const GROWTH: Duration = Duration::from_mins(5);

/// Nothing has been due for longer than the operator that was started at `started` may not know of it.
pub(crate) fn nothing_for_long(past: &Past, started: Instant) -> Result<(), Broken> {
    let Some(start) = past.start().checked_sub(PAUSES).filter(|it| *it > started) else { return Ok(()) };
    let time = start.elapsed();
    let wanted = || past.cliques.values().filter(|it| past.wanted_since(it, start));
    // Under a quota it is judged in the end who has to have pods.
    if let Some(clique) = wanted().find(|it| !past.limited && lasts(&it.lacks, start)) {
        let words = format!("clique {} has lacked pods for more than {time:.0?}", clique.name);
        return Err(Rule::Lacking.broken(words));
    }
    let held_from = start.checked_sub(if past.has_backend { GROWTH } else { Duration::ZERO });
    let is_held = |pod: &&Pod| {
        held_from.is_some_and(|it| it > started && lasts(&pod.gated, it) && lasts(&pod.there, it))
    };
    let is_due = |pod: &&Pod| {
        let clique = past.cliques.get(&pod.clique).filter(|it| past.wanted_since(it, start));
        // What is scaled out waits for its base gang, which may find no place.
        let replica = |it: &Clique| u32::try_from(it.replica).unwrap_or_default();
        clique.is_some_and(|it| pod.gang == names::base_gang(&it.set, replica(it)))
            && past.gangs.get(&pod.gang).is_some_and(|it| lasts(&it.initialized, start))
            && (!past.has_backend || held_from.is_some_and(|it| has_place(past, &pod.gang, it)))
            && wanted().filter(|it| it.gang == pod.gang).all(|it| lasts(&it.complete, start))
    };
    if let Some(pod) = past.pods.values().filter(is_held).find(is_due) {
        let words = format!("pod {} has been held back for more than {time:.0?}", pod.name);
        return Err(Rule::Lacking.broken(words));
    }
    if let Some((clique, delay)) = wanted().find_map(|it| Some((it, overdue(past, it, start, started)?))) {
        let words = format!(
            "clique {} has been below its minimum for more than {:.0?} and was not restarted",
            clique.name,
            time + delay
        );
        return Err(Rule::Lacking.broken(words));
    }
    Ok(())
}

/// The delay after which a clique should have been restarted with its set replica by then. Where there are others that may be
/// restarted without it, or that decide when, nothing is said.
fn overdue(past: &Past, clique: &Clique, start: Instant, started: Instant) -> Option<Duration> {
    let set = past.sets.get(&clique.set)?;
    let delay = set.termination_delay?;
    let start = start.checked_sub(delay + past.skew).filter(|it| *it > started)?;
    let is_alone = clique.group.is_none() && set.policy.since(start).all(Option::is_none);
    let is_quiet = clique.restarted.changed().is_some_and(|it| it < start);
    (is_alone && is_quiet && lasts(&clique.breached, start)).then_some(delay)
}

/// Whether the minimum of each clique of a gang has been bound since then. Where a scheduler has gangs, pods above the minimum wait for
/// that, and for the minima of other gangs for a while.
fn has_place(past: &Past, gang: &str, start: Instant) -> bool {
    let is_bound = |pod: &&Pod| {
        lasts(&pod.there, start)
            && pod.node.at(start).is_some()
            && pod.node.since(start).all(|it| !it.is_empty())
    };
    let cliques = past.cliques.iter().filter(|(_, it)| it.gang == gang && past.wanted_since(it, start));
    let bound = |uid: &str| past.pods.values().filter(|it| it.clique == uid).filter(is_bound).count() as u64;
    cliques.into_iter().all(|(uid, it)| bound(uid) >= it.minimum)
}

/// Whether it was so all the time since then.
fn lasts(track: &Track<bool>, start: Instant) -> bool {
    track.at(start).is_some() && track.since(start).all(|it| *it)
}
