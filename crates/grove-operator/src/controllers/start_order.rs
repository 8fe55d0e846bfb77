//! Start order: tells the pods of a clique that the cliques before it are ready.

use std::sync::Arc;

use grove_api::{
    constants::annotations,
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    facts::{PodFact, Tally},
    layout::{self, Parent, place_of},
    pods::may_complete,
    start_order::{self, ParentSeen},
};
use grove_runtime::WriteError;
use serde_json::json;
use tracing::info;

use super::{
    Grove, IN_FLIGHT,
    clique::gang_place,
    slice::{Progress, Slice},
};
use crate::key::Key;

/// The cliques that one starts after. `None` where that cannot be said, because it has lost its place in its set.
pub(super) fn parents_of(set: &PodCliqueSet, clique: &PodClique) -> Option<Vec<Parent>> {
    match place_of(set, clique) {
        Some(place) => Some(layout::parents(set, &place)),
        None => clique.spec.starts_after.is_empty().then(Vec::new),
    }
}

impl Grove {
    /// Tells the pods that wait and may start. Returns whether others may, too.
    pub(super) async fn release(
        &self,
        set: &PodCliqueSet,
        clique: &PodClique,
        parents: &[Parent],
    ) -> (bool, Result<Progress, WriteError>) {
        if parents.is_empty() {
            return (true, Ok(Progress::All));
        }
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        // Nobody waits for pods that there will not be.
        let place = gang_place(set, clique);
        let zero = place.map(|it| self.scaled_to_zero(set, it)).unwrap_or_default();
        let seen: Vec<ParentSeen<'_>> = parents
            .iter()
            .filter(|parent| !zero.contains(&parent.name))
            .map(|parent| {
                let clique = self.parent(set, namespace, &parent.name);
                // By the UID of their owner: a name, or the beginning of one, proves nothing.
                let pods = clique.as_ref().map(|it| self.seen.pods_of(it));
                let tally = pods.map(|it| Tally::of(it.iter().map(|it| &it.fact), ""));
                ParentSeen { parent, tally, may_complete: clique.is_some_and(|it| may_complete(&it)) }
            })
            .collect();
        let pods = self.seen.pods_of(clique);
        let facts: Vec<&PodFact> = pods.iter().map(|it| &it.fact).collect();
        let plan = start_order::plan(&seen, &facts);
        if plan.release.is_empty() {
            return (plan.may_start, Ok(Progress::All));
        }
        info!(clique = ?Key::of(clique), pods = plan.release.len(), "the cliques before it are ready");
        (plan.may_start, self.tell_ready(namespace, plan.release).await)
    }

    /// A clique of the same set; `None` where the set has no such clique.
    fn parent(&self, set: &PodCliqueSet, namespace: &str, name: &str) -> Option<Arc<PodClique>> {
        let clique = self.seen.cliques.cache.get(namespace, name)?;
        let owner = self.seen.set_of(&clique.metadata)?;
        let is_ours = owner.metadata.uid == set.metadata.uid && clique.metadata.deletion_timestamp.is_none();
        is_ours.then_some(clique)
    }

    async fn tell_ready(&self, namespace: &str, pods: Vec<String>) -> Result<Progress, WriteError> {
        let notes = json!({ annotations::PARENTS_READY: annotations::PARENTS_READY_VALUE });
        let patch = json!({ "metadata": { "annotations": notes } });
        let patches = pods.into_iter().map(|name| (name, patch.clone()));
        self.patch_pods(namespace, patches.collect(), IN_FLIGHT, Slice::begin()).await
    }
}
