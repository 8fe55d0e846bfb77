//! The steps of upstream's gang scheduling tests, GS1 to GS12, with one pod to a node.

use serde_json::Value;

use crate::scenarios::backends::stage::{self, Role};

/// One test.
pub(super) struct Case {
    /// Its set.
    pub(super) workload: Workload,
    /// Nodes in all.
    pub(super) nodes: usize,
    /// Nodes that take pods from the beginning.
    pub(super) open: usize,
    /// What happens after the set is created.
    pub(super) steps: &'static [Step],
}

/// The sets: a role of two pods beside two copies of a group of one and three pods; or a role alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Workload {
    /// All pods are needed.
    Full,
    /// One of each role is enough, and one copy of the group.
    Minimum,
    /// Three pods, of which two are needed.
    Single,
}

/// A step of a test.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// So many more nodes take pods.
    Open(usize),
    /// The scaling group of a replica of the set gets so many copies.
    Group(usize, i32),
    /// The set gets so many replicas.
    Set(i32),
    /// So many pods have a node, of so many that there are.
    Bound(usize, usize),
}

use Step::{Bound, Group, Open, Set};

const fn full(nodes: usize, steps: &'static [Step]) -> Case {
    Case { workload: Workload::Full, nodes, open: 9, steps }
}

const fn minimum(nodes: usize, steps: &'static [Step]) -> Case {
    Case { workload: Workload::Minimum, nodes, open: 2, steps }
}

/// Not upstream's: a gang of one role.
pub(super) const ONE_ROLE: Case = Case {
    workload: Workload::Single,
    nodes: 3,
    open: 1,
    steps: &[Bound(0, 3), Open(1), Bound(2, 3), Open(1), Bound(3, 3)],
};

/// A gang that lacks one slot.
pub(super) const GS1: Case = full(10, &[Bound(0, 10), Open(1), Bound(10, 10)]);

/// A copy of the group more, which is a gang of its own.
pub(super) const GS2: Case =
    full(14, &[Bound(0, 10), Open(1), Bound(10, 10), Group(0, 3), Bound(10, 14), Open(4), Bound(14, 14)]);

/// A replica of the set more.
pub(super) const GS3: Case =
    full(20, &[Bound(0, 10), Open(1), Bound(10, 10), Set(2), Bound(10, 20), Open(10), Bound(20, 20)]);

/// Both.
pub(super) const GS4: Case = full(
    28,
    &[
        Bound(0, 10),
        Open(1),
        Bound(10, 10),
        Group(0, 3),
        Bound(10, 14),
        Open(4),
        Bound(14, 14),
        Set(2),
        Bound(14, 24),
        Open(10),
        Bound(24, 24),
        Group(1, 3),
        Bound(24, 28),
        Open(4),
        Bound(28, 28),
    ],
);

/// The minimum first, the rest as there is room.
pub(super) const GS5: Case = minimum(10, &[Bound(0, 10), Open(1), Bound(3, 10), Open(7), Bound(10, 10)]);

pub(super) const GS6: Case = minimum(
    14,
    &[
        Bound(0, 10),
        Open(1),
        Bound(3, 10),
        Open(7),
        Bound(10, 10),
        Group(0, 3),
        Bound(10, 14),
        Open(2),
        Bound(12, 14),
        Open(2),
        Bound(14, 14),
    ],
);

pub(super) const GS7: Case = minimum(
    14,
    &[
        Bound(0, 10),
        Open(1),
        Bound(3, 10),
        Open(2),
        Bound(5, 10),
        Open(5),
        Bound(10, 10),
        Group(0, 3),
        Bound(10, 14),
        Open(2),
        Bound(12, 14),
        Open(2),
        Bound(14, 14),
    ],
);

