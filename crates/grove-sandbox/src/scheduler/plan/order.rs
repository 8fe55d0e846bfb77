//! Which unit is looked at next: the one of the highest priority, of these the oldest, of these the one that was seen first.
//!
//! A unit that does not fit is put aside until something changes that may help it, so that it never stands in the way of others.
//! Whenever capacity becomes free, all units that could use it are looked at in this order again: an older one takes it before
//! a younger one of its priority. Nothing is kept free for a gang that is too large for what becomes free bit by bit; priority,
//! and preemption with it, is the means against that.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use grove_placement::Node;
use k8s_openapi::jiff::Timestamp;

use super::{needs::Needs, unit::UnitKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    priority: Reverse<i32>,
    created: Timestamp,
    seen: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    rank: Rank,
    /// What it waits for; `None` while it is to be looked at.
    needs: Option<Needs>,
}

/// Units that wait for a decision.
#[derive(Debug, Default)]
pub(crate) struct SchedulingQueue {
    entries: BTreeMap<UnitKey, Entry>,
    active: BTreeSet<(Rank, UnitKey)>,
    seen: u64,
}

impl SchedulingQueue {
    /// Something about the unit changed: it is to be looked at.
    pub(crate) fn add(&mut self, unit: UnitKey, priority: i32, created: Timestamp) {
        let seen = if let Some(entry) = self.entries.get(&unit) {
            entry.rank.seen
        } else {
            self.seen += 1;
            self.seen
        };
        self.remove(&unit);
        let rank = Rank { priority: Reverse(priority), created, seen };
        self.active.insert((rank, unit.clone()));
        self.entries.insert(unit, Entry { rank, needs: None });
    }

    /// The next unit to look at. It is not looked at again before it is added or woken.
    pub(crate) fn pop(&mut self) -> Option<UnitKey> {
        self.active.pop_first().map(|it| it.1)
    }

    /// The unit does not fit: it waits.
    pub(crate) fn park(&mut self, unit: &UnitKey, needs: Needs) {
        if let Some(entry) = self.entries.get_mut(unit) {
            self.active.remove(&(entry.rank, unit.clone()));
            entry.needs = Some(needs);
        }
    }

    /// The unit waits for nothing.
    pub(crate) fn remove(&mut self, unit: &UnitKey) {
        if let Some(entry) = self.entries.remove(unit) {
            self.active.remove(&(entry.rank, unit.clone()));
        }
    }

    /// Nodes or pods changed: units that this may help are looked at again.
    pub(crate) fn wake(&mut self, changed: &[&Node]) {
        let helps = |needs: &Needs| needs.is_any_change() || changed.iter().any(|it| needs.can_use(it));
        for (unit, entry) in &mut self.entries {
            if entry.needs.as_ref().is_some_and(helps) {
                entry.needs = None;
                self.active.insert((entry.rank, unit.clone()));
            }
        }
    }

    /// Units that wait for something to change.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.entries.values().filter(|it| it.needs.is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use grove_placement::PodRequirements;

    use super::*;
    use crate::scheduler::observe::pod_view::PodKey;

    fn unit(name: &str) -> UnitKey {
        UnitKey::Pod(PodKey { namespace: "ns".to_owned(), name: name.to_owned() })
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn needs(gpus: i64) -> Needs {
        let mut pod = PodRequirements::default();
        pod.requests.set("gpu", gpus);
        Needs::of([&pod].into_iter())
    }

    fn node(gpus: i64) -> Node {
        let mut node = Node::default();
        node.allocatable.set("gpu", gpus);
        node
    }

    fn all(queue: &mut SchedulingQueue) -> Vec<UnitKey> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn priority_then_age_then_order_of_arrival() {
        let mut queue = SchedulingQueue::default();
        for (name, priority, created) in
            [("young", 0, 9), ("b", 0, 5), ("a", 0, 5), ("high", 7, 9), ("low", -1, 0)]
        {
            queue.add(unit(name), priority, at(created));
        }
        // A change does not cost its place.
        queue.add(unit("b"), 0, at(5));
        assert_eq!(all(&mut queue), ["high", "b", "a", "young", "low"].map(unit));
    }

    #[test]
    fn waiting_units_come_back_when_it_may_help() {
        let mut queue = SchedulingQueue::default();
        for (name, gpus) in [("eight", 8), ("two", 2), ("one", 1)] {
            queue.add(unit(name), 0, at(0));
            assert_eq!(queue.pop(), Some(unit(name)));
            queue.park(&unit(name), needs(gpus));
        }
        queue.wake(&[&node(0)]);
        assert_eq!(all(&mut queue), []);
        queue.wake(&[&node(0), &node(2)]);
        assert_eq!(all(&mut queue), ["two", "one"].map(unit));
        assert_eq!(queue.waiting(), 1);
        queue.add(unit("eight"), 0, at(0));
        queue.remove(&unit("eight"));
        assert_eq!(all(&mut queue), []);
    }
}
