//! What happens to a PodGang: its references are filled in when all its pods exist, then it is initialised, then the
//! gates of its pods are lifted, all of them at once.

mod minima;
mod missing_topology;

use std::collections::BTreeMap;

pub use self::{
    minima::{PATIENCE, Waiting, may_follow, may_grow},
    missing_topology::{is_held, why_held},
};
use grove_api::{
    constants::{annotations, conditions, gates},
    wire::{Condition, NamespacedName, PodClique, PodGang, PodGangStatus, PodGroup},
};
use serde_json::Value;

use crate::{
    children::gang_patch,
    facts::{Grouped, PodFact, Refusal, Tally, template_hash},
    layout::{Place, count, spec_minimum},
    objects::{self, Context},
    topology::{Places, Topology},
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
    /// Its cliques by name; every one that the template wants and that is not scaled to zero.
    pub cliques: BTreeMap<String, CliqueSeen<'a>>,
    /// The set's topology.
    pub topology: Option<&'a Topology>,
    /// Whether the set names a topology that does not exist, or that lacks a level that is required of this gang, while placement
    /// by topology is on.
    pub topology_missing: bool,
    /// Labels of the nodes that its pods are on, as far as the gang prefers to share them.
    pub places: Places,
    /// Where the base gang is, if its set is to be in one domain: node label and value. For the base gang itself: none.
    pub home: Option<(String, String)>,
    /// Whether the base gang has its place. For the base gang itself: true.
    pub may_go: bool,
    /// Which pods have to wait for other gangs.
    pub growth: Growth,
    /// What the scheduler was told of the gang.
    pub told: Told<'a>,
    /// The group that its pods have to name, where its scheduler finds it by an annotation.
    pub pod_group: Option<String>,
    /// Why the gang has no place: a reason, and the scheduler's words.
    pub words: Option<(&'static str, &'a str)>,
}

/// Which pods of a gang that is complete may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// All of them.
    #[default]
    Free,
    /// Those above the minimum of their clique when the gang has its place.
    AfterMinimum,
    /// Those above the minimum wait for other gangs.
    Held,
    /// All wait for other gangs.
    AllHeld,
}

/// What a scheduler was told of a gang.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told<'a> {
    /// It has to be told: the gang is new or changed.
    #[default]
    No,
    /// It knows the gang as it is.
    Yes,
    /// It cannot be told, for this reason, with these words.
    Failed(&'static str, &'a str),
}

/// What to do, in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GangPlan {
    /// Merge patch of the gang.
    pub patch: Option<Value>,
    /// The scheduler has to be told.
    pub tell: bool,
    /// Pods that name the group of a PodGang that this one has replaced.
    pub regroup: Vec<String>,
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
    /// Node label and value that it is bound to from now on: while a pod is gated, such may be added.
    pub node_selector: Option<(String, String)>,
}

/// Decides. Each step is taken when the one before it is seen to be done.
pub fn plan(seen: &Seen<'_>) -> GangPlan {
    let initialized = is_initialized(seen.gang);
    let complete = is_complete(seen);
    let context = Context { form: form(seen), ..seen.context };
    let wanted = objects::gang(context, seen.place, seen.topology, |clique| {
        references(seen, clique, initialized, complete)
    });
    let patch = wanted.and_then(|mut wanted| {
        missing_topology::keep_placement(seen, &mut wanted);
        gang_patch(seen.gang, &wanted)
    });
    if patch.is_some() {
        return GangPlan { patch, ..GangPlan::default() };
    }
    // Its scheduler hears of it when all is known that it has to keep to.
    if is_held(seen) {
        return GangPlan { initialize: complete && !initialized, ..GangPlan::default() };
    }
    if seen.told == Told::No {
        return GangPlan { tell: true, ..GangPlan::default() };
    }
    let regroup = strays(seen);
    if !regroup.is_empty() {
        return GangPlan { regroup, ..GangPlan::default() };
    }
    if !initialized {
        return GangPlan { initialize: complete, ..GangPlan::default() };
    }
    // A pod that goes before its scheduler knows the gang would be placed alone, and so would one of a gang that has lost
    // its minimum since it was complete.
    let may_go = seen.may_go && seen.told == Told::Yes && has_minima(seen);
    let ungate = if may_go { ungate(seen) } else { Vec::new() };
    GangPlan { ungate, ..GangPlan::default() }
}

/// Pods whose annotation names another group than that of the gang. Pods without the annotation are left alone: another scheduler or
/// another operator made them.
fn strays(seen: &Seen<'_>) -> Vec<String> {
    let Some(group) = seen.pod_group.as_ref().filter(|_| seen.told == Told::Yes) else { return Vec::new() };
    let pods = seen.cliques.values().flat_map(|it| it.members(name(seen)));
    let strays = pods.filter(|it| it.pod_group.as_ref().is_some_and(|it| it != group));
    strays.map(|it| it.name.clone()).collect()
}

