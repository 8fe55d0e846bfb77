//! An operator never makes a pod with an index that another pod has, of which it knows.

use super::{Broken, Rule};
use crate::past::Past;

/// An operator made a pod, which the past knows already.
pub(crate) fn pod_made(past: &Past, uid: &str) -> Result<(), Broken> {
    let Some((pod, made)) = past.pods.get(uid).and_then(|it| Some((it, it.made?))) else { return Ok(()) };
    let is_known = |it: &crate::past::Pod| it.made.is_some_and(|it| it.process == made.process && it.heard);
    let other = past.pods.iter().find(|(other, it)| {
        *other != uid
            && it.clique == pod.clique
            && it.index == pod.index
            && it.there.now() == Some(&true)
            && it.ended.now() == Some(&false)
            && is_known(it)
    });
    other.map_or(Ok(()), |(_, other)| {
        let words = format!("pod {} has index {:?}, which {} has", pod.name, pod.index, other.name);
        Err(Rule::Indices.broken(words))
    })
}
