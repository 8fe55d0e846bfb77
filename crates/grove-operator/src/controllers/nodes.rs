//! Nodes that may be lost, one by one: each is read from the API server before anything is decided because of it. The cache
//! alone may be blind: a watch that is refused or stalled looks like a cluster in which new nodes do not exist.

use std::{collections::BTreeSet, time::Duration};

use grove_api::constants::events::pod_clique::NODE_LOSS_HELD;
use grove_plan::nodes::loss_limit::{Admission, NodeCount};
use grove_runtime::{EventKind, Outcome};
use tokio::time::timeout;
use tracing::{info, warn};

use super::Grove;
use crate::{
    error::Error,
    key::{Key, StatusKey},
    memory::{Purpose, REREAD},
    seen::NodeView,
};

/// A node cache that heard nothing from the API server for longer than this decides nothing. Bookmarks come about once a minute.
const MAX_CACHE_AGE: Duration = Duration::from_mins(3);
/// How long a live read may take.
const READ_DEADLINE: Duration = Duration::from_secs(5);
/// A node that is held is looked at no later than this: the disruption may be over.
const HELD_AT_MOST: Duration = Duration::from_mins(1);

impl Grove {
    /// Whether the cache has all nodes, and heard from the API server lately.
    pub(crate) fn node_cache_is_current(&self) -> bool {
        self.knows_nodes() && self.seen.nodes.last_contact().is_some_and(|it| it.elapsed() <= MAX_CACHE_AGE)
    }

    /// Has these nodes read, unless that was done just now. Names that the node cache never had are read after all others: a tenant
    /// may invent thousands of them.
    pub(super) fn read_nodes<'a>(&self, names: impl IntoIterator<Item = &'a String>, purpose: Purpose) {
        for name in names {
            if !self.memory.nodes.want(name, purpose, self.now()) {
                continue;
            }
            if self.had_node(name) {
                self.queues.nodes.add(name.clone());
            } else {
                self.queues.nodes.add_background(name.clone());
            }
        }
    }

    /// Whether the cache has a node of this name, or had one not long ago.
    fn had_node(&self, name: &str) -> bool {
        self.seen.nodes.get("", name).is_some() || self.memory.nodes.was_removed(name, self.now())
    }

    /// Reads a node and tells the cliques that have pods there, if the answer is what the cache says.
    pub(crate) async fn reconcile_node(&self, name: String) -> Result<Outcome, Error> {
        let nodes = &self.memory.nodes;
        if self.seen.pods_by_node.count(&name) == 0 {
            nodes.forget(&name);
            return Ok(Outcome::Done);
        }
        // What a blind cache asks for is asked again when it sees: notes are looked at once a minute.
        let Some(purpose) = nodes.wanted(&name).filter(|_| self.node_cache_is_current()) else {
            nodes.give_up(&name);
            return Ok(Outcome::Done);
        };
        if purpose == Purpose::Lost
            && let Some(wait) = self.hold(&name)
        {
            return Ok(Outcome::After(wait));
        }
        let read = timeout(READ_DEADLINE, self.writer.get::<NodeView>("", &name)).await;
        let found = read.map_err(|_| Error::NodeRead(name.clone()))??.map(|it| it.fact);
        let cached = self.seen.nodes.get("", &name);
        let agrees = found.as_ref() == cached.as_deref().map(|it| &it.fact);
        nodes.read(&name, found, purpose, self.now());
        if !agrees {
            info!(node = name, "the API server and the cache differ on a node: not lost for now");
            nodes.want(&name, purpose, self.now() + REREAD);
            return Ok(Outcome::After(REREAD.unsigned_abs()));
        }
        self.wake_cliques_on(&name);
        Ok(Outcome::Done)
    }

    /// How long a node has to wait before it may be declared lost, because too many are down at once.
    fn hold(&self, name: &str) -> Option<Duration> {
        let all = self.seen.nodes.list();
        let down = all.iter().filter(|it| it.fact.is_down()).count();
        let is_cached = self.seen.nodes.get("", name).is_some();
        let (admission, count) = self.memory.nodes.admit(name, is_cached, (down, all.len()), self.now());
        let Admission::Held(until) = admission else { return None };
        let NodeCount { down, all } = count;
        warn!(node = name, down, all, %until, "too many nodes are down at once: the node is not declared lost yet");
        let note = format!(
            "{name} is not declared lost before {until:.0}: {down} of {all} nodes are down at once, which may be a fault of the network"
        );
        for key in self.cliques_on(name) {
            if let Some(clique) = self.seen.cliques.cache.get(&key.namespace, &key.name) {
                self.tell(clique.as_ref(), EventKind::Warning, NODE_LOSS_HELD, "Report", note.clone());
            }
        }
        Some(self.until(until).min(HELD_AT_MOST))
    }

    fn cliques_on(&self, node: &str) -> BTreeSet<Key> {
        let pods = self.seen.pods_by_node.get(node);
        pods.iter().map(|it| Key::new(it.namespace(), it.clique.clone())).collect()
    }

    /// Everything that decides about pods on a node.
    pub(crate) fn wake_cliques_on(&self, node: &str) {
        for clique in self.cliques_on(node) {
            self.queues.cliques.add(clique.clone());
            self.queues.report(StatusKey::Clique(clique));
        }
    }
}
