//! A gate is lifted only when the gang is initialised and every clique of it has its minimum.

use super::{Broken, Rule};
use crate::past::Past;

/// The operator lifts the gate of a pod.
pub(crate) fn gate_lifted(past: &Past, uid: &str) -> Result<(), Broken> {
    let Some(pod) = past.pods.get(uid) else { return Ok(()) };
    let start = past.start();
    let Some(gang) = past.gangs.get(&pod.gang) else {
        return Err(Rule::Gates.broken(format!("the gate of {} was lifted, which has no gang", pod.name)));
    };
    if !gang.initialized.had(start, |it| *it) {
        let words = format!("the gate of {} was lifted before gang {} was initialised", pod.name, pod.gang);
        return Err(Rule::Gates.broken(words));
    }
    for (clique, minimum) in &gang.minima {
        let is_member = |it: &&crate::past::Pod| {
            it.gang == pod.gang
                && past.cliques.get(&it.clique).is_some_and(|it| it.name == *clique)
                && it.there.had(start, |it| *it)
        };
        let there = past.pods.values().filter(is_member).count() as u64;
        if there < *minimum {
            let words = format!(
                "the gate of {} was lifted although clique {clique} of gang {} has {there} of at least {minimum} pods",
                pod.name, pod.gang
            );
            return Err(Rule::Gates.broken(words));
        }
    }
    Ok(())
}
