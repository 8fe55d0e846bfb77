//! A unit is restarted as a whole only if it has been below its minimum for as long as its set allows.
//!
//! The operator notices late that a unit is below its minimum, never early: what it goes by began when that began, or later. A
//! short time in which the unit served may pass it by; one that is longer than its caches are old may not.
//!
//! What was so before a restored backup is taken back with it: the unit was below its minimum for as long as the backup says.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

use super::{Broken, Rule, SECOND};
use crate::{
    clock,
    past::{Clique, Past},
};

/// How long after it knows something the operator has written it down.
const WRITING: Duration = Duration::from_secs(5);

/// How long a breach has to be seen that was there when a restored backup was made: kubelets report again what is so now.
const CONFIRMED: Duration = Duration::from_mins(1);

/// A scaling group, and a replica of it.
type Replica = (String, u64);

/// What is noted on a clique.
pub(crate) struct Note<'a> {
    /// Pods from before this time have to go.
    pub(crate) before: &'a str,
    /// How much is restarted together.
    pub(crate) scope: &'a str,
}

/// The operator notes on a clique that it is restarted; the past knows the clique as it was. `absence` is the longest time for
/// which there was no operator.
pub(crate) fn noted(past: &Past, uid: &str, note: &Note<'_>, absence: Duration) -> Result<(), Broken> {
    let Some(clique) = past.cliques.get(uid) else { return Ok(()) };
    let unit = Unit { clique, scope: note.scope };
    let set = past.sets.get(&clique.set);
    if unit.has_begun(past, note) || set.is_none() {
        return Ok(());
    }
    let broken = |why: String| Err(unit.broken(&why));
    let Some(delay) = set.and_then(|it| it.termination_delay) else {
        return broken("nothing of its set ever is".to_owned());
    };
    let bound = past.staleness + absence + WRITING;
    let since = unit.below_since(past, bound);
    let lasted = since.map_or_else(clock::elapsed, |it| it.elapsed());
    if lasted + SECOND + past.skew >= delay {
        return Ok(());
    }
    // What was written before a restored backup was made says since when. It has to be seen for a while.
    let jumped = past.jumped.filter(|jumped| since.is_none_or(|it| it <= *jumped));
    if jumped.is_some_and(|it| it.elapsed() + SECOND >= CONFIRMED) {
        return Ok(());
    }
    broken(format!("it was below its minimum for {lasted:.1?} and not for {delay:?}"))
}

/// What is restarted together, as the clique of it that has the note.
pub(super) struct Unit<'a> {
    pub(super) clique: &'a Clique,
    pub(super) scope: &'a str,
}

impl Unit<'_> {
    /// Whether a restart was decided on before: the first note is the decision, the others follow from it.
    pub(super) fn has_begun(&self, past: &Past, note: &Note<'_>) -> bool {
        past.cliques.values().any(|it| self.has(it) && it.restarted.ever(|it| it == note.before))
    }

    pub(super) fn has(&self, other: &Clique) -> bool {
        match self.scope {
            "SetReplica" => other.set == self.clique.set && other.replica == self.clique.replica,
            "GroupReplica" if self.clique.group.is_some() => other.group == self.clique.group,
            _ => other.name == self.clique.name,
        }
    }

    pub(super) fn broken(&self, why: &str) -> Broken {
        let words = format!("the {} of clique {} was restarted although {why}", self.scope, self.clique.name);
        Rule::Restart.broken(words)
    }

    /// Since when it cannot but be believed to be below its minimum: times in which it served for no longer than `bound` may
    /// have been overlooked. `None` where it never served for longer.
    fn below_since(&self, past: &Past, bound: Duration) -> Option<Instant> {
        let members: Vec<&Clique> = past.cliques.values().filter(|it| self.has(it)).collect();
        let times: BTreeSet<Instant> = members.iter().flat_map(|it| it.serves.times()).collect();
        let mut ended = None;
        let mut serving: Option<Instant> = None;
        for time in times {
            match (self.serves(past, &members, time), serving) {
                (true, None) => serving = Some(time),
                (false, Some(began)) => {
                    if time.duration_since(began) > bound {
                        ended = Some(time);
                    }
                    serving = None;
                }
                _ => {}
            }
        }
        let now = Instant::now();
        serving.filter(|it| now.duration_since(*it) > bound).map(|_| now).or(ended)
    }

    /// Whether it had all its minima then: of its cliques, and of the replicas of each group where it has groups.
    fn serves(&self, past: &Past, members: &[&Clique], time: Instant) -> bool {
        // One that was deleted and made again is the same one.
        let mut cliques: BTreeMap<(Option<&Replica>, &str), bool> = BTreeMap::new();
        for clique in members {
            let serves = clique.serves.at(time) == Some(&true);
            *cliques.entry((clique.group.as_ref(), clique.name.as_str())).or_default() |= serves;
        }
        let mut replicas: BTreeMap<&Replica, bool> = BTreeMap::new();
        for (&(group, _), &serves) in &cliques {
            match group {
                Some(replica) => *replicas.entry(replica).or_insert(true) &= serves,
                None if !serves => return false,
                None => {}
            }
        }
        if self.scope == "GroupReplica" {
            return replicas.values().all(|it| *it);
        }
        let mut groups: BTreeMap<&str, u64> = BTreeMap::new();
        for ((group, _), serves) in replicas {
            *groups.entry(group.as_str()).or_default() += u64::from(serves);
        }
        groups.iter().all(|(group, count)| past.groups.get(*group).is_some_and(|it| *count >= it.minimum))
    }
}
