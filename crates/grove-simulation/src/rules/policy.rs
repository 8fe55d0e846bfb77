//! A restart policy restarts what failed, and neither more often nor faster than it says.

use super::{
    Broken, SECOND,
    restart::{Note, Unit},
};
use crate::past::{Clique, Past};

/// The operator notes on a clique that its policy restarts it for the `count`th time in a window; the past knows the clique
/// as it was.
pub(crate) fn noted(past: &Past, uid: &str, note: &Note<'_>, count: u64, window: &str) -> Result<(), Broken> {
    let Some(clique) = past.cliques.get(uid) else { return Ok(()) };
    let unit = Unit { clique, scope: note.scope };
    let Some(set) = past.sets.get(&clique.set).filter(|_| !unit.has_begun(past, note)) else { return Ok(()) };
    let (start, broken) = (past.start(), |why: &str| Err(unit.broken(why)));
    let is_its = |scope: &str| scope == note.scope || (scope == "GroupReplica" && clique.group.is_none());
    let Some(policy) = set.policy.since(start).flatten().find(|it| is_its(&it.scope)) else {
        return broken("no policy says so");
    };
    let has_failed = |(_, it): (&String, &crate::past::Pod)| it.failed.had(start, |it| *it);
    let mut members = past.cliques.iter().filter(|(_, it)| it.set == clique.set && unit.has(it));
    if !members.any(|(uid, _)| past.pods_of(uid).any(has_failed)) {
        return broken("nothing of it failed");
    }
    // Where updates do not roll, nobody has a turn.
    let rolls = set.rolls.since(start).all(|it| *it);
    if rolls && set.turn.since(start).all(|it| *it == Some(clique.replica)) {
        return broken("its update has its turn");
    }
    if count > policy.most {
        return broken(&format!("that is the {count}th time, and {} are allowed", policy.most));
    }
    let before = |it: &&Clique| it.counted.now().is_some_and(|it| it.0 + 1 == count && it.1 == window);
    let members = past.cliques.values().filter(|it| it.set == clique.set && unit.has(it));
    // The first note is the decision, and was under way for a while; the others may follow much later.
    let last = members.filter(before).filter_map(|it| it.counted.changed()).min();
    let (waited, pause) = (last.map(|it| it.elapsed()), policy.pause(count.saturating_sub(1)));
    if waited.is_some_and(|it| it + past.trip + SECOND + past.skew < pause) {
        return broken(&format!("{waited:?} have passed since the last time, and not {pause:?}"));
    }
    Ok(())
}
