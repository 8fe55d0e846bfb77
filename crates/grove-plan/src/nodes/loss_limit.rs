//! How fast nodes may be declared lost when many of them are in trouble at once.
//!
//! Where most nodes of a cluster fail together, the fault is more often in the network or in the control plane than in the
//! nodes, and pods that still run would be deleted for nothing. As kube-controller-manager does for a zone that is disrupted:
//! nothing is declared lost for a while, and then one node after the other.

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

/// A cluster is disrupted if a larger part of its nodes than this is down, as for kube-controller-manager.
pub const UNHEALTHY_PERCENT: usize = 55;
/// And no fewer than these, so that one node of two is no disruption.
pub const UNHEALTHY_NODES: usize = 3;
/// How long nothing is declared lost after a disruption was noticed.
pub const HOLD: SignedDuration = SignedDuration::from_mins(5);
/// Then one node is, each time that this has passed.
pub const INTERVAL: SignedDuration = SignedDuration::from_secs(30);

/// The nodes of a cluster, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCount {
    /// Nodes whose kubelets cannot do their work, and nodes that were removed lately.
    pub down: usize,
    /// All nodes, those among them.
    pub all: usize,
}

impl NodeCount {
    /// Whether so many are down at once that it is more likely not their own fault.
    pub fn is_disrupted(self) -> bool {
        self.down >= UNHEALTHY_NODES
            && self.down.saturating_mul(100) > self.all.saturating_mul(UNHEALTHY_PERCENT)
    }
}

/// Whether a node may be declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Now,
    /// Not before this time, unless the disruption is over sooner.
    Held(Timestamp),
}

/// What is remembered of a disruption. A new one is empty: after a restart of the operator it is held once more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossLimit {
    /// When the disruption was noticed.
    since: Option<Timestamp>,
    /// The last time that was given to a node.
    last: Option<Timestamp>,
    /// The time that each node was given.
    given: BTreeMap<String, Timestamp>,
}

impl LossLimit {
    /// Asks for a node. The answer to the next question is the same, until its time has come.
    pub fn admit(&mut self, node: &str, count: NodeCount, now: Timestamp) -> Admission {
        if !count.is_disrupted() {
            *self = Self::default();
            return Admission::Now;
        }
        let since = *self.since.get_or_insert(now);
        let at = if let Some(at) = self.given.get(node) {
            *at
        } else {
            let first = since.checked_add(HOLD).unwrap_or(Timestamp::MAX);
            let next = self.last.map(|it| it.checked_add(INTERVAL).unwrap_or(Timestamp::MAX));
            let at = next.into_iter().chain([first, now]).max().unwrap_or(first);
            self.last = Some(at);
            self.given.insert(node.to_owned(), at);
            at
        };
        if at <= now { Admission::Now } else { Admission::Held(at) }
    }

    /// The node is well, or no pods are there any more: if it fails again, it waits again.
    pub fn forget(&mut self, node: &str) {
        self.given.remove(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::at;

    #[test]
    fn most_nodes_and_no_fewer_than_three_are_a_disruption() {
        for (down, all, want) in [
            (0, 0, false),
            (1, 1, false),
            (2, 2, false),
            (3, 3, true),
            (3, 5, true),
            (3, 6, false),
            (55, 100, false),
            (56, 100, true),
        ] {
            assert_eq!(NodeCount { down, all }.is_disrupted(), want, "{down} of {all}");
        }
    }

    #[test]
    fn in_a_disruption_nodes_are_lost_one_by_one_after_a_while() {
        let (many, few) = (NodeCount { down: 6, all: 9 }, NodeCount { down: 4, all: 9 });
        let mut limit = LossLimit::default();
        assert_eq!(limit.admit("z", few, at(10)), Admission::Now, "there is none");
        assert_eq!(limit.admit("a", many, at(100)), Admission::Held(at(400)));
        assert_eq!(limit.admit("b", many, at(101)), Admission::Held(at(430)));
        assert_eq!(limit.admit("a", many, at(399)), Admission::Held(at(400)), "it keeps its time");
        assert_eq!(limit.admit("b", many, at(400)), Admission::Held(at(430)));
        assert_eq!(limit.admit("a", many, at(400)), Admission::Now);
        assert_eq!(limit.admit("c", many, at(401)), Admission::Held(at(460)));
        assert_eq!(limit.admit("d", many, at(9_000)), Admission::Now, "no time is saved up");
        assert_eq!(limit.admit("e", many, at(9_001)), Admission::Held(at(9_030)));
        limit.forget("a");
        assert_eq!(limit.admit("a", many, at(9_002)), Admission::Held(at(9_060)), "one that was well");
        assert_eq!(limit.admit("b", few, at(9_003)), Admission::Now, "it is over");
        assert_eq!(limit.admit("a", many, at(10_000)), Admission::Held(at(10_300)), "another one");
    }
}
