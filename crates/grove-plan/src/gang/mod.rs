//! What happens to a PodGang: its references are filled in when all its pods exist, then it is initialised, then the
//! gates of its pods are lifted, all of them at once.

use std::collections::BTreeMap;

use grove_api::{
    constants::{conditions, gates},
    wire::{NamespacedName, PodClique, PodGang},
};
use serde_json::Value;

use crate::{
    children::gang_patch,
    facts::{PodFact, Refusal, Tally},
    layout::{Place, count},
    objects::{self, Context, GangTopology},
};

/// A clique of a gang, as it was seen.
#[derive(Clone, Debug, Default)]
pub struct CliqueSeen<'a> {
    /// The object.
    pub clique: Option<&'a PodClique>,
    /// Its pods.
    pub pods: Vec<&'a PodFact>,
    /// Why the API server refuses more of them.
    pub refusal: Option<&'a Refusal>,
}

/// A gang, as it was seen.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// The set, and what its children have in common.
    pub context: Context<'a>,
    /// Where the gang is in the set.
    pub place: Place<'a>,
    /// The object.
    pub gang: &'a PodGang,
    /// Its cliques by name; every one that the template wants.
    pub cliques: BTreeMap<String, CliqueSeen<'a>>,
    /// The set's topology.
    pub topology: Option<GangTopology<'a>>,
    /// Whether the base gang has its place. For the base gang itself: true.
    pub may_go: bool,
}

/// What to do, in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GangPlan {
    /// Merge patch of the gang.
    pub patch: Option<Value>,
    /// Write the status now: the gang is complete, and its pods wait for that.
    pub initialize: bool,
    /// Pods whose gate is lifted, all at once.
    pub ungate: Vec<Ungate>,
}

/// A pod whose gate is lifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ungate {
    /// Name.
    pub name: String,
    /// Gates that others set, which stay.
    pub remaining: Vec<String>,
}

/// Decides. Each step is taken when the one before it is seen to be done.
pub fn plan(seen: &Seen<'_>) -> GangPlan {
    let initialized = is_initialized(seen.gang);
    let complete = is_complete(seen);
    let wanted = objects::gang(seen.context, seen.place, seen.topology, |clique| {
        references(seen, clique, initialized, complete)
    });
    let patch = wanted.and_then(|wanted| gang_patch(seen.gang, &wanted));
    if patch.is_some() {
        return GangPlan { patch, ..GangPlan::default() };
    }
    if !initialized {
        return GangPlan { initialize: complete, ..GangPlan::default() };
    }
    let ungate = if seen.may_go { ungate(seen) } else { Vec::new() };
    GangPlan { ungate, ..GangPlan::default() }
}

/// Whether a gang was complete once; it never goes back.
pub fn is_initialized(gang: &PodGang) -> bool {
    let conditions = gang.status.as_ref().map(|it| &it.conditions);
    conditions
        .into_iter()
        .flatten()
        .any(|it| it.type_ == conditions::pod_gang::INITIALIZED && it.status == "True")
}

/// Whether all pods of a gang exist, or as many as the API server admits and at least the minimum of every clique.
pub fn is_complete(seen: &Seen<'_>) -> bool {
    !seen.cliques.is_empty() && seen.cliques.values().all(|it| it.is_settled(name(seen)))
}

/// Whether the minimum of every clique is bound to nodes.
pub fn is_scheduled(seen: &Seen<'_>) -> bool {
    !seen.cliques.is_empty()
        && seen.cliques.values().all(|it| it.clique.is_some() && it.tally().scheduled >= it.minimum())
}

impl CliqueSeen<'_> {
    /// Pods of the clique that count for `gang`.
    fn members<'b>(&'b self, gang: &'b str) -> impl Iterator<Item = &'b PodFact> {
        self.pods.iter().copied().filter(move |it| it.is_live() && it.gang == gang)
    }

    /// Whether no pod of `gang` is to come or to go: all are there, or the API server takes no more and the minimum is
    /// there.
    fn is_settled(&self, gang: &str) -> bool {
        let Some(clique) = self.clique.filter(|it| it.metadata.deletion_timestamp.is_none()) else {
            return false;
        };
        let live = self.members(gang).count();
        let wanted = clique.spec.replicas.map_or(0, count) as usize;
        live == wanted || (self.refusal.is_some() && live < wanted && live >= self.minimum() as usize)
    }

    /// Pods, counted.
    pub fn tally(&self) -> Tally {
        let hash = self.clique.and_then(|it| it.metadata.labels.as_ref());
        let hash = hash.and_then(|it| it.get(grove_api::constants::labels::POD_TEMPLATE_HASH));
        Tally::of(self.pods.iter().copied(), hash.map_or("", String::as_str))
    }

    /// Smallest number of pods that makes sense.
    pub fn minimum(&self) -> u32 {
        self.clique.and_then(|it| it.spec.min_available.or(it.spec.replicas)).map_or(0, count)
    }
}

fn name<'a>(seen: &Seen<'a>) -> &'a str {
    seen.gang.metadata.name.as_deref().unwrap_or_default()
}

/// The pods that the gang should list for a clique.
///
/// They are listed once all of them exist. Afterwards the list follows, but only from one settled state to the next: a
/// pod that is being replaced stays listed until its replacement is there, so that the list is never emptied.
fn references(seen: &Seen<'_>, clique: &str, initialized: bool, complete: bool) -> Vec<NamespacedName> {
    let Some(state) = seen.cliques.get(clique) else { return Vec::new() };
    if (initialized && state.is_settled(name(seen))) || complete {
        let namespace = seen.gang.metadata.namespace.clone().unwrap_or_default();
        let mut references: Vec<_> = state
            .members(name(seen))
            .map(|pod| NamespacedName { namespace: namespace.clone(), name: pod.name.clone() })
            .collect();
        references.sort();
        return references;
    }
    let listed = seen.gang.spec.pod_groups.iter().find(|it| it.name == clique);
    listed.map(|it| it.pod_references.clone()).unwrap_or_default()
}

fn ungate(seen: &Seen<'_>) -> Vec<Ungate> {
    let mut pods = Vec::new();
    for group in &seen.gang.spec.pod_groups {
        let Some(state) = seen.cliques.get(&group.name) else { continue };
        let listed = |pod: &&PodFact| group.pod_references.iter().any(|it| it.name == pod.name);
        for pod in state.members(name(seen)).filter(|it| it.is_gated()).filter(listed) {
            let remaining = pod.gates.iter().filter(|it| *it != gates::POD_GANG_PENDING).cloned().collect();
            pods.push(Ungate { name: pod.name.clone(), remaining });
        }
    }
    pods
}

#[cfg(test)]
mod tests;
