//! Which replicas of a scaling group are replaced now. A replica is replaced as a whole.

use std::collections::BTreeSet;

use crate::budget::Budget;

/// A replica of a scaling group, as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupReplica {
    /// Its index.
    pub index: u32,
    /// Whether it, or a pod of it, is of another template.
    pub is_outdated: bool,
    /// Whether its cliques have the new template already, and only pods are left.
    pub has_begun: bool,
    /// Whether the minimum of each is ready.
    pub is_available: bool,
    /// Whether a pod of it has a node.
    pub is_bound: bool,
}

/// Decides. `minimum` is that of the group; `at_start` says how many were available when its turn began, where it has its
/// turn.
///
/// Replicas without a node are missed by nobody. Those that are not available cost nothing. Of the others one goes, once as
/// many are available as when it began: a template that does not work stops here.
pub fn replaced_now(replicas: &[GroupReplica], minimum: u32, at_start: Option<u32>) -> BTreeSet<u32> {
    let outdated = || replicas.iter().filter(|it| it.is_outdated);
    let at_once: BTreeSet<u32> = outdated()
        .filter(|it| !it.is_bound || (at_start.is_some() && !it.is_available))
        .map(|it| it.index)
        .collect();
    let count = |counts: fn(&GroupReplica) -> bool| {
        u32::try_from(replicas.iter().filter(|it| counts(it)).count()).unwrap_or(u32::MAX)
    };
    let mut budget = Budget { wanted: count(|_| true), minimum, serving: count(|it| it.is_available) };
    if !at_once.is_empty() || at_start.is_none_or(|it| budget.serving < it.min(budget.wanted)) {
        return at_once;
    }
    let next = outdated().min_by_key(|it| (!it.has_begun, it.index));
    next.filter(|it| budget.replace(it.is_available)).map(|it| it.index).into_iter().collect()
}