/// Scaled while everything waits.
pub(super) const GS8: Case = minimum(
    14,
    &[
        Bound(0, 10),
        Group(0, 3),
        Bound(0, 14),
        Open(1),
        Bound(3, 14),
        Open(4),
        Bound(7, 14),
        Open(7),
        Bound(14, 14),
    ],
);

pub(super) const GS9: Case = minimum(
    20,
    &[
        Bound(0, 10),
        Open(1),
        Bound(3, 10),
        Open(7),
        Bound(10, 10),
        Set(2),
        Bound(10, 20),
        Open(3),
        Bound(13, 20),
        Open(7),
        Bound(20, 20),
    ],
);

pub(super) const GS10: Case = minimum(
    20,
    &[
        Bound(0, 10),
        Set(2),
        Bound(0, 20),
        Open(4),
        Bound(6, 20),
        Open(4),
        Bound(10, 20),
        Open(10),
        Bound(20, 20),
    ],
);

pub(super) const GS11: Case = minimum(
    28,
    &[
        Bound(0, 10),
        Open(1),
        Bound(3, 10),
        Open(7),
        Bound(10, 10),
        Group(0, 3),
        Bound(10, 14),
        Open(2),
        Bound(12, 14),
        Open(2),
        Bound(14, 14),
        Set(2),
        Bound(14, 24),
        Open(3),
        Bound(17, 24),
        Open(7),
        Bound(24, 24),
        Group(1, 3),
        Bound(24, 28),
        Open(2),
        Bound(26, 28),
        Open(2),
        Bound(28, 28),
    ],
);

pub(super) const GS12: Case = minimum(
    28,
    &[
        Bound(0, 10),
        Set(2),
        Bound(0, 20),
        Group(0, 3),
        Group(1, 3),
        Bound(0, 28),
        Open(4),
        Bound(6, 28),
        Open(8),
        Bound(14, 28),
        Open(14),
        Bound(28, 28),
    ],
);

impl Case {
    /// The set.
    pub(super) fn set(&self, name: &str) -> Value {
        if self.workload == Workload::Single {
            return stage::set(name, &[Role::new("a", 3, 2)]);
        }
        let needed = |replicas: i32| if self.workload == Workload::Full { replicas } else { 1 };
        let roles =
            [Role::new("a", 2, needed(2)), Role::new("b", 1, needed(1)), Role::new("c", 3, needed(3))];
        let mut set = stage::set(name, &roles);
        stage::group(&mut set, "x", &["b", "c"], 2, needed(2));
        set
    }

    /// How many pods of a clique its gang cannot do without.
    pub(super) fn minimum_of(&self, clique: &str) -> usize {
        match (self.workload, clique.rsplit_once('-').map(|it| it.1)) {
            (Workload::Full | Workload::Single, Some("a")) => 2,
            (Workload::Full, Some("c")) => 3,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A typing error in a table would be a scenario that proves nothing.
    #[test]
    fn steps_add_up() {
        for case in [&ONE_ROLE, &GS1, &GS2, &GS3, &GS4, &GS5, &GS6, &GS7, &GS8, &GS9, &GS10, &GS11, &GS12] {
            let single = case.workload == Workload::Single;
            let (mut open, mut sets, mut groups) = (case.open, 1, [2, 2]);
            let mut last = (0, 0);
            for step in case.steps {
                match *step {
                    Open(more) => open += more,
                    Group(replica, copies) => groups[replica] = copies,
                    Set(replicas) => sets = replicas,
                    Bound(bound, pods) => {
                        let copies: i32 = groups.iter().take(usize::try_from(sets).unwrap()).sum();
                        let all = if single { 3 } else { 2 * sets + 4 * copies };
                        assert_eq!(i32::try_from(pods).unwrap(), all);
                        assert!(bound <= open, "{bound} pods on {open} nodes");
                        last = (bound, pods);
                    }
                }
            }
            assert_eq!(open, case.nodes, "not all nodes are used");
            assert_eq!(last.0, last.1, "not all pods are placed in the end");
        }
    }
}