/// Whether every clique has the pods that belong together, wherever they are.
fn has_minima(seen: &Seen<'_>) -> bool {
    seen.gang.spec.pod_groups.iter().all(|group| {
        let there = seen.cliques.get(&group.name).map_or(0, |it| it.members(name(seen)).count());
        there >= count(group.min_replicas) as usize
    })
}

/// How the gang is made: as it was noted when it was created. Where nobody noted it, its pods know: their groups cannot be
/// changed. Those without a group were made as upstream makes them, and stay so.
fn form<'a>(seen: &Seen<'a>) -> &'a str {
    let noted = seen.gang.metadata.annotations.as_ref().and_then(|it| it.get(annotations::SCHEDULER_FORM));
    if let Some(noted) = noted {
        return noted;
    }
    let pods = seen.cliques.values().flat_map(|it| &it.pods).filter(|it| !it.terminating);
    let mut groups = pods.map(|it| it.grouped).peekable();
    if seen.context.form.is_empty() || groups.peek().is_none() {
        return seen.context.form;
    }
    match groups.find(|it| *it != Grouped::Alone) {
        Some(Grouped::ByClique) => annotations::SCHEDULER_FORM_TREE,
        Some(_) => annotations::SCHEDULER_FORM_FLAT,
        None => annotations::SCHEDULER_FORM_ADOPTED,
    }
}

/// Whether a gang was complete once; it never goes back.
pub fn is_initialized(gang: &PodGang) -> bool {
    let conditions = gang.status.as_ref().map(|it| &it.conditions);
    conditions
        .into_iter()
        .flatten()
        .any(|it| it.type_ == conditions::pod_gang::INITIALIZED && it.status == "True")
}

/// Whether all pods of a gang exist, or as many as the API server admits and those that failed leave room for, and at
/// least the minimum of every clique.
pub fn is_complete(seen: &Seen<'_>) -> bool {
    let is_there =
        |it: &CliqueSeen<'_>| it.is_settled(name(seen)) || it.lacks_only_places_of_failed(name(seen));
    !seen.cliques.is_empty() && seen.cliques.values().all(is_there)
}

/// Whether minAvailable pods of every PodClique are scheduled.
pub fn is_scheduled(seen: &Seen<'_>) -> bool {
    !seen.cliques.is_empty()
        && seen.cliques.values().all(|it| it.clique.is_some() && it.tally().scheduled >= it.minimum())
}

/// Whether the minimum of every clique has ever been bound to nodes, as the status says.
pub(crate) fn was_placed(status: &PodGangStatus) -> bool {
    let is_it = |it: &Condition| {
        it.type_ == conditions::pod_gang::UNHEALTHY
            || (it.type_ == conditions::pod_gang::SCHEDULED && it.status == "True")
    };
    status.last_scheduled.is_some() || status.conditions.iter().any(is_it)
}

/// Pods that were bound although the gang has never been complete: how many, and in words. A scheduler that knows of the gang binds
/// all of its minimum within moments; where this lasts, it does not.
pub fn bound_one_by_one(seen: &Seen<'_>) -> Option<(u32, String)> {
    if seen.gang.status.as_ref().is_some_and(was_placed) || is_scheduled(seen) {
        return None;
    }
    let (bound, needed) = seen.cliques.values().fold((0, 0), |(bound, needed), clique| {
        (bound + clique.tally().scheduled, needed + clique.minimum())
    });
    (bound > 0).then(|| {
        let words = format!(
            "{bound} pods are bound although the {needed} that belong together are not: the scheduler places them one by \
             one, and does not honour the objects that tell it of the gang"
        );
        (bound, words)
    })
}

/// The first pod of a gang that its scheduler has no place for, and its words.
pub fn unschedulable<'a>(seen: &Seen<'a>) -> Option<(&'a str, &'a str)> {
    let mut pods = seen.cliques.values().flat_map(|it| it.pods.iter().copied()).filter(|it| it.is_live());
    pods.find_map(|pod| Some((pod.name.as_str(), pod.unschedulable.as_deref()?)))
}

