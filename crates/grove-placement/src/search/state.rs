//! What has been decided so far.

use super::{mixer::Mixer, problem::Problem, symmetry::Symmetry};

/// Pods that were given a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) group: usize,
    pub(crate) slot: usize,
    pub(crate) class: usize,
    pub(crate) node: usize,
    pub(crate) count: u32,
}

/// What has been decided so far.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// What is free: for each node, of each resource of the problem.
    free: Vec<i64>,
    width: usize,
    /// The set of nodes that was chosen for a group.
    pub(crate) chosen: Vec<Option<usize>>,
    /// Groups that are left out.
    pub(crate) skipped: Vec<bool>,
    /// How many of its children a group does without.
    pub(crate) skips: Vec<usize>,
    /// How many pods of each class a group takes.
    pub(crate) take: Vec<Vec<u32>>,
    /// Pods with their nodes, in the order in which they were placed.
    pub(crate) placed: Vec<Placed>,
    /// Equal for states from which the same can be placed.
    hash: u128,
}

impl State {
    pub(crate) fn new(problem: &Problem<'_>) -> Self {
        let nodes = problem.cluster.nodes();
        let free = nodes.iter().flat_map(|node| problem.resources.iter().map(|it| node.free(it)));
        let groups = problem.groups.len();
        Self {
            free: free.collect(),
            width: problem.resources.len(),
            chosen: vec![None; groups],
            skipped: vec![false; groups],
            skips: vec![0; groups],
            take: problem.groups.iter().map(|it| vec![0; it.slots.len()]).collect(),
            placed: Vec::new(),
            hash: 0,
        }
    }

    pub(crate) fn free(&self, node: usize) -> &[i64] {
        &self.free[node * self.width..(node + 1) * self.width]
    }

    /// How many pods of a class fit on a node, other pods aside.
    pub(crate) fn fit(&self, problem: &Problem<'_>, class: usize, node: usize) -> u64 {
        let class = &problem.classes[class];
        if !class.is_open(node) {
            return 0;
        }
        let asked = class.requests.iter().zip(self.free(node)).filter(|it| *it.0 > 0);
        let fit = asked.map(|(request, free)| free / request).min();
        // A pod that asks for nothing at all fits as often as one likes.
        fit.map_or(u64::from(u32::MAX), |it| u64::try_from(it).unwrap_or_default())
    }

    /// Places pods; [`Self::undo`] takes the last ones back.
    pub(crate) fn put(&mut self, problem: &Problem<'_>, symmetry: &Symmetry, placed: Placed) {
        self.change(problem, symmetry, placed, -1);
        self.placed.push(placed);
    }

    pub(crate) fn undo(&mut self, problem: &Problem<'_>, symmetry: &Symmetry) {
        if let Some(placed) = self.placed.pop() {
            self.change(problem, symmetry, placed, 1);
        }
    }

    fn change(&mut self, problem: &Problem<'_>, symmetry: &Symmetry, placed: Placed, sign: i64) {
        let node = placed.node;
        if problem.is_sequential {
            let one = Mixer::new(1).add(placed.class as u64).add(node as u64).finish();
            let all = one.wrapping_mul(u128::from(placed.count));
            self.hash = if sign < 0 { self.hash.wrapping_add(all) } else { self.hash.wrapping_sub(all) };
        } else {
            self.hash = self.hash.wrapping_sub(symmetry.node_hash(node, self.free(node)));
        }
        let start = node * self.width;
        for (at, request) in problem.classes[placed.class].requests.iter().enumerate() {
            // What fits is not more than is free, so that this neither overflows nor becomes negative.
            let amount = request.saturating_mul(i64::from(placed.count)).saturating_mul(sign);
            self.free[start + at] = self.free[start + at].saturating_add(amount);
        }
        if !problem.is_sequential {
            self.hash = self.hash.wrapping_add(symmetry.node_hash(node, self.free(node)));
        }
    }

    /// The set of nodes that a group has to keep to: its own, or that of the nearest group around it; 0 is all nodes.
    pub(crate) fn set_of(&self, problem: &Problem<'_>, group: usize) -> usize {
        problem.path(group).into_iter().find_map(|it| self.chosen[it]).unwrap_or_default()
    }

    /// Whether a group, or one around it, is left out.
    pub(crate) fn is_left_out(&self, problem: &Problem<'_>, group: usize) -> bool {
        problem.path(group).into_iter().any(|it| self.skipped[it])
    }

    /// What matters of this state for the steps from `step` on, which is about `group`.
    pub(crate) fn key(&self, problem: &Problem<'_>, step: usize, group: usize, left: u32) -> u128 {
        let mut mixer = Mixer::new(2).add(step as u64).add(u64::from(left)).add_wide(self.hash);
        let number = |set: Option<usize>| set.map_or(0, |it| it as u64 + 1);
        // Where the order of pods counts, groups are come back to.
        let groups =
            if problem.is_sequential { (0..problem.groups.len()).collect() } else { problem.path(group) };
        for it in groups {
            mixer = mixer.add(number(self.chosen[it])).add(self.skips[it] as u64);
            if problem.is_sequential {
                mixer = mixer.add(u64::from(self.skipped[it]));
            }
            for take in &self.take[it] {
                mixer = mixer.add(u64::from(*take));
            }
        }
        mixer.finish()
    }
}
