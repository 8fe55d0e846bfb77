//! What is seen of an update of a set's pods: for its status, and for those who make and replace pods.

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    children::{changes_template, clique_patch},
    facts::{PodFact, index_label, template_hash},
    layout::{set_name, set_namespace},
    objects,
    rollout::{self, Pace},
    status::UpdateSeen,
};

use super::{Grove, set::place_of, uid};
use crate::seen::{joined, label};

impl Grove {
    /// Looks at the pods of the set replica that has its turn.
    pub(super) fn update_seen(&self, set: &PodCliqueSet) -> UpdateSeen {
        let mut seen = UpdateSeen { is_held: self.is_held(set), ..UpdateSeen::default() };
        let Some(turn) = rollout::turn(set) else { return seen };
        let mut cliques = self.seen.cliques.by_set.get(&joined(set_namespace(set), set_name(set)));
        cliques
            .retain(|it| index_label(it.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX) == Some(turn));
        cliques.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        for clique in &cliques {
            let hash = template_hash(&clique.metadata);
            for pod in self.seen.pods_of(uid(clique.as_ref())).iter().map(|it| &it.fact) {
                seen.moved = seen.moved.max(Some(pod.created));
                if pod.is_live() && pod.hash == hash && !pod.ready && seen.waits_for.is_none() {
                    seen.waits_for = Some(words(pod));
                }
            }
        }
        seen
    }

    /// Whether a clique is about to get another template. Members of a group keep theirs until their replica has its turn,
    /// unless nobody is replaced.
    pub(super) fn awaits_template(&self, set: &PodCliqueSet, clique: &PodClique) -> bool {
        let is_member = label(&clique.metadata, labels::SCALING_GROUP).is_some();
        let comes_at_once = match rollout::pace(set) {
            Pace::Paused => false,
            Pace::OnDelete => true,
            Pace::Rolling => !is_member,
        };
        // Nearly always there has only been one.
        comes_at_once
            && set.metadata.generation != Some(1)
            && place_of(set, clique).is_some_and(|place| {
                let wanted = objects::clique(self.context(set), &place, None);
                clique_patch(clique, &wanted).as_ref().is_some_and(changes_template)
            })
    }

    /// Whether the template changed while updates are paused.
    fn is_held(&self, set: &PodCliqueSet) -> bool {
        let stored = set.status.as_ref().and_then(|it| it.current_generation_hash.as_deref());
        // Whoever was just made has noted nothing yet.
        let holds = |stored| !self.cliques_are(set, |known| known.is_none_or(|it| it == stored));
        rollout::pace(set) == Pace::Paused && stored.is_some_and(holds)
    }
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
        Some(words) => words.as_str(),
        None if pod.is_gated() => "it is held back until its gang may go",
        None if !pod.bound => "it has no node yet",
        None if pod.awaits_parents => "the cliques before it are not ready",
        None if pod.errored => "a container of it fails",
        None if pod.started => "it runs and is not ready",
        None => "it starts",
    };
    format!("pod {}: {why}", pod.name)
}
