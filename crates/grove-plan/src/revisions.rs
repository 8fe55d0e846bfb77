//! History: which templates of a set are kept, and with which numbers.
//!
//! A template is kept when it comes into use. One that comes back gets the next number instead of a second object. What is
//! kept is for people who want to go back, and for PodCliques that are created while updates are paused.

use std::cmp::Reverse;

use grove_api::{names, wire::PodCliqueSet};
use grove_ownership::OwnerKey;
use k8s_openapi::api::apps::v1::ControllerRevision;

use crate::{layout::set_name, objects};

/// How many are kept, that in use among them.
pub const KEPT: usize = 10;
/// Bytes of a template that is kept. A larger one might be more than an API server takes, and a set must not suffer for
/// its history.
const LARGEST: usize = 1 << 20;

/// What to do about one of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Keep the template.
    Create(Box<ControllerRevision>),
    /// It is in use again: it gets the highest number.
    Raise {
        /// Name.
        name: String,
        /// Its new number.
        number: i64,
    },
    /// There are newer ones enough.
    Delete {
        /// Name.
        name: String,
        /// The very object that was seen.
        uid: String,
    },
}

/// What to do so that the template in force, of this generation hash, is kept and has the highest number.
///
/// `set` has that template, if it `is_known`: while updates are paused, nobody may know all of it. `seen` is what the set
/// owns, and whatever has the name.
pub fn plan(set: &PodCliqueSet, hash: &str, seen: &[&ControllerRevision], is_known: bool) -> Vec<Step> {
    let owner = OwnerKey::of(set);
    let name = names::revision(set_name(set), hash);
    let is_used = |it: &ControllerRevision| it.metadata.name.as_ref() == Some(&name);
    let used = seen.iter().find(|it| is_used(it));
    let mut others: Vec<&ControllerRevision> = seen
        .iter()
        .copied()
        .filter(|it| !is_used(it) && owner.controls(&it.metadata))
        .filter(|it| it.metadata.deletion_timestamp.is_none())
        .collect();
    others.sort_by_key(|it| Reverse(number_of(it)));
    let last = others.first().map_or(0, |it| number_of(it));
    let next = last.saturating_add(1);

    let mut steps = Vec::new();
    match used {
        Some(it) if !owner.controls(&it.metadata) || it.metadata.deletion_timestamp.is_some() => {
            // Somebody else's, or of an earlier life of the set and on its way out: then its end wakes us.
        }
        Some(it) if number_of(it) > last => {}
        Some(_) => steps.push(Step::Raise { name, number: next }),
        None if is_known => {
            let revision = objects::revision(set, hash, next);
            if revision.data.0.to_string().len() <= LARGEST {
                steps.push(Step::Create(Box::new(revision)));
            }
        }
        None => {}
    }
    let old = others.iter().skip(KEPT - 1).rev();
    steps.extend(old.filter_map(|it| {
        Some(Step::Delete { name: it.metadata.name.clone()?, uid: it.metadata.uid.clone()? })
    }));
    steps
}

/// The number of a revision.
pub fn number_of(revision: &ControllerRevision) -> i64 {
    revision.revision.unwrap_or_default()
}

#[cfg(test)]
mod tests;
