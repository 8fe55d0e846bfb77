//! Updates: one set replica at a time, in it one pod of a clique, or one replica of a scaling group, at a time, and never so
//! that less than the minimum is left. Units that need all their parts miss one.

use std::collections::BTreeMap;

use grove_apiserver::Object;
use tokio::time::Instant;

use super::{
    Broken, Rule,
    budget::{below, is_surely_ready},
};
use crate::past::{Clique, Past, Pod, Set};

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

/// Whether a set says that its update is over.
pub(crate) fn is_over(set: &Object) -> bool {
    set.field("/status/updateProgress/updateEndedAt").is_some()
}

/// The operator says for the first time that an update of `set` is over; the past knows the set as it was. Nothing old is left
/// then, and the replica that had the last turn has its minimum.
pub(crate) fn ended(past: &Past, set: &Object) -> Result<(), Broken> {
    let (start, name) = (past.start(), set.name());
    let Some(known) = past.sets.get(name).filter(|it| it.rolls.since(start).all(|it| *it)) else {
        return Ok(());
    };
    let broken =
        |why: String| Err(Rule::Update.broken(format!("set {name} says that its update is over, and {why}")));
    let of_set = || past.cliques.iter().filter(|(_, it)| it.set == name && is_surely_wanted(past, known, it));
    for (uid, clique) in of_set() {
        let Some(image) = image(set, &clique.name) else { continue };
        let mut surely = past.pods_of(uid).filter(|(_, it)| it.there.since(start).all(|it| *it));
        if let Some((_, pod)) = surely.find(|(_, it)| it.image != image && !it.deleted) {
            return broken(format!("pod {} has image {} and not {image}", pod.name, pod.image));
        }
    }
    let last = known.turn.now().copied().flatten();
    let may_serve = |it: &Clique| it.serves.had(start, |it| *it);
    let mut standalone = of_set().filter(|(_, it)| it.group.is_none() && Some(it.replica) == last);
    if let Some((_, clique)) = standalone.find(|(_, it)| !may_serve(it)) {
        return broken(format!("{} has not had its minimum for long", clique.name));
    }
    // Replicas of groups by name: a clique that was deleted and made again is the same one, and one of the two serves. Also one
    // that somebody may not want may serve.
    let mut groups: BTreeMap<&str, BTreeMap<u64, BTreeMap<&str, bool>>> = BTreeMap::new();
    let stays = |it: u64| known.replicas.since(start).all(|wanted| wanted.is_some_and(|wanted| wanted > it));
    let last = last.filter(|it| stays(*it));
    for clique in past.cliques.values().filter(|it| it.set == name && Some(it.replica) == last) {
        let Some((group, index)) = &clique.group else { continue };
        let members = groups.entry(group).or_default().entry(*index).or_default();
        *members.entry(&clique.name).or_default() |= may_serve(clique);
    }
    for (group, replicas) in groups {
        let serving = replicas.values().filter(|it| it.values().all(|it| *it)).count() as u64;
        let minimum = past.groups.get(group).map_or(0, |it| it.minimum);
        if serving < minimum {
            return broken(format!(
                "group {group} has not had more than {serving} of {minimum} replicas for long"
            ));
        }
    }
    Ok(())
}

/// Whether the operator has to believe that a clique is wanted.
fn is_surely_wanted(past: &Past, set: &Set, clique: &Clique) -> bool {
    let start = past.start();
    let is_in = |wanted: &Option<u64>, index: u64| wanted.is_some_and(|it| it > index);
    clique.replicas.since(start).all(Option::is_some)
        && set.replicas.since(start).all(|it| is_in(it, clique.replica))
        && clique.group.as_ref().is_none_or(|(group, index)| {
            past.groups.get(group).is_some_and(|it| it.replicas.since(start).all(|it| is_in(it, *index)))
        })
}

/// The image of a clique's role, as its set wants it.
fn image<'a>(set: &'a Object, clique: &str) -> Option<&'a str> {
    let roles = set.field("/spec/template/cliques")?.as_array()?;
    let is_its = |role: &str| clique.strip_suffix(role).is_some_and(|it| it.ends_with('-'));
    let role = roles.iter().find(|it| it["name"].as_str().is_some_and(is_its))?;
    role.pointer("/spec/podSpec/containers/0/image")?.as_str()
}
