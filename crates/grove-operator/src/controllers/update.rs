//! What is seen of an update of a set's pods: for its status, and for those who make and replace pods.

use std::time::Duration;

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    children::{changes_template, clique_patch},
    facts::{Phase, PodFact, index_label, template_hash},
    layout::{place_of, set_name, set_namespace},
    objects,
    pods::may_complete,
    rollout::{self, Pace, TemplateState},
    status::UpdateSeen,
};

use super::{Grove, uid};
use crate::seen::{joined, label};

impl Grove {
    /// Looks at the pods of the set replica that has its turn.
    pub(super) fn update_seen(&self, set: &PodCliqueSet) -> UpdateSeen {
        let held = match self.template_state(set) {
            TemplateState::Held(held) => Some(held.unknown),
            _ => None,
        };
        let refused = self.memory.refused_template(uid(set), &self.noted_hash(set));
        let refused = refused.map(|it| format!("PodClique {}: {}", it.clique, it.message));
        let mut seen = UpdateSeen { held, refused, ..UpdateSeen::default() };
        let Some(turn) = rollout::turn(set) else { return seen };
        let mut cliques = self.seen.cliques.by_set.get(&joined(set_namespace(set), set_name(set)));
        cliques
            .retain(|it| index_label(it.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX) == Some(turn));
        cliques.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        for clique in &cliques {
            seen.waits_for = seen.waits_for.or_else(|| self.held_by(set, clique));
            let hash = template_hash(&clique.metadata);
            for pod in self.seen.pods_of(clique).iter().map(|it| &it.fact) {
                if pod.terminating || pod.hash != hash {
                    continue;
                }
                // Those that come again and again, and fail, are no progress.
                seen.moved = seen.moved.max(pod.ready_since);
                let is_done = pod.phase == Phase::Succeeded && may_complete(clique);
                if !pod.ready && !is_done && seen.waits_for.is_none() {
                    seen.waits_for = Some(words(pod));
                }
            }
        }
        seen.waits_for = seen.waits_for.or_else(|| cliques.iter().find_map(|it| self.refused_words(it)));
        seen
    }

    /// A clique whose pods the API server refuses, and why.
    fn refused_words(&self, clique: &PodClique) -> Option<String> {
        let refusal = self.memory.refusal(uid(clique))?;
        Some(format!(
            "PodClique {}: {}",
            clique.metadata.name.as_deref().unwrap_or_default(),
            refusal.message
        ))
    }

    /// The gang that no pods can be made for, so that those of a clique are not replaced, and why.
    fn held_by(&self, set: &PodCliqueSet, clique: &PodClique) -> Option<String> {
        let name = label(&clique.metadata, labels::POD_GANG)?;
        let gang = self.seen.gangs.cache.get(set_namespace(set), name)?;
        // Right after the start nobody has looked yet.
        let why = self.why_no_pods(set, &gang).filter(|_| !self.is_backend_unknown(set, &gang))?;
        Some(format!("PodGang {name}: {why}"))
    }

    /// The template that a clique does not have yet. Members of a group keep theirs until their replica has its turn, unless
    /// nobody is replaced.
    pub(super) fn awaited_template(&self, set: &PodCliqueSet, clique: &PodClique) -> AwaitedTemplate {
        let pace = rollout::pace(set);
        let is_member = label(&clique.metadata, labels::SCALING_GROUP).is_some();
        let comes_at_once = match pace {
            Pace::Paused => false,
            Pace::OnDelete => true,
            Pace::Rolling => !is_member,
        };
        // Nearly always there has only been one.
        if !comes_at_once || set.metadata.generation == Some(1) {
            return AwaitedTemplate::None;
        }
        let Some(slot) = place_of(set, clique) else { return AwaitedTemplate::None };
        let wanted = objects::clique(self.context(set), &slot, None);
        if !clique_patch(clique, &wanted).as_ref().is_some_and(changes_template) {
            return AwaitedTemplate::None;
        }
        let is_unobserved = self.template_state(set) == TemplateState::Unobserved;
        if is_unobserved {
            let wait = self.unobserved_wait(set);
            return wait.map_or(AwaitedTemplate::Held, |it| AwaitedTemplate::Coming(Some(it)));
        }
        let (of, template) = (self.noted_hash(set), template_hash(&wanted.metadata));
        if pace == Pace::Rolling && self.memory.is_template_refused(uid(set), &of, template) {
            return AwaitedTemplate::Held;
        }
        AwaitedTemplate::Coming(None)
    }
}

/// The template that a clique does not have yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AwaitedTemplate {
    /// It has the one that it should have.
    None,
    /// It is about to get another one: whatever is made or replaced of the one that it has would be old at once. Where nothing wakes it
    /// when that is over: how long that is waited for.
    Coming(Option<Duration>),
    /// Not for now: the API server refuses pods of it, or the change cannot be noted. The clique keeps the one that it has, and pods that
    /// are lost are made of that.
    Held,
}

/// Whether a clique's pods are replaced now. Those of members are the business of their group.
pub(super) fn has_turn(set: &PodCliqueSet, clique: &PodClique) -> bool {
    let replica = index_label(clique.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX);
    label(&clique.metadata, labels::SCALING_GROUP).is_none()
        && replica.is_some()
        && rollout::turn(set) == replica
}

/// A pod that is not ready, and why.
fn words(pod: &PodFact) -> String {
    let why = match &pod.unschedulable {
        _ if pod.phase == Phase::Failed => "failed",
        Some(words) => words.as_str(),
        None if pod.is_gated() => "gated until its gang is complete",
        None if !pod.bound => "not scheduled yet",
        None if pod.awaits_parents => "waiting for the PodCliques before it in the start order",
        None if pod.errored => "a container is failing",
        None if pod.started => "running but not ready",
        None => "starting",
    };
    format!("pod {}: {why}", pod.name)
}
