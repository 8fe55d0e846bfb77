//! Which template is in force: the one that PodCliques, and so pods, are created from.
//!
//! `status.currentGenerationHash` of a set names it. A change of `spec.template` comes into force when its hash is written
//! there, and not while updates are paused.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::wire::{CliqueTemplate, PodClique, PodCliqueSet, SetTemplate};

use super::{Pace, pace};
use crate::{
    children::same_template,
    facts::template_hash,
    hash,
    layout::place_of,
    objects::{self, Context, Mirrored},
};

/// Which template is in force.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateState {
    /// That of the spec: the status names it, or names none yet.
    Current,
    /// The spec has another one than the status names, and what follows from that is not decided yet. Until then nothing
    /// is created, changed or deleted because of it, and nothing is reported.
    Unobserved,
    /// Updates are paused and the spec has another one: the one that the status names stays in force.
    Held(Box<HeldTemplate>),
}

/// What is in force while a changed template is held back.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldTemplate {
    /// The set with the template in force, as far as it makes pods.
    pub set: PodCliqueSet,
    /// Names of clique templates of which nobody knows what is in force. No PodClique is created from them: the template
    /// of the spec would be the one that is held back.
    pub unknown: BTreeSet<String>,
}

/// What the ControllerRevision of the template in force keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeptTemplate<'a> {
    /// It exists and was not read yet.
    Unread,
    /// There is none (templates over 1 MiB are not kept), or it keeps no template.
    Missing,
    /// The template.
    Read(&'a SetTemplate),
}

/// What is known of a set's template.
#[derive(Clone, Copy, Debug)]
pub struct TemplateSeen<'a> {
    /// The set, with every default filled in.
    pub set: &'a PodCliqueSet,
    /// Hash of the template in its spec.
    pub hash: &'a str,
    /// What is kept of the template that its status names.
    pub kept: KeptTemplate<'a>,
    /// Its PodCliques.
    pub cliques: &'a [&'a PodClique],
}

impl TemplateState {
    /// The set that PodCliques are created from; `None` where nobody acts yet.
    pub fn set_in_force<'a>(&'a self, set: &'a PodCliqueSet) -> Option<&'a PodCliqueSet> {
        match self {
            Self::Current => Some(set),
            Self::Unobserved => None,
            Self::Held(held) => Some(&held.set),
        }
    }

    /// Names of clique templates that nothing is created from.
    pub fn unknown(&self) -> Option<&BTreeSet<String>> {
        match self {
            Self::Held(held) => Some(&held.unknown),
            _ => None,
        }
    }
}

/// The hash of the template that a set's status names.
pub fn noted_hash(set: &PodCliqueSet) -> Option<&str> {
    set.status.as_ref().and_then(|it| it.current_generation_hash.as_deref())
}

/// Which template is in force. `is_shown` tells whether the PodCliques show that the spec's is the one that the status
/// names ([`cliques_show`]): hashes of upstream Grove, and of other versions of ours, cannot be compared.
pub fn template_state(seen: &TemplateSeen<'_>, is_shown: impl FnOnce() -> bool) -> TemplateState {
    let Some(noted) = noted_hash(seen.set).filter(|it| *it != seen.hash) else {
        return TemplateState::Current;
    };
    if pace(seen.set) != Pace::Paused {
        return if is_shown() { TemplateState::Current } else { TemplateState::Unobserved };
    }
    match seen.kept {
        KeptTemplate::Unread => TemplateState::Unobserved,
        KeptTemplate::Read(kept) if hash::template(kept) == seen.hash => TemplateState::Current,
        KeptTemplate::Read(kept) => TemplateState::Held(Box::new(in_force(seen, noted, Some(kept)))),
        KeptTemplate::Missing if is_shown() => TemplateState::Current,
        KeptTemplate::Missing => TemplateState::Held(Box::new(in_force(seen, noted, None))),
    }
}

/// Whether there are PodCliques of every clique template of the spec, and each is what that says and has noted that it is of
/// the template `noted`. One that has noted nothing yet proves nothing: a template that was changed, and set back before it
/// reached anything, is not the one that the status names. Nor does a template without PodCliques: it may be what changed.
pub fn cliques_show(context: Context<'_>, noted: &str, cliques: &[&PodClique]) -> bool {
    let mut missing: BTreeSet<&str> =
        context.set.spec.template.cliques.iter().map(|it| it.name.as_str()).collect();
    for clique in cliques {
        let Some(place) = place_of(context.set, clique) else { continue };
        if hash_noted_by(clique) != Some(noted)
            || !same_template(clique, &objects::clique(context, &place, None))
        {
            return false;
        }
        missing.remove(place.template.name.as_str());
    }
    missing.is_empty()
}

/// The set with the template in force: as its revision keeps it, else as a PodClique of it has it.
fn in_force(seen: &TemplateSeen<'_>, noted: &str, kept: Option<&SetTemplate>) -> HeldTemplate {
    let mut by_name: BTreeMap<&str, &PodClique> = BTreeMap::new();
    for clique in seen.cliques.iter().filter(|it| hash_noted_by(it) == Some(noted) && has_noted_template(it))
    {
        if let Some(place) = place_of(seen.set, clique) {
            by_name.insert(place.template.name.as_str(), clique);
        }
    }
    let mut set = seen.set.clone();
    let mut unknown = BTreeSet::new();
    for template in &mut set.spec.template.cliques {
        let kept = kept.and_then(|it| it.clique(&template.name)).cloned();
        let copied =
            || by_name.get(template.name.as_str()).map(|it| objects::template_of(it, &keys(template)));
        let Some(used) = kept.or_else(copied) else {
            unknown.insert(template.name.clone());
            continue;
        };
        template.labels = used.labels;
        template.annotations = used.annotations;
        template.spec.pod_spec = used.spec.pod_spec;
    }
    HeldTemplate { set, unknown }
}

fn hash_noted_by(clique: &PodClique) -> Option<&str> {
    clique.status.as_ref().and_then(|it| it.current_pod_clique_set_generation_hash.as_deref())
}

/// Whether a PodClique still has the template that it had when it noted which one it has.
pub fn has_noted_template(clique: &PodClique) -> bool {
    clique.status.as_ref().is_some_and(|it| {
        it.current_pod_clique_set_generation_hash.is_some()
            && it.current_pod_template_hash.as_deref().unwrap_or_default() == template_hash(&clique.metadata)
    })
}

fn keys(template: &CliqueTemplate) -> Mirrored {
    Mirrored {
        labels: template.labels.keys().cloned().collect(),
        annotations: template.annotations.keys().cloned().collect(),
    }
}

#[cfg(test)]
mod tests;
