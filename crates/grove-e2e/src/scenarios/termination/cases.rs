//! The steps of upstream's tests of gang termination, GT1 to GT6.

use super::super::updates::workload::Workload;

/// One test.
pub(super) struct Case {
    pub(super) workload: Workload,
    /// Pods of the first role, which is scaled by hand before anything happens.
    pub(super) scaled: i32,
    /// What happens once all pods are ready.
    pub(super) steps: &'static [Step],
}

/// A step of a test.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// No node takes pods any more.
    Close,
    /// So many ready pods of a clique are deleted.
    Kill(&'static str, usize),
    /// Nothing is wrong with that, and nothing follows.
    Tolerated,
    /// After the delay, all pods of cliques with this beginning are replaced, and no others.
    Goes(&'static str),
    /// All nodes take pods again.
    Open,
}

use Step::{Close, Goes, Kill, Open, Tolerated};

/// The whole replica of the set.
pub(super) const REPLICA: &str = "0-";

/// A role that needs all its pods loses one.
pub(super) const GT1: Case =
    Case { workload: Workload::Full, scaled: 2, steps: &[Close, Kill("0-a", 1), Goes(REPLICA), Open] };

/// A copy of the group loses a pod that it needs, and all copies are needed.
pub(super) const GT2: Case =
    Case { workload: Workload::Full, scaled: 2, steps: &[Close, Kill("0-x-0-c", 1), Goes(REPLICA), Open] };

/// The first pod can be spared, the second cannot; how many there are was chosen by hand.
pub(super) const GT3: Case = Case {
    workload: Workload::Minimum,
    scaled: 3,
    steps: &[Close, Kill("0-a", 2), Tolerated, Kill("0-a", 1), Goes(REPLICA), Open],
};

/// Pods that can be spared; then a copy of the group that can; then the other.
pub(super) const GT4: Case = Case {
    workload: Workload::Minimum,
    scaled: 2,
    steps: &[
        Close,
        Kill("0-x-0-c", 1),
        Kill("0-x-1-c", 1),
        Tolerated,
        Kill("0-x-0-c", 2),
        Goes("0-x-0-"),
        Kill("0-x-1-c", 2),
        Goes(REPLICA),
        Open,
    ],
};

/// A copy of the group that can be spared.
pub(super) const GT5: Case = Case {
    workload: Workload::WholeCopies,
    scaled: 2,
    steps: &[Close, Kill("0-x-1-c", 3), Goes("0-x-1-"), Open],
};

/// A pod that can be spared.
pub(super) const GT6: Case =
    Case { workload: Workload::Minimum, scaled: 2, steps: &[Kill("0-x-1-c", 1), Tolerated] };
