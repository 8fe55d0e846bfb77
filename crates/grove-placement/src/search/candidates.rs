//! The nodes for some pods of one class, the best first.

use std::cmp::Reverse;

use super::{problem::Problem, state::State, symmetry::Symmetry};

/// Nodes on which at least one pod fits.
#[derive(Debug)]
pub(crate) struct Candidates {
    pub(crate) nodes: Vec<usize>,
    /// How many pods fit on each.
    pub(crate) fit: Vec<u32>,
    /// Whether a node is as good as the one before it.
    pub(crate) is_same: Vec<bool>,
    /// How many pods fit on each node and all after it; one more entry than nodes.
    pub(crate) room: Vec<u64>,
}

/// What is to be placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) group: usize,
    pub(crate) class: usize,
    pub(crate) count: u32,
    /// Whether pods should be together by the label that a group prefers.
    pub(crate) prefers: bool,
}

impl Candidates {
    pub(crate) fn new(
        problem: &Problem<'_>,
        state: &State,
        symmetry: &Symmetry,
        nodes: &[usize],
        wanted: Wanted,
        is_open: impl Fn(usize) -> bool,
    ) -> Self {
        let fit = |node: usize| if is_open(node) { state.fit(problem, wanted.class, node) } else { 0 };
        let fits = nodes.iter().map(|node| (*node, u32::try_from(fit(*node)).unwrap_or(u32::MAX)));
        let mut fits: Vec<(usize, u32)> = fits.filter(|it| it.1 > 0).collect();
        let ranks = Ranks::new(problem, state, &fits, wanted);
        let class = &problem.classes[wanted.class];
        fits.sort_by_cached_key(|(node, fit)| {
            let preference = Reverse(class.preference[*node]);
            // The fewest nodes, and of these the ones that are left with least.
            let tight = order(u64::from(*fit), wanted.count);
            (ranks.of(problem, *node), preference, class.idle_devices[*node], tight, *node)
        });
        let mut room = vec![0_u64; fits.len() + 1];
        for at in (0..fits.len()).rev() {
            room[at] = room[at + 1].saturating_add(fits[at].1.into());
        }
        let is_same = |at: usize| at > 0 && symmetry.are_same(state, fits[at].0, fits[at - 1].0);
        Self {
            is_same: (0..fits.len()).map(is_same).collect(),
            nodes: fits.iter().map(|it| it.0).collect(),
            fit: fits.iter().map(|it| it.1).collect(),
            room,
        }
    }
}

/// What holds all comes first, the smallest of it; then what holds most.
fn order(fit: u64, wanted: u32) -> (bool, u64) {
    if fit >= wanted.into() { (false, fit) } else { (true, u64::MAX - fit) }
}

/// The order of the domains by which pods should be together.
struct Ranks {
    key: Option<usize>,
    ranks: Vec<(u64, bool, u64)>,
}

impl Ranks {
    fn new(problem: &Problem<'_>, state: &State, fits: &[(usize, u32)], wanted: Wanted) -> Self {
        let path = problem.path(wanted.group);
        let prefers = |it: &usize| problem.groups[*it].preferred.first().copied().map(|key| (*it, key));
        let Some((group, key)) = path.iter().find_map(prefers).filter(|_| wanted.prefers) else {
            return Self { key: None, ranks: Vec::new() };
        };
        let domains = problem.keys.count(key);
        let (mut used, mut room) = (vec![0_u64; domains], vec![0_u64; domains]);
        for it in state.placed.iter().filter(|it| problem.path(it.group).contains(&group)) {
            if let Some(value) = problem.keys.value(key, it.node) {
                used[value as usize] += u64::from(it.count);
            }
        }
        for (node, fit) in fits {
            if let Some(value) = problem.keys.value(key, *node) {
                let sum = &mut room[value as usize];
                *sum = sum.saturating_add((*fit).into());
            }
        }
        let rank = |(used, room): (u64, u64)| {
            let (is_small, size) = order(room, wanted.count);
            (u64::MAX - used, is_small, size)
        };
        Self { key: Some(key), ranks: used.into_iter().zip(room).map(rank).collect() }
    }

    /// Nodes of one domain stay together; those without the label come last.
    fn of(&self, problem: &Problem<'_>, node: usize) -> ((u64, bool, u64), Option<u32>) {
        let Some(key) = self.key else { return Default::default() };
        match problem.keys.value(key, node) {
            Some(value) => (self.ranks[value as usize], Some(value)),
            None => ((u64::MAX, true, u64::MAX), None),
        }
    }
}
