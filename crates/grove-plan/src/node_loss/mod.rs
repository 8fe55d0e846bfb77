//! Node loss: which nodes a clique's pods are lost on, and which pods go because of it.
//!
//! A node in trouble is noted with its time, so that an operator that starts anew counts on; then that its pods count as gone;
//! and only then are they deleted. Pods on nodes that are well are nobody's business here, but for those of a unit that
//! [is placed anew](replace).

pub mod replace;

use std::collections::BTreeMap;

use grove_api::{
    limits::MAX_LOST_NODES,
    wire::{LossReason, LostNode, Time},
};
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::{
    facts::{Phase, PodFact},
    nodes::{NodeFact, Trouble, trouble},
    pods::{Victim, Why, victim},
};

/// How long a pod may take longer to go than its time of grace, before it counts as stuck.
const MARGIN: SignedDuration = SignedDuration::from_secs(30);

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
    /// The nodes that they are on; one that is missing does not exist.
    pub nodes: BTreeMap<&'a str, &'a NodeFact>,
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
}

/// Pods that hang on their way out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// Those that nobody else will remove.
    pub pods: Vec<Victim>,
    /// When there is one more, or one more that counts as gone, if nothing changes.
    pub next: Option<Timestamp>,
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

    /// Pods whose nodes are in trouble. What has ended has no need of its node: work that is done is not done again.
    fn troubled(&self) -> impl Iterator<Item = Troubled<'a>> {
        let has_ended =
            |it: &PodFact| !it.terminating && matches!(it.phase, Phase::Failed | Phase::Succeeded);
        self.pods.iter().copied().filter(move |it| !it.node.is_empty() && !has_ended(it)).filter_map(
            move |pod| {
                let Trouble { reason, since, tolerated } =
                    trouble(pod, self.nodes.get(pod.node.as_str()).copied())?;
                // Where nobody says since when, it is since we noticed; a node that goes after it was silent is silent since then.
                let noticed = || self.noted(&pod.node).map_or(self.now, |it| it.since.0);
                let since = since.unwrap_or_else(noticed);
                // One that came when the node was in trouble has the whole time too: else it would be made and deleted without end.
                let due = since.max(pod.created).checked_add(tolerated.max(self.after)).ok();
                Some(Troubled { pod, reason, since, due })
            },
        )
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
                Some(due) if due <= self.now => node.lost_at = Some(Time(self.now)),
                Some(due) => watch.next = watch.next.into_iter().chain([due]).min(),
                None => {}
            }
            watch.nodes.push(node);
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

    /// UIDs of the pods that count as gone, and of which that is noted.
    pub fn gone(&self) -> Vec<String> {
        let gone = self.noted_as_lost().filter(|it| !it.pod.terminating && it.is_due(self.now));
        gone.map(|it| it.pod.uid.clone()).collect()
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
                Some(_) => stuck.pods.push(victim(pod, Why::NodeLost)),
                None => {}
            }
        }
        stuck
    }
}

#[cfg(test)]
mod tests;
