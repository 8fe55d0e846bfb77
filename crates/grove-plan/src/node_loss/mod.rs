//! Node loss: which nodes a clique's pods are lost on, and which pods go because of it.
//!
//! A node in trouble is noted with its time, so that an operator that starts anew counts on; then that its pods count as gone;
//! and only then are they deleted. Pods on nodes that are well are nobody's business here, but for those of a unit that
//! [is placed anew](replace).
//!
//! The cache of nodes starts the clock, and no more: a node counts as lost, and a pod is deleted because of it, only if the
//! API server confirmed the trouble just now ([`Seen::confirmed`]). Of an unknown node what is noted stays as it is.

pub mod replace;

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    limits::MAX_LOST_NODES,
    wire::{LossReason, LostNode, Time},
};
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::{
    facts::{Phase, PodFact},
    nodes::{NodeKnowledge, Trouble, trouble},
    pods::{Victim, Why, victim},
};

/// How long a pod may take longer to go than its time of grace, before it counts as stuck.
const MARGIN: SignedDuration = SignedDuration::from_secs(30);
/// How long until a node that is noted and unknown is looked at again: what was noted of it may have become due meanwhile.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(60);

/// How long is waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// A node may be in trouble for so long before its pods count as gone.
    pub after: SignedDuration,
    /// What replaces them may be without a place for so long before its unit is placed anew.
    pub replace_unit_after: SignedDuration,
}

/// What is known of a clique.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// Its pods.
    pub pods: Vec<&'a PodFact>,
    /// The nodes that they are on; one that is missing is unknown.
    pub nodes: BTreeMap<&'a str, NodeKnowledge<'a>>,
    /// Nodes that the API server described just now as `nodes` does, and that may count as lost now.
    pub confirmed: BTreeSet<&'a str>,
    /// What is noted.
    pub noted: &'a [LostNode],
    /// How long a node may be in trouble.
    pub after: SignedDuration,
    /// The time.
    pub now: Timestamp,
}

/// What is to be noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Nodes in trouble, by how long they are.
    pub nodes: Vec<LostNode>,
    /// When the next of them counts as lost, if nothing changes.
    pub next: Option<Timestamp>,
    /// Nodes that would count as lost now and are not confirmed.
    pub unconfirmed: BTreeSet<String>,
}

/// Pods that count as gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GonePods {
    /// Their UIDs.
    pub uids: Vec<String>,
    /// Nodes of further such pods that are not confirmed.
    pub unconfirmed: BTreeSet<String>,
}

/// Pods that hang on their way out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// Those that nobody else will remove.
    pub pods: Vec<Victim>,
    /// When there is one more, or one more that counts as gone, if nothing changes.
    pub next: Option<Timestamp>,
    /// Nodes of further such pods that are not confirmed.
    pub unconfirmed: BTreeSet<String>,
}

/// A pod with trouble.
struct Troubled<'a> {
    pod: &'a PodFact,
    reason: LossReason,
    since: Timestamp,
    /// When it counts as gone.
    due: Option<Timestamp>,
}

impl Troubled<'_> {
    fn is_due(&self, now: Timestamp) -> bool {
        self.due.is_some_and(|due| due <= now)
    }
}

