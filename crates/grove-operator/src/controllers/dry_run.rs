//! Before an update changes a PodClique or deletes the first pod of an old template, a pod of the new template is created as a dry
//! run.

use std::{collections::BTreeSet, time::Duration};

use grove_api::{
    constants::{events::pod_clique as reasons, labels},
    names,
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    facts::template_hash,
    objects::{self, Start},
    rollout::refuses_template,
    topology::Spread,
};
use grove_runtime::EventKind;
use k8s_openapi::api::core::v1::Pod;
use tracing::warn;

use super::{Grove, clique::without_suffix, start_order::parents_of, uid};
use crate::{
    key::{Key, StatusKey},
    memory::{Replacement, TemplateRefusal},
    seen::{PodView, label},
};

/// How soon to look again while somebody else asks.
const UNDER_WAY: Duration = Duration::from_secs(1);

/// Whether pods may be replaced by those that a PodClique makes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MayReplace {
    Yes,
    /// The API server refuses them, or is just being asked. This is how long to wait.
    No(Duration),
    /// The API server was asked. What was planned before that is to be planned again.
    Asked,
}

/// What the API server says of changed templates.
#[derive(Default)]
pub(super) struct TemplateAnswers {
    /// Whether it was asked just now. What was planned before that is to be planned again.
    pub(super) is_new: bool,
    /// Hashes of those that it refuses, is just being asked about by somebody else, or cannot be asked about.
    pub(super) refused: BTreeSet<String>,
    /// When to ask about those again.
    pub(super) retry: Option<Duration>,
}

impl Grove {
    /// Asks the API server about the templates of PodCliques as they will be.
    pub(super) async fn try_templates(&self, set: &PodCliqueSet, cliques: &[PodClique]) -> TemplateAnswers {
        let mut answers = TemplateAnswers::default();
        for clique in cliques {
            let wait = match self.may_try(set, clique) {
                Err(wait) => wait,
                Ok(()) => match self.may_replace(set, clique).await {
                    MayReplace::Yes => continue,
                    MayReplace::Asked => {
                        answers.is_new = true;
                        continue;
                    }
                    MayReplace::No(wait) => Some(wait),
                },
            };
            answers.refused.insert(template_hash(&clique.metadata).to_owned());
            answers.retry = answers.retry.into_iter().chain(wait).min();
        }
        answers
    }

    /// Whether a pod of a PodClique could be made at all: only its scheduler's backend can say what it is like. A backend that gets
    /// ready wakes the set; where the gang is missing, this is how long to wait for it.
    fn may_try(&self, set: &PodCliqueSet, clique: &PodClique) -> Result<(), Option<Duration>> {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        let gang = self.seen.gangs.cache.get(namespace, gang).ok_or(Some(UNDER_WAY))?;
        self.backend_of(set, &gang).1.map(drop).map_err(|_| None)
    }

    /// Whether pods may be replaced by those of `clique`. The API server is asked once for each template.
    pub(super) async fn may_replace(&self, set: &PodCliqueSet, clique: &PodClique) -> MayReplace {
        let (of, template) = (self.noted_hash(set), template_hash(&clique.metadata));
        match self.memory.replacement(uid(set), &of, template) {
            Replacement::Accepted => MayReplace::Yes,
            Replacement::Refused(wait) => MayReplace::No(wait),
            Replacement::Asking => MayReplace::No(UNDER_WAY),
            Replacement::Ask => {
                let under_way = self.memory.dry_run(uid(set), &of, template);
                let refusal = self.refusal_of(set, clique).await;
                let is_accepted = refusal.is_none();
                let is_news = under_way.ended(refusal.clone());
                if let Some(refusal) = refusal.filter(|_| is_news) {
                    warn!(clique = ?Key::of(clique), reason = refusal.message, "new pods are refused, none is replaced");
                    let (kind, reason) = (EventKind::Warning, reasons::POD_CREATE_FAILED);
                    self.tell(clique, kind, reason, "DryRunPod", refusal.message);
                }
                if is_news {
                    self.queues.report(StatusKey::Set(Key::of(set)));
                }
                // Others may have been told to wait, and PodCliques that keep their template make what they miss.
                if is_accepted || is_news {
                    self.queues.sets.add(Key::of(set));
                    self.wake_turns(set);
                }
                MayReplace::Asked
            }
        }
    }

    /// Why the API server would refuse pods of a PodClique, if it would.
    async fn refusal_of(&self, set: &PodCliqueSet, clique: &PodClique) -> Option<TemplateRefusal> {
        let name = clique.metadata.name.as_deref().unwrap_or_default();
        let refusal = |message: String| TemplateRefusal { clique: name.to_owned(), message };
        let pod = match self.pod_to_try(set, clique) {
            Ok(pod) => pod?,
            Err(words) => return Some(refusal(words)),
        };
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let error = self.writer.dry_run_create::<PodView>(namespace, &pod).await.err()?;
        let message = error.message();
        let code = error.answer().map_or(0, |it| it.code);
        refuses_template(code, &message).then(|| refusal(without_suffix(&message, &names::pod_prefix(name))))
    }

    /// The first pod of a PodClique, as it would be created.
    fn pod_to_try(&self, set: &PodCliqueSet, clique: &PodClique) -> Result<Option<Pod>, String> {
        let Some(parents) = parents_of(set, clique) else { return Ok(None) };
        let start = Start { image: &self.init_image, parents: &parents, may_start: false };
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        let gang = self.seen.gangs.cache.get(namespace, gang);
        let spread = gang.as_deref().and_then(Spread::noted);
        let name = set.metadata.name.as_deref().unwrap_or_default();
        let Some(mut pod) = objects::pod(name, clique, 0, start, spread) else { return Ok(None) };
        let outfitter = self.outfitter(set, clique)?;
        self.prepare(&outfitter, std::slice::from_mut(&mut pod))?;
        Ok(Some(pod))
    }
}
