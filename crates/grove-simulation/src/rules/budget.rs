//! Ready pods never fall below the minimum by our hand, and nothing that is wanted is deleted.
//!
//! The operator is judged by the best that it may believe: a pod counts as ready if it was so at any time in which the
//! operator's caches may be. What breaks the rule even then, breaks it.

use grove_apiserver::Object;
use tokio::time::Instant;

use super::{Broken, Rule, nodes, quota, update};
use crate::{
    cluster::number,
    past::{Clique, Past, Pod},
};

/// The operator deletes a pod, which is still in the past as it was before.
pub(crate) fn pod_deleted(past: &Past, uid: &str) -> Result<(), Broken> {
    let Some(pod) = past.pods.get(uid) else { return Ok(()) };
    let Some(clique) = past.cliques.get(&pod.clique) else { return Ok(()) };
    let start = past.start();
    if pod.ended.had(start, |it| *it) || may_drop(past, clique) {
        return Ok(());
    }
    if pod.node.now().is_some_and(|it| nodes::is_lost(past, it)) {
        return Ok(());
    }
    if quota::may_release(past, pod, clique) {
        return Ok(());
    }
    let others: Vec<&Pod> = past
        .pods_of(&pod.clique)
        .filter(|(other, it)| *other != uid && !past.knows_deleted(it))
        .map(|it| it.1)
        .collect();
    let replicas = clique.replicas.since(start).flatten().min().copied().unwrap_or_default();
    let is_excess = others.len() as u64 >= replicas;
    let is_double = others.iter().any(|it| it.index == pod.index);
    if clique.restarted.had(start, |it| pod.created < *it) {
        return Ok(());
    }
    let is_surplus = is_excess || is_double;
    let ready = others.iter().filter(|it| it.ready.had(start, |it| *it)).count() as u64;
    if is_surplus && (ready >= clique.minimum || !is_surely_ready(pod, start)) {
        return Ok(());
    }
    // What looks like one too many may be one that the operator knows to be gone: the update had its own reason.
    if clique.hash.had(start, |it| *it != pod.hash) {
        return update::outdated_deleted(past, pod, clique, &others);
    }
    if is_surplus {
        let why = if is_double { "its index was given twice" } else { "there were too many" };
        let mut broken = below(pod, clique, ready);
        let others: Vec<_> = others.iter().map(|it| (&it.name, it.index)).collect();
        let index = pod.index;
        broken.words =
            format!("{} ({why}: {replicas} are wanted, it has {index:?}, others {others:?})", broken.words);
        return Err(broken);
    }
    let words = format!(
        "pod {} (index {:?}) of clique {} was deleted, of which {replicas} pods are wanted and {} would be left",
        pod.name,
        pod.index,
        clique.name,
        others.len()
    );
    Err(Rule::Wanted.broken(words))
}

/// Whether the operator cannot but believe that a pod is ready.
pub(super) fn is_surely_ready(pod: &Pod, start: Instant) -> bool {
    pod.ready.since(start).all(|it| *it)
}

pub(super) fn below(pod: &Pod, clique: &Clique, ready: u64) -> Broken {
    Rule::Budget.broken(format!(
        "ready pod {} of clique {} was deleted, which leaves {ready} of at least {} ready",
        pod.name, clique.name, clique.minimum
    ))
}

/// The operator deletes a clique, which is still in the past as it was before.
pub(crate) fn clique_deleted(past: &Past, uid: &str) -> Result<(), Broken> {
    let Some(clique) = past.cliques.get(uid) else { return Ok(()) };
    if may_drop(past, clique) {
        return Ok(());
    }
    Err(Rule::Wanted.broken(format!("clique {} was deleted, which is wanted", clique.name)))
}

/// The operator deletes a gang or a scaling group. It is wanted for as long as a clique in it is.
pub(crate) fn whole_deleted(past: &Past, name: &str, is_in: impl Fn(&Clique) -> bool) -> Result<(), Broken> {
    let wanted = past.cliques.values().find(|it| is_in(it) && !may_drop(past, it));
    wanted.map_or(Ok(()), |clique| {
        Err(Rule::Wanted.broken(format!("{name} was deleted, of which clique {} is wanted", clique.name)))
    })
}

/// The operator changed a clique or scaling group. How many there are of it is up to users and autoscalers, who do not change
/// their minds about it here by changing the template.
pub(crate) fn resized(old: &Object, new: &Object) -> Result<(), Broken> {
    let replicas = |it: &Object| number(it, "/spec/replicas");
    if replicas(old) == replicas(new) {
        return Ok(());
    }
    let (from, to) = (replicas(old), replicas(new));
    Err(Rule::Wanted.broken(format!("{} was scaled from {from:?} to {to:?}", new.name())))
}

/// Whether the operator may believe that a clique is not wanted.
fn may_drop(past: &Past, clique: &Clique) -> bool {
    let start = past.start();
    clique.replicas.had(start, Option::is_none)
        || past.may_drop_replica(&clique.set, clique.replica)
        || clique.group.as_ref().is_some_and(|(group, replica)| past.may_drop_group_replica(group, *replica))
}
