//! Backtracking over the steps of a gang, without recursion.
//!
//! Every decision is a [`Frame`] on a stack. A frame goes through its alternatives; when it has none left, the frame below goes
//! on with its next one. Three things keep this short: bounds ([`super::bounds`]), symmetry ([`super::symmetry`]), and a memory of
//! states from which nothing was found.

use std::{collections::BTreeSet, rc::Rc};

use super::{
    bounds::{Bounds, slack},
    candidates::{Candidates, Wanted},
    frame::{CountFrame, EnterFrame, FillFrame, Frame, Goal},
    problem::Problem,
    sets::Sets,
    state::State,
    steps::Step,
    symmetry::Symmetry,
};

/// States that are remembered at most.
const MAX_REMEMBERED: usize = 200_000;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The state has a place for everything.
    Found,
    /// There is none; the state is as before.
    Exhausted,
    /// The budget is used up; the state is as before.
    OutOfSteps,
}

/// A search over one problem.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) state: State,
    pub(crate) sets: Sets,
    pub(crate) symmetry: Symmetry,
    pub(crate) prefers: bool,
    /// Alternatives that were tried.
    pub(crate) tried: u64,
    budget: u64,
    failed: BTreeSet<u128>,
}

/// What became of a goal.
enum Opened {
    Done,
    Frame(Frame),
    Dead,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(problem: &'a Problem<'a>, prefers: bool, budget: u64) -> Self {
        Self {
            problem,
            state: State::new(problem),
            sets: Sets::new(problem, prefers),
            symmetry: Symmetry::new(problem, prefers),
            prefers,
            tried: 0,
            budget,
            failed: BTreeSet::new(),
        }
    }

    /// Takes all steps, or none, to place the minimum of a group.
    pub(crate) fn run(&mut self, steps: &[Step]) -> Verdict {
        self.run_with(steps, Bounds::new(self.problem, steps))
    }

    /// Likewise, to place as many pods as the state says.
    pub(crate) fn run_more(&mut self, steps: &[Step]) -> Verdict {
        self.run_with(steps, Bounds::none(steps))
    }

    fn run_with(&mut self, steps: &[Step], mut bounds: Bounds) -> Verdict {
        // States are remembered by the number of a step, which means something else in every run.
        self.failed.clear();
        if !bounds.allow(self.problem, &self.state, &self.sets, steps, 0) {
            return Verdict::Exhausted;
        }
        let mut frames: Vec<Frame> = Vec::new();
        let mut goal = Goal::Step(0);
        loop {
            match self.open(steps, goal) {
                Opened::Done => return Verdict::Found,
                Opened::Frame(frame) => frames.push(frame),
                Opened::Dead => {}
            }
            goal = loop {
                let Some(top) = frames.last_mut() else { return Verdict::Exhausted };
                if self.tried >= self.budget {
                    while let Some(mut frame) = frames.pop() {
                        frame.undo(self);
                    }
                    return Verdict::OutOfSteps;
                }
                self.tried += 1;
                if let Some(next) = top.advance(self, steps, &mut bounds) {
                    break next;
                }
                let key = top.key();
                if let Some(key) = key.filter(|_| self.failed.len() < MAX_REMEMBERED) {
                    self.failed.insert(key);
                }
                frames.pop();
            };
        }
    }

    fn open(&mut self, steps: &[Step], goal: Goal) -> Opened {
        let (mut at, left) = match goal {
            Goal::Node(frame) => return Opened::Frame(Frame::Fill(frame)),
            Goal::Step(at) => (at, None),
            Goal::Rest(at, left) => (at, Some(left)),
        };
        // Steps of groups that are left out, and those that have nothing to place.
        let is_void = |it: &Step| match *it {
            _ if self.state.is_left_out(self.problem, it.group()) => true,
            Step::Fill { group, slot } => self.count(group, slot) == 0,
            _ => false,
        };
        while steps.get(at).is_some_and(is_void) {
            at += 1;
        }
        let Some(step) = steps.get(at) else { return Opened::Done };
        let key = self.state.key(self.problem, at, step.group(), left.unwrap_or_default());
        if self.failed.contains(&key) {
            return Opened::Dead;
        }
        match *step {
            Step::Enter { group, can_skip } => Opened::Frame(self.open_enter(at, group, can_skip, key)),
            Step::Count { group, slot } => Opened::Frame(self.open_count(at, group, slot, key)),
            Step::Fill { group, slot } => self.open_fill(at, group, slot, left, key),
        }
    }

