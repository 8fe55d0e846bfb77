//! What the API server said of single nodes just now, and how fast nodes may be declared lost.
//!
//! A live read is one for a node and not for each of its pods: the queue of nodes has each name once. A read tells for a minute
//! that a node does not exist, and for ten seconds that pods may be deleted because of it: it may be back.
//!
//! `spec.nodeName` of a pod is free text, so that a tenant may invent as many names as it has pods. Only nodes that the node
//! cache had count when many nodes are down at once, and only those wait for each other.

use std::collections::BTreeMap;

use grove_plan::nodes::{
    NodeFact, NodeKnowledge,
    loss_limit::{Admission, LossLimit, NodeCount},
};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

/// How long a live read tells that a node does not exist.
const EXISTENCE: SignedDuration = SignedDuration::from_mins(1);
/// How long a live read confirms that a node is lost. A node is not read again sooner, however often it is asked for.
pub(crate) const REREAD: SignedDuration = SignedDuration::from_secs(10);
/// How long a deleted node counts as one that is down, beyond the time after which nodes are declared lost.
const REMOVED: SignedDuration = SignedDuration::from_mins(10);

/// What a node is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// To know whether it exists, because the cache does not have it.
    Exists,
    /// To declare it lost, or to delete pods because it is.
    Lost,
}

/// A live read.
#[derive(Clone, Debug)]
struct Read {
    at: Timestamp,
    /// `None` is HTTP 404.
    found: Option<NodeFact>,
    purpose: Purpose,
}

/// What is remembered of nodes.
#[derive(Default)]
pub(crate) struct Nodes {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    reads: BTreeMap<String, Read>,
    wanted: BTreeMap<String, Purpose>,
    /// Nodes that the cache had and that were deleted: until when they count as down.
    removed: BTreeMap<String, Timestamp>,
    limit: LossLimit,
}

impl Nodes {
    /// What is known of a node, given what a current cache says; and whether it is confirmed that it is lost.
    pub(crate) fn knowledge<'a>(
        &self,
        name: &str,
        cached: Option<&'a NodeFact>,
        now: Timestamp,
    ) -> (NodeKnowledge<'a>, bool) {
        let state = self.state.lock();
        let read = state.reads.get(name).filter(|it| now.duration_since(it.at) < EXISTENCE);
        let agrees = read.is_some_and(|it| it.found.as_ref() == cached);
        let knowledge = match cached {
            Some(fact) => NodeKnowledge::Present(fact),
            None if agrees => NodeKnowledge::ConfirmedGone,
            None => NodeKnowledge::Unknown,
        };
        let confirms = |it: &Read| it.purpose == Purpose::Lost && now.duration_since(it.at) < REREAD;
        (knowledge, agrees && read.is_some_and(confirms))
    }

    /// Notes what a node is to be read for; whether that is news.
    pub(crate) fn want(&self, name: &str, purpose: Purpose, now: Timestamp) -> bool {
        let mut state = self.state.lock();
        let read = state.reads.get(name);
        if read.is_some_and(|it| it.purpose >= purpose && now.duration_since(it.at) < REREAD) {
            return false;
        }
        let is_news = state.wanted.get(name).is_none_or(|it| *it < purpose);
        if is_news {
            state.wanted.insert(name.to_owned(), purpose);
        }
        is_news
    }

    /// A node is not read after all.
    pub(crate) fn give_up(&self, name: &str) {
        self.state.lock().wanted.remove(name);
    }

    /// The queue of nodes was emptied, at the end of a term as the leader: whoever wants a node has to ask again.
    pub(crate) fn forget_wanted(&self) {
        self.state.lock().wanted.clear();
    }

    /// What a node is to be read for.
    pub(crate) fn wanted(&self, name: &str) -> Option<Purpose> {
        self.state.lock().wanted.get(name).copied()
    }

    /// Whether a node was deleted lately that the node cache had.
    pub(crate) fn was_removed(&self, name: &str, now: Timestamp) -> bool {
        self.state.lock().removed.get(name).is_some_and(|until| now < *until)
    }

    /// Whether a node may be declared lost, where `down` of `present` nodes are down. A node that the cache never had does not
    /// wait, and others do not wait for it.
    pub(crate) fn admit(
        &self,
        name: &str,
        is_cached: bool,
        (down, present): (usize, usize),
        now: Timestamp,
    ) -> (Admission, NodeCount) {
        let mut state = self.state.lock();
        state.removed.retain(|_, until| now < *until);
        let removed = state.removed.len();
        let count = NodeCount { down: down + removed, all: present + removed };
        if !is_cached && !state.removed.contains_key(name) {
            return (Admission::Now, count);
        }
        (state.limit.admit(name, count, now), count)
    }

    /// A node was read.
    pub(crate) fn read(&self, name: &str, found: Option<NodeFact>, purpose: Purpose, now: Timestamp) {
        let mut state = self.state.lock();
        state.wanted.remove(name);
        state.reads.retain(|_, it| now.duration_since(it.at) < EXISTENCE);
        state.reads.insert(name.to_owned(), Read { at: now, found, purpose });
    }

    /// The cache shows that a node is there, or not any more. Nodes are declared lost after `after`.
    pub(crate) fn changed(&self, name: &str, fact: Option<&NodeFact>, after: SignedDuration, now: Timestamp) {
        let mut state = self.state.lock();
        match fact {
            None => {
                let until = now.checked_add(after.saturating_add(REMOVED)).unwrap_or(Timestamp::MAX);
                state.removed.retain(|_, until| now < *until);
                state.removed.insert(name.to_owned(), until);
            }
            Some(fact) => {
                state.removed.remove(name);
                if !fact.is_down() {
                    state.limit.forget(name);
                }
            }
        }
    }

    /// None of our pods is on the node.
    pub(crate) fn forget(&self, name: &str) {
        let mut state = self.state.lock();
        state.reads.remove(name);
        state.wanted.remove(name);
        state.limit.forget(name);
    }
}

