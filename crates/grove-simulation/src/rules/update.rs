//! Updates: one set replica at a time, in it one pod of a clique, or one replica of a scaling group, at a time, and never so
//! that less than the minimum is left. Units that need all their parts miss one.

use std::collections::BTreeMap;

use grove_apiserver::Object;
use tokio::time::Instant;

use super::{
    Broken, Rule,
    budget::{below, is_surely_ready},
};
use crate::{
    cluster::{number, text},
    past::{Clique, Past, Pod, Set},
};

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
    if pod.node.had(start, String::is_empty) {
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
    let pods = || past.pods_of(clique).map(|it| it.1);
    let is_sure = |it: &&Pod| {
        !past.knows_deleted(it) && it.there.since(start).all(|it| *it) && is_surely_ready(it, start)
    };
    // One that ended is taken away by its clique. Its group may have decided before that was known, and requests overtake each
    // other.
    let sent = Instant::now().checked_sub(past.trip).unwrap_or(start);
    let is_overtaken = |it: &Pod| it.ended.now() == Some(&true) && it.there.had(sent, |it| *it);
    let is_possible =
        |it: &&Pod| (!past.knows_deleted(it) || is_overtaken(it)) && it.ready.had(start, |it| *it);
    let (sure, possible) = (pods().filter(is_sure).count(), pods().filter(is_possible).count());
    (sure as u64, possible as u64)
}

/// Whether a set says that its update is over.
pub(crate) fn is_over(set: &Object) -> bool {
    set.field("/status/updateProgress/updateEndedAt").is_some()
}

/// The replica whose turn ended without an end of the update.
pub(crate) fn handed_over(old: &Object, new: &Object) -> Option<u64> {
    let turn = |it: &Object| number(it, "/status/updateProgress/currentlyUpdating/0/replicaIndex");
    let begun = |it: &Object| text(it, "/status/updateProgress/updateStartedAt").to_owned();
    let is_same = begun(old) == begun(new) && !is_over(new);
    turn(old).filter(|it| is_same && turn(new).is_some_and(|now| now != *it))
}

/// The operator says for the first time that an update of `set` is over; the past knows the set as it was. Nothing old is left
/// then, and the replica that had the last turn has its minimum.
pub(crate) fn ended(past: &Past, set: &Object) -> Result<(), Broken> {
    let Some(known) = rolling(past, set) else { return Ok(()) };
    let what = format!("set {} says that its update is over", set.name());
    nothing_old(past, set, |_| true, &what)?;
    known.turn.now().copied().flatten().map_or(Ok(()), |last| has_minimum(past, known, set, last, &what))
}

/// The operator gives the turn of `replica` to another one. It is new and has its minimum.
pub(crate) fn turn_ended(past: &Past, set: &Object, replica: u64) -> Result<(), Broken> {
    let Some(known) = rolling(past, set) else { return Ok(()) };
    let what = format!("set {} says that the turn of replica {replica} is over", set.name());
    nothing_old(past, set, |it| it.replica == replica, &what)?;
    has_minimum(past, known, set, replica, &what)
}

/// What is known of a set whose changes cannot but be believed to reach its pods.
fn rolling<'a>(past: &'a Past, set: &Object) -> Option<&'a Set> {
    let start = past.start();
    past.sets.get(set.name()).filter(|it| it.rolls.since(start).all(|it| *it))
}

/// No pod of another image is left in some cliques.
fn nothing_old(
    past: &Past,
    set: &Object,
    is_meant: impl Fn(&Clique) -> bool,
    what: &str,
) -> Result<(), Broken> {
    let (start, name) = (past.start(), set.name());
    let of_set = past.cliques.iter().filter(|(_, it)| it.set == name && past.wanted_since(it, start));
    for (uid, clique) in of_set.filter(|(_, it)| is_meant(it)) {
        let Some(image) = image(set, &clique.name) else { continue };
        let mut surely = past.pods_of(uid).filter(|(_, it)| it.there.since(start).all(|it| *it));
        if let Some((_, pod)) = surely.find(|(_, it)| it.image != image && !past.knows_deleted(it)) {
            let words = format!("{what}, and pod {} has image {} and not {image}", pod.name, pod.image);
            return Err(Rule::Update.broken(words));
        }
    }
    Ok(())
}

/// Every part of a replica has its minimum, or may be believed to.
fn has_minimum(past: &Past, known: &Set, set: &Object, replica: u64, what: &str) -> Result<(), Broken> {
    let (start, name) = (past.start(), set.name());
    let broken = |why: String| Err(Rule::Update.broken(format!("{what}, and {why}")));
    let of_replica = || past.cliques.values().filter(|it| it.set == name && it.replica == replica);
    let may_serve = |it: &Clique| it.serves.had(start, |it| *it);
    let is_alone = |it: &&Clique| it.group.is_none() && past.wanted_since(it, start);
    if let Some(clique) = of_replica().filter(is_alone).find(|it| !may_serve(it)) {
        return broken(format!("{} has not had its minimum for long", clique.name));
    }
    if !known.replicas.since(start).all(|wanted| wanted.is_some_and(|wanted| wanted > replica)) {
        return Ok(());
    }
    // Replicas of groups by name: a clique that was deleted and made again is the same one, and one of the two serves. Also one
    // that somebody may not want may serve.
    let mut groups: BTreeMap<&str, BTreeMap<u64, BTreeMap<&str, bool>>> = BTreeMap::new();
    for clique in of_replica() {
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

/// The image of a clique's role, as its set wants it.
fn image<'a>(set: &'a Object, clique: &str) -> Option<&'a str> {
    let roles = set.field("/spec/template/cliques")?.as_array()?;
    let is_its = |role: &str| clique.strip_suffix(role).is_some_and(|it| it.ends_with('-'));
    let role = roles.iter().find(|it| it["name"].as_str().is_some_and(is_its))?;
    role.pointer("/spec/podSpec/containers/0/image")?.as_str()
}
