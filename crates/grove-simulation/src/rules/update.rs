//! Updates: one set replica at a time, in it one pod of a clique, or one replica of a scaling group, at a time, and never so
//! that less than the minimum is left. Units that need all their parts miss one.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::{
    Broken, Rule,
    budget::{below, is_surely_ready},
};
use crate::past::{Clique, Past, Pod};

/// The operator deletes a pod of an older template. `others` are the pods of its clique that it may believe to be there.
pub(super) fn outdated_deleted(
    past: &Past,
    pod: &Pod,
    clique: &Clique,
    others: &[&Pod],
) -> Result<(), Broken> {
    let start = past.start();
    let Some(set) = past.sets.get(&clique.set) else { return Ok(()) };
    if !set.rolls.had(start, |it| *it) {
        let words = format!("pod {} of an older template was deleted although updates do not roll", pod.name);
        return Err(Rule::Update.broken(words));
    }
    if pod.bound.had(start, |it| !it) {
        return Ok(());
    }
    if !set.turn.had(start, |it| *it == Some(clique.replica)) {
        let words = format!(
            "pod {} of an older template was deleted in replica {}, while it was the turn of {:?}",
            pod.name,
            clique.replica,
            set.turn.now().copied().flatten()
        );
        return Err(Rule::Update.broken(words));
    }
    if !is_surely_ready(pod, start) {
        return Ok(());
    }
    if let Some((group, replica)) = &clique.group {
        return member_deleted(past, pod, group, *replica);
    }
    let ready = others.iter().filter(|it| it.ready.had(start, |it| *it)).count() as u64;
    let is_enough = clique.replicas.since(start).flatten().any(|it| is_enough(ready, clique.minimum, *it));
    if is_enough { Ok(()) } else { Err(below(pod, clique, ready)) }
}

/// Whether so many are enough while one is replaced.
fn is_enough(left: u64, minimum: u64, wanted: u64) -> bool {
    left >= minimum || (wanted <= minimum && left + 1 >= wanted)
}

/// A pod of a scaling group: the replica that it is in is replaced as a whole.
fn member_deleted(past: &Past, pod: &Pod, group: &str, replica: u64) -> Result<(), Broken> {
    let start = past.start();
    let Some(wanted) = past.groups.get(group) else { return Ok(()) };
    let mut surely: BTreeMap<u64, bool> = BTreeMap::new();
    // By name: one that was deleted and made again is the same one, and one of the two serves.
    let mut possibly: BTreeMap<u64, BTreeMap<&str, bool>> = BTreeMap::new();
    for (uid, clique) in &past.cliques {
        let Some((_, index)) = clique.group.as_ref().filter(|it| it.0 == group) else { continue };
        if !clique.replicas.had(start, Option::is_some) {
            continue;
        }
        let (sure, at_best) = ready(past, uid, start);
        *surely.entry(*index).or_insert(true) &= sure >= clique.minimum;
        *possibly.entry(*index).or_default().entry(&clique.name).or_default() |= at_best >= clique.minimum;
    }
    if surely.get(&replica) != Some(&true) {
        // It serves nobody any more, or may be believed not to.
        return Ok(());
    }
    let serves = |members: &BTreeMap<&str, bool>| members.values().all(|it| *it);
    let left = possibly.iter().filter(|(index, it)| **index != replica && serves(it)).count() as u64;
    if wanted.replicas.since(start).flatten().any(|it| is_enough(left, wanted.minimum, *it)) {
        return Ok(());
    }
    Err(Rule::Budget.broken(format!(
        "ready pod {} was deleted, which takes replica {replica} of group {group} away and leaves {left} of at least {}",
        pod.name, wanted.minimum
    )))
}

/// Pods of a clique that are ready, surely and possibly.
fn ready(past: &Past, clique: &str, start: Instant) -> (u64, u64) {
    let pods = || past.pods_of(clique).filter(|it| !it.1.deleted).map(|it| it.1);
    let sure = pods().filter(|it| it.there.since(start).all(|it| *it) && is_surely_ready(it, start)).count();
    let possible = pods().filter(|it| it.ready.had(start, |it| *it)).count();
    (sure as u64, possible as u64)
}
