//! What has to be decided for a gang, in the order in which the search decides it.

use std::cmp::Reverse;

use super::problem::Problem;

/// One thing to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The domain of a group, or whether it is left out.
    Enter {
        /// The group.
        group: usize,
        /// Whether its parent can do without it.
        can_skip: bool,
    },
    /// How many pods of a class a group of several classes takes.
    Count {
        /// The group.
        group: usize,
        /// Which of its classes.
        slot: usize,
    },
    /// The nodes of these pods.
    Fill {
        /// The group.
        group: usize,
        /// Which of its classes.
        slot: usize,
    },
}

impl Step {
    pub(crate) fn group(self) -> usize {
        match self {
            Self::Enter { group, .. } | Self::Count { group, .. } | Self::Fill { group, .. } => group,
        }
    }
}

/// All steps for the minimum of a group.
pub(crate) fn minimum(problem: &Problem<'_>, group: usize, prefers: bool) -> Vec<Step> {
    let mut plan = Plan { problem, prefers, steps: Vec::new(), last: Vec::new() };
    plan.add(group, false);
    plan.steps.append(&mut plan.last);
    plan.steps
}

struct Plan<'a> {
    problem: &'a Problem<'a>,
    prefers: bool,
    steps: Vec<Step>,
    /// Pods that need others near them come after those.
    last: Vec<Step>,
}

impl Plan<'_> {
    fn add(&mut self, group: usize, can_skip: bool) {
        let node = &self.problem.groups[group];
        if node.is_satisfied || !node.is_possible {
            return;
        }
        if can_skip || has_domain(self.problem, group, self.prefers) {
            self.steps.push(Step::Enter { group, can_skip });
        }
        for slot in 0..node.slots.len() {
            if node.slots.len() > 1 {
                self.steps.push(Step::Count { group, slot });
            }
            let class = &self.problem.classes[node.slots[slot].class];
            let list = if class.requirements.affinity.is_empty() { &mut self.steps } else { &mut self.last };
            list.push(Step::Fill { group, slot });
        }
        let (mut open, needed) = self.problem.open_children(group);
        let can_skip = open.len() > needed;
        // Where pods depend on others, or not all groups are needed, the order of the tree counts; else what is hard to place goes first.
        if !self.problem.is_sequential && !can_skip {
            open.sort_by_key(|it| Reverse(self.problem.hardness(*it)));
        }
        for child in open {
            self.add(child, can_skip);
        }
    }
}

/// Whether a domain is chosen for a group.
pub(crate) fn has_domain(problem: &Problem<'_>, group: usize, prefers: bool) -> bool {
    let node = &problem.groups[group];
    node.required.is_some() || (prefers && !node.preferred.is_empty())
}