impl CliqueSeen<'_> {
    /// Pods of the clique that count for `gang`.
    fn members<'b>(&'b self, gang: &'b str) -> impl Iterator<Item = &'b PodFact> {
        self.pods.iter().copied().filter(move |it| it.is_live() && it.gang == gang)
    }

    /// Pods of the clique that failed and are still there.
    fn failed<'b>(&'b self, gang: &'b str) -> impl Iterator<Item = &'b PodFact> {
        self.pods.iter().copied().filter(move |it| !it.terminating && !it.is_live() && it.gang == gang)
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

    /// Whether all that is missing is in the place of pods that failed: where those are kept, nothing comes before they go,
    /// and that may be never.
    fn lacks_only_places_of_failed(&self, gang: &str) -> bool {
        let clique = self.clique.filter(|it| it.metadata.deletion_timestamp.is_none());
        let wanted = clique.and_then(|it| it.spec.replicas).map_or(0, count) as usize;
        let live = self.members(gang).count();
        let held = self.failed(gang).count();
        live < wanted && live + held >= wanted && live >= self.minimum() as usize
    }

    /// Whether there are more pods of `gang` than there should be.
    fn has_too_many(&self, gang: &str) -> bool {
        let wanted = self.clique.and_then(|it| it.spec.replicas).map_or(0, count) as usize;
        self.members(gang).count() > wanted
    }

    /// Pods, counted.
    pub fn tally(&self) -> Tally {
        let hash = self.clique.map(|it| template_hash(&it.metadata)).unwrap_or_default();
        Tally::of(self.pods.iter().copied(), hash)
    }

    /// Smallest number of pods that makes sense.
    pub fn minimum(&self) -> u32 {
        self.clique.map_or(0, |it| spec_minimum(&it.spec))
    }
}

fn name<'a>(seen: &Seen<'a>) -> &'a str {
    seen.gang.metadata.name.as_deref().unwrap_or_default()
}

/// The pods that the gang should list for a clique; `None` where that is scaled to zero, and the gang does not have it.
///
/// They are listed once all of them exist. Afterwards the list follows, but only from one settled state to the next: a
/// pod that is being replaced stays listed until its replacement is there, so that the list is never emptied. One that is
/// too many, and has to stay until another one serves, keeps nobody from being listed, and neither does one that failed
/// and keeps its place.
fn references(
    seen: &Seen<'_>,
    clique: &str,
    initialized: bool,
    complete: bool,
) -> Option<Vec<NamespacedName>> {
    let state = seen.cliques.get(clique)?;
    let listed = seen.gang.spec.pod_groups.iter().find(|it| it.name == clique);
    let is_new =
        |pod: &PodFact| !listed.is_some_and(|it| it.pod_references.iter().any(|it| it.name == pod.name));
    let is_held_up = || {
        let waits_in_vain = state.has_too_many(name(seen)) || state.lacks_only_places_of_failed(name(seen));
        waits_in_vain && state.members(name(seen)).any(is_new)
    };
    let follows = if initialized { state.is_settled(name(seen)) || is_held_up() } else { complete };
    if follows {
        let namespace = seen.gang.metadata.namespace.clone().unwrap_or_default();
        let mut references: Vec<_> = state
            .members(name(seen))
            .map(|pod| NamespacedName { namespace: namespace.clone(), name: pod.name.clone() })
            .collect();
        references.sort();
        return Some(references);
    }
    Some(listed.map(|it| it.pod_references.clone()).unwrap_or_default())
}

/// Whether a pod is above the minimum of its group. Pods that failed and are kept hold places, and the minimum lives without them.
fn is_above(group: &PodGroup, state: &CliqueSeen<'_>, gang: &str, pod: &PodFact) -> bool {
    let minimum = count(group.min_replicas);
    let failed_before =
        |index: u32| state.failed(gang).filter(|it| it.index.is_some_and(|it| it < index)).count();
    let is_of_it = |index: u32| (index as usize) < minimum as usize + failed_before(index);
    minimum > 0 && !pod.index.is_some_and(is_of_it)
}

/// Whether the gang has pods above the minimum that are held back.
pub fn is_growing(seen: &Seen<'_>) -> bool {
    seen.gang.spec.pod_groups.iter().any(|group| {
        let Some(state) = seen.cliques.get(&group.name) else { return false };
        state.members(name(seen)).any(|pod| pod.is_gated() && is_above(group, state, name(seen), pod))
    })
}

fn ungate(seen: &Seen<'_>) -> Vec<Ungate> {
    let mut pods = Vec::new();
    let may_grow = match seen.growth {
        Growth::Free => true,
        Growth::AfterMinimum => is_scheduled(seen),
        Growth::Held => false,
        Growth::AllHeld => return pods,
    };
    for group in &seen.gang.spec.pod_groups {
        let Some(state) = seen.cliques.get(&group.name) else { continue };
        // Whoever chooses the label by himself keeps his choice.
        let chosen = state.clique.and_then(|it| it.spec.pod_spec.node_selector.as_ref());
        let home = seen.home.clone().filter(|(key, _)| chosen.is_none_or(|it| !it.contains_key(key)));
        let listed = |pod: &&PodFact| group.pod_references.iter().any(|it| it.name == pod.name);
        for pod in state.members(name(seen)).filter(|it| it.is_gated()).filter(listed) {
            if !may_grow && is_above(group, state, name(seen), pod) {
                continue;
            }
            let remaining = pod.gates.iter().filter(|it| *it != gates::POD_GANG_PENDING).cloned().collect();
            pods.push(Ungate { name: pod.name.clone(), remaining, node_selector: home.clone() });
        }
    }
    pods
}

#[cfg(test)]
mod tests;