    fn open_enter(&mut self, at: usize, group: usize, can_skip: bool, key: u128) -> Frame {
        let (problem, around) = (self.problem, self.state.set_of(self.problem, group));
        let node = &problem.groups[group];
        let mut sets: Vec<(usize, u64, usize)> = Vec::new();
        for choice in self.sets.choices(problem, group, around).iter() {
            let nodes = &self.sets.get(choice.set).nodes;
            if !node.pinned.iter().all(|it| nodes.binary_search(it).is_ok()) {
                continue;
            }
            if let Some(slack) = slack(problem, &self.state, nodes, &node.demand) {
                sets.push((choice.tier, slack, choice.set));
            }
        }
        // What is preferred most, then what is tightest, then by name.
        sets.sort_unstable();
        let can_skip = can_skip && node.parent.is_some_and(|it| self.can_skip_in(it));
        let sets = sets.into_iter().map(|it| it.2).collect();
        Frame::Enter(EnterFrame::new(at, group, sets, can_skip, key))
    }

    fn can_skip_in(&self, group: usize) -> bool {
        let (open, needed) = self.problem.open_children(group);
        self.state.skips[group] < open.len().saturating_sub(needed)
    }

    fn open_count(&self, at: usize, group: usize, slot: usize, key: u128) -> Frame {
        let slots = &self.problem.groups[group].slots;
        let size = |from: usize| slots[from..].iter().map(|it| it.pods.len()).sum::<usize>();
        let taken: u32 = self.state.take[group][..slot].iter().sum();
        let need = self.problem.need(group).saturating_sub(taken);
        let later = u32::try_from(size(slot + 1)).unwrap_or(u32::MAX);
        let own = u32::try_from(slots[slot].pods.len()).unwrap_or(u32::MAX);
        Frame::Count(CountFrame::new(at, (group, slot), need.saturating_sub(later), need.min(own), key))
    }

    /// How many pods of a class a group takes.
    fn count(&self, group: usize, slot: usize) -> u32 {
        let extra = self.state.take[group][slot];
        let is_only = self.problem.groups[group].slots.len() == 1 && extra == 0;
        if is_only { self.problem.need(group) } else { extra }
    }

    fn open_fill(&mut self, at: usize, group: usize, slot: usize, left: Option<u32>, key: u128) -> Opened {
        let problem = self.problem;
        let left = left.unwrap_or_else(|| self.count(group, slot));
        // Where pods depend on others they are placed one by one.
        let count = if problem.is_sequential { 1 } else { left };
        let class = problem.groups[group].slots[slot].class;
        let nodes = &self.sets.get(self.state.set_of(problem, group)).nodes;
        let wanted = Wanted { group, class, count, prefers: self.prefers };
        let open = problem
            .is_sequential
            .then(|| problem.interpod.open(class, problem.cluster.nodes().len(), &self.state.placed));
        let is_open = |node: usize| open.as_ref().is_none_or(|it| it[node]);
        let candidates = Candidates::new(problem, &self.state, &self.symmetry, nodes, wanted, is_open);
        if candidates.room[0] < count.into() {
            return Opened::Dead;
        }
        let after = left - count;
        let frame = FillFrame::new(at, (group, slot, class), Rc::new(candidates), count, after, key);
        Opened::Frame(Frame::Fill(frame))
    }
}

/// Parts of the search that explanations use.
impl Engine<'_> {
    /// How many pods of a group of one class can be placed, where fewer than its minimum can; `None` where that takes too long.
    pub(crate) fn most(&mut self, group: usize) -> Option<u32> {
        let problem = self.problem;
        let pinned = &problem.groups[group].pinned;
        let choices = self.sets.choices(problem, group, 0);
        let is_open = |nodes: &[usize]| pinned.iter().all(|it| nodes.contains(it));
        let sets: Vec<usize> =
            choices.iter().map(|it| it.set).filter(|it| is_open(&self.sets.get(*it).nodes)).collect();
        let start = self.state.clone();
        let mut fits_in = |set: &usize, count: u32| {
            self.state = start.clone();
            self.state.chosen[group] = Some(*set);
            self.state.take[group][0] = count;
            self.tried = 0;
            self.run_more(&[Step::Fill { group, slot: 0 }])
        };
        // Of pods that are placed in a row, the first ones can be placed without the last.
        let (mut fits, mut too_many) = (0, problem.need(group));
        while too_many - fits > 1 {
            let count = fits + (too_many - fits) / 2;
            let verdicts: Vec<Verdict> = sets.iter().map(|it| fits_in(it, count)).collect();
            if verdicts.contains(&Verdict::Found) {
                fits = count;
            } else if verdicts.contains(&Verdict::OutOfSteps) {
                return None;
            } else {
                too_many = count;
            }
        }
        Some(fits)
    }
}