#[cfg(test)]
mod tests {
    use grove_plan::nodes::Taint;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn tainted() -> NodeFact {
        let key = "node.kubernetes.io/unreachable".to_owned();
        NodeFact { taints: vec![Taint { key, value: String::new(), since: None }] }
    }

    #[test]
    fn a_read_confirms_a_loss_for_ten_seconds_and_existence_for_a_minute() {
        // What was read, for what, what the cache says, and after how many seconds: what is known, and whether it is lost.
        type Row<'a> = (Option<&'a NodeFact>, Purpose, Option<&'a NodeFact>, i64, NodeKnowledge<'a>, bool);
        let (well, down) = (NodeFact::default(), tainted());
        let rows: [Row<'_>; 10] = [
            (None, Purpose::Exists, None, 0, NodeKnowledge::ConfirmedGone, false),
            (None, Purpose::Lost, None, 9, NodeKnowledge::ConfirmedGone, true),
            (None, Purpose::Lost, None, 59, NodeKnowledge::ConfirmedGone, false),
            (None, Purpose::Lost, None, 60, NodeKnowledge::Unknown, false),
            (Some(&well), Purpose::Lost, None, 0, NodeKnowledge::Unknown, false),
            (Some(&down), Purpose::Lost, None, 0, NodeKnowledge::Unknown, false),
            (Some(&down), Purpose::Lost, Some(&down), 9, NodeKnowledge::Present(&down), true),
            (Some(&down), Purpose::Lost, Some(&down), 10, NodeKnowledge::Present(&down), false),
            // The cache is behind, or ahead: either way nothing is confirmed.
            (Some(&well), Purpose::Lost, Some(&down), 0, NodeKnowledge::Present(&down), false),
            (None, Purpose::Lost, Some(&down), 0, NodeKnowledge::Present(&down), false),
        ];
        for (found, purpose, cached, age, knowledge, confirmed) in rows {
            let nodes = Nodes::default();
            nodes.read("a", found.cloned(), purpose, at(100));
            assert_eq!(
                nodes.knowledge("a", cached, at(100 + age)),
                (knowledge, confirmed),
                "{found:?} {age}"
            );
        }
        let unread = Nodes::default();
        assert_eq!(unread.knowledge("a", None, at(0)), (NodeKnowledge::Unknown, false));
        assert_eq!(unread.knowledge("a", Some(&down), at(0)), (NodeKnowledge::Present(&down), false));
    }

    #[test]
    fn a_node_is_read_once_for_all_who_ask() {
        let nodes = Nodes::default();
        assert!(nodes.want("a", Purpose::Exists, at(0)));
        assert!(nodes.want("a", Purpose::Lost, at(0)));
        assert!(!nodes.want("a", Purpose::Lost, at(0)), "it waits to be read");
        assert!(!nodes.want("a", Purpose::Exists, at(0)), "it is read for more already");
        assert_eq!(nodes.wanted("a"), Some(Purpose::Lost));
        nodes.read("a", None, Purpose::Lost, at(1));
        assert_eq!(nodes.wanted("a"), None);
        assert!(!nodes.want("a", Purpose::Lost, at(10)), "it was read just now");
        assert!(nodes.want("a", Purpose::Lost, at(11)));
        nodes.give_up("a");
        assert!(nodes.want("a", Purpose::Lost, at(12)));
        nodes.forget_wanted();
        assert!(nodes.want("a", Purpose::Lost, at(12)), "the queue was emptied");
    }

    #[test]
    fn nodes_that_were_removed_lately_count_as_down() {
        let (nodes, minute) = (Nodes::default(), SignedDuration::from_mins(1));
        nodes.changed("a", None, minute, at(0));
        nodes.changed("b", None, minute, at(0));
        nodes.changed("c", None, minute, at(0));
        nodes.changed("c", Some(&NodeFact::default()), minute, at(1));
        let count = |second| nodes.admit("a", false, (1, 4), at(second)).1;
        assert_eq!(count(10), NodeCount { down: 3, all: 6 });
        assert!(nodes.was_removed("b", at(11 * 60 - 1)) && !nodes.was_removed("b", at(11 * 60)));
        assert_eq!(count(11 * 60), NodeCount { down: 1, all: 4 });
    }

    #[test]
    fn names_that_the_cache_never_had_neither_count_nor_wait() {
        let (nodes, minute) = (Nodes::default(), SignedDuration::from_mins(1));
        for number in 0..100 {
            nodes.read(&format!("invented-{number}"), None, Purpose::Lost, at(0));
        }
        assert_eq!(nodes.admit("a", true, (1, 9), at(1)), (Admission::Now, NodeCount { down: 1, all: 9 }));
        // In a disruption of real nodes they take nobody's time.
        nodes.changed("gone", None, minute, at(2));
        let ask = |name: &str, is_cached| nodes.admit(name, is_cached, (6, 8), at(2)).0;
        assert_eq!(ask("a", true), Admission::Held(at(302)));
        for number in 0..100 {
            assert_eq!(ask(&format!("invented-{number}"), false), Admission::Now);
        }
        assert_eq!(ask("gone", false), Admission::Held(at(332)), "the cache had it");
        assert_eq!(ask("b", true), Admission::Held(at(362)));
    }

    #[test]
    fn what_is_remembered_of_nodes_expires_without_a_question() {
        let (nodes, minute) = (Nodes::default(), SignedDuration::from_mins(1));
        for second in 0..10_000 {
            nodes.read(&format!("invented-{second}"), None, Purpose::Exists, at(second));
            nodes.changed(&format!("node-{second}"), None, minute, at(second));
        }
        let state = nodes.state.lock();
        assert_eq!((state.reads.len(), state.removed.len(), state.wanted.len()), (60, 660, 0));
    }
}