impl<'a> Seen<'a> {
    fn noted(&self, node: &str) -> Option<&'a LostNode> {
        self.noted.iter().find(|it| it.name == node)
    }

    fn knowledge(&self, node: &str) -> NodeKnowledge<'a> {
        self.nodes.get(node).copied().unwrap_or(NodeKnowledge::Unknown)
    }

    /// Pods that need their nodes. What has ended does not: work that is done is not done again.
    fn bound_pods(&self) -> impl Iterator<Item = &'a PodFact> {
        let has_ended =
            |it: &PodFact| !it.terminating && matches!(it.phase, Phase::Failed | Phase::Succeeded);
        self.pods.iter().copied().filter(move |it| !it.node.is_empty() && !has_ended(it))
    }

    /// Pods whose nodes are in trouble.
    fn troubled(&self) -> impl Iterator<Item = Troubled<'a>> {
        self.bound_pods().filter_map(move |pod| {
            let Trouble { reason, since, tolerated } = trouble(pod, self.knowledge(&pod.node))?;
            // Where nobody says since when, it is since we noticed; a node that goes after it was silent is silent since then.
            let noticed = || self.noted(&pod.node).map_or(self.now, |it| it.since.0);
            let since = since.unwrap_or_else(noticed);
            // One that came when the node was in trouble has the whole time too: else it would be made and deleted without end.
            let due = since.max(pod.created).checked_add(tolerated.max(self.after)).ok();
            Some(Troubled { pod, reason, since, due })
        })
    }

    /// Notes on nodes of these pods of which nothing is known now.
    fn noted_and_unknown(&self) -> impl Iterator<Item = &'a LostNode> {
        let used: BTreeSet<&str> = self.bound_pods().map(|it| it.node.as_str()).collect();
        self.noted.iter().filter(move |it| {
            used.contains(it.name.as_str()) && self.knowledge(&it.name) == NodeKnowledge::Unknown
        })
    }

    fn look_again(&self) -> Option<Timestamp> {
        self.now.checked_add(LOOK_AGAIN).ok()
    }

    /// What is to be noted now.
    pub fn watch(&self) -> Watch {
        let mut found: BTreeMap<&str, (LostNode, Option<Timestamp>)> = BTreeMap::new();
        for it in self.troubled() {
            let new = || {
                // Trouble that began after the node was lost is another one.
                let (since, lost_at) = (Time(it.since), self.lost_at(&it));
                (LostNode { name: it.pod.node.clone(), reason: it.reason, since, lost_at }, None)
            };
            let (_, due) = found.entry(it.pod.node.as_str()).or_insert_with(new);
            *due = [*due, it.due].into_iter().flatten().min();
        }
        let mut watch = Watch::default();
        for (mut node, due) in found.into_values() {
            match due.filter(|_| node.lost_at.is_none()) {
                Some(due) if due <= self.now && self.confirmed.contains(node.name.as_str()) => {
                    node.lost_at = Some(Time(self.now));
                }
                Some(due) if due <= self.now => drop(watch.unconfirmed.insert(node.name.clone())),
                Some(due) => watch.next = watch.next.into_iter().chain([due]).min(),
                None => {}
            }
            watch.nodes.push(node);
        }
        for note in self.noted_and_unknown() {
            watch.nodes.push(note.clone());
            watch.next = watch.next.into_iter().chain(self.look_again()).min();
        }
        watch.nodes.sort_by_key(|it| it.since.0);
        // The others have their turn when these are through.
        watch.nodes.truncate(MAX_LOST_NODES);
        watch
    }

    /// Since when the node of a pod is noted as lost, by the trouble that it has now.
    fn lost_at(&self, it: &Troubled<'_>) -> Option<Time> {
        self.noted(&it.pod.node)?.lost_at.clone().filter(|at| it.since <= at.0)
    }

    /// The pods that count as gone, and of which that is noted.
    pub fn gone(&self) -> GonePods {
        let mut gone = GonePods::default();
        for it in self.noted_as_lost().filter(|it| !it.pod.terminating && it.is_due(self.now)) {
            if self.confirmed.contains(it.pod.node.as_str()) {
                gone.uids.push(it.pod.uid.clone());
            } else {
                gone.unconfirmed.insert(it.pod.node.clone());
            }
        }
        gone
    }

    fn noted_as_lost(&self) -> impl Iterator<Item = Troubled<'a>> {
        self.troubled().filter(move |it| self.lost_at(it).is_some())
    }

    /// Pods that are being deleted on a node where nobody does it. A node that answers is left to do its work.
    pub fn stuck(&self) -> Stuck {
        let mut stuck = Stuck::default();
        for it in self.noted_as_lost() {
            let pod = it.pod;
            let end = match (pod.terminating, it.reason.is_silent()) {
                (true, true) => pod.goes_by.and_then(|by| by.checked_add(MARGIN).ok()),
                (true, false) => None,
                // It puts up with more than others on that node.
                (false, _) => it.due.filter(|due| *due > self.now),
            };
            match end {
                Some(end) if end > self.now => stuck.next = stuck.next.into_iter().chain([end]).min(),
                Some(_) if self.confirmed.contains(pod.node.as_str()) => {
                    stuck.pods.push(victim(pod, Why::NodeLost));
                }
                Some(_) => drop(stuck.unconfirmed.insert(pod.node.clone())),
                None => {}
            }
        }
        if self.noted_and_unknown().any(|it| it.lost_at.is_some()) {
            stuck.next = stuck.next.into_iter().chain(self.look_again()).min();
        }
        stuck
    }
}

#[cfg(test)]
mod tests;
