//! `observedGeneration` is never above the generation that the operator may have seen, and goes back only where it was above the
//! generation: after a restored backup. At rest it is equal, see [`super::rest`].

use grove_apiserver::{Key, Object};

use super::{Broken, Rule};
use crate::{cluster::number, past::Past};

/// The operator wrote to an object.
pub(crate) fn observed(past: &Past, key: &Key, old: Option<&Object>, new: &Object) -> Result<(), Broken> {
    let observed = |it: &Object| number(it, "/status/observedGeneration").unwrap_or_default();
    let generation = number(new, "/metadata/generation").unwrap_or_default();
    let highest = past.generations.get(key).and_then(|it| it.since(past.start()).max().copied());
    let highest = highest.unwrap_or_default().max(generation);
    if observed(new) > highest && old.is_none_or(|it| observed(it) != observed(new)) {
        let words =
            format!("{} has observed generation {}, and {highest} is its last", new.name(), observed(new));
        return Err(Rule::Generation.broken(words));
    }
    let is_back = |old: &Object| observed(old) > observed(new) && observed(old) <= generation;
    if let Some(old) = old.filter(|it| it.uid() == new.uid() && is_back(it)) {
        let words = format!(
            "the observed generation of {} went back from {} to {}",
            new.name(),
            observed(old),
            observed(new)
        );
        return Err(Rule::Generation.broken(words));
    }
    Ok(())
}
