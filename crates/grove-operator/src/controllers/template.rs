//! Which template of a set is in force, from the caches and from the revision that keeps it.

use std::{sync::Arc, time::Duration};

use grove_api::{
    names,
    wire::{PodClique, PodCliqueSet, SetTemplate},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    children::clique_patch,
    hash,
    layout::{place_of, set_name, set_namespace},
    objects,
    rollout::{self, KeptTemplate, Pace, TemplateSeen, TemplateState, cliques_show},
};
use k8s_openapi::api::apps::v1::ControllerRevision;
use tracing::{info, warn};

use super::{Grove, uid};
use crate::{
    error::Error,
    key::{Key, StatusKey},
    memory::ReadTemplate,
    seen::joined,
};

/// How long repairs and recovery wait for a changed template that is not noted yet.
const UNOBSERVED_AT_MOST: Duration = Duration::from_mins(1);

impl Grove {
    /// Which template of a set is in force.
    pub(super) fn template_state(&self, set: &PodCliqueSet) -> TemplateState {
        let hash = self.spec_hash(set);
        let Some(noted) = rollout::noted_hash(set).filter(|it| *it != hash) else {
            return TemplateState::Current;
        };
        let id = uid(set);
        let mut cliques = self.seen.cliques.by_set.get(&joined(set_namespace(set), set_name(set)));
        // What merely has the labels of the set shows nothing.
        cliques.retain(|it| {
            self.seen.set_of(&it.metadata).is_some_and(|of| of.metadata.uid == set.metadata.uid)
        });
        let cliques: Vec<&PodClique> = cliques.iter().map(Arc::as_ref).collect();
        let read = self.memory.kept_template(id, noted);
        let kept = match &read {
            ReadTemplate::Unread => KeptTemplate::Unread,
            ReadTemplate::Missing => KeptTemplate::Missing,
            ReadTemplate::Read(template) => KeptTemplate::Read(template),
        };
        let seen = TemplateSeen { set, hash: &hash, kept, cliques: &cliques };
        rollout::template_state(&seen, || {
            let show = || cliques_show(self.context(set), noted, &cliques);
            self.memory.is_shown(id, set.metadata.generation, noted, show)
        })
    }

    /// How long repairs and recovery wait for a changed template that is not noted yet: its update comes first, it may be the cure.
    /// Where it cannot be noted, for whatever reason, they go on with the template that there is. `None`: they do not wait.
    pub(super) fn unobserved_wait(&self, set: &PodCliqueSet) -> Option<Duration> {
        if rollout::pace(set) == Pace::Paused || self.template_state(set) != TemplateState::Unobserved {
            self.memory.forget_unobserved(uid(set));
            return None;
        }
        let since = self.memory.unobserved_for(uid(set), &self.spec_hash(set));
        UNOBSERVED_AT_MOST.checked_sub(since).filter(|it| !it.is_zero())
    }

    /// Hash of the template in the spec of a set.
    pub(super) fn spec_hash(&self, set: &PodCliqueSet) -> String {
        self.memory.spec_hash(uid(set), set.metadata.generation, || hash::generation(set))
    }

    /// Hash of the template in force.
    pub(super) fn noted_hash(&self, set: &PodCliqueSet) -> String {
        rollout::noted_hash(set).map_or_else(|| self.spec_hash(set), str::to_owned)
    }

    /// Whether a PodClique is what the template in force says.
    pub(super) fn is_in_force(&self, set: &PodCliqueSet, clique: &PodClique) -> bool {
        let state = self.template_state(set);
        let Some(of) = state.set_in_force(set) else { return false };
        let Some(place) = place_of(of, clique) else { return false };
        let is_unknown = state.unknown().is_some_and(|it| it.contains(&place.template.name));
        !is_unknown && clique_patch(clique, &objects::clique(self.context(of), &place, None)).is_none()
    }

    /// Reads the template in force from its revision where the set's spec has another one and updates are paused. The
    /// cache has revisions without their templates.
    pub(super) async fn read_kept_template(&self, set: &PodCliqueSet) -> Result<(), Error> {
        let (id, hash) = (uid(set), self.spec_hash(set));
        let is_paused = rollout::pace(set) == Pace::Paused;
        let Some(noted) = rollout::noted_hash(set).filter(|it| is_paused && *it != hash) else {
            self.memory.forget_kept_template(id);
            return Ok(());
        };
        let (namespace, name) = (set_namespace(set), names::revision(set_name(set), noted));
        let cached = self.seen.revisions.cache.get(namespace, &name);
        let revision = cached.as_ref().map(|it| uid(it.as_ref()));
        if self.memory.has_read_template(id, noted, revision) {
            return Ok(());
        }
        let template = match self.writer.get::<ControllerRevision>(namespace, &name).await {
            Ok(revision) => revision.and_then(|it| kept_by(&it, &OwnerKey::of(set))),
            Err(error) if error.is_refusal() => {
                warn!(set = ?Key::of(set), revision = name, %error, "failed to read the template in force");
                None
            }
            Err(error) => return Err(error.into()),
        };
        info!(set = ?Key::of(set), revision = name, kept = template.is_some(), "template held back, updates are paused");
        self.memory.read_template(id, noted, revision, template.map(Arc::new));
        // They did nothing before this was known.
        self.wake_turns(set);
        self.queues.report(StatusKey::Set(Key::of(set)));
        Ok(())
    }
}

/// The template that a revision of this set keeps.
fn kept_by(revision: &ControllerRevision, set: &OwnerKey) -> Option<SetTemplate> {
    let template = objects::kept_template(revision).filter(|_| set.controls(&revision.metadata))?;
    serde_json::from_value(template).ok()
}
