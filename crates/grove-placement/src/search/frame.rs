//! One decision of the search, and the alternatives that it has.

use std::{collections::BTreeSet, rc::Rc};

use super::{bounds::Bounds, candidates::Candidates, engine::Engine, state::Placed, steps::Step};

/// What is to be decided next.
#[derive(Debug)]
pub(super) enum Goal {
    /// A step, from its beginning.
    Step(usize),
    /// The pods that are left of a step that places them one by one.
    Rest(usize, u32),
    /// The next node of the same pods.
    Node(FillFrame),
}

/// A decision.
#[derive(Debug)]
pub(super) enum Frame {
    Enter(EnterFrame),
    Count(CountFrame),
    Fill(FillFrame),
}

impl Frame {
    /// The next alternative is taken, and what is to be decided then returned; `None` where there is none left.
    pub(super) fn advance(
        &mut self,
        engine: &mut Engine<'_>,
        steps: &[Step],
        bounds: &mut Bounds,
    ) -> Option<Goal> {
        match self {
            Self::Enter(it) => it.advance(engine, steps, bounds),
            Self::Count(it) => it.advance(engine),
            Self::Fill(it) => it.advance(engine, steps, bounds),
        }
    }

    pub(super) fn undo(&mut self, engine: &mut Engine<'_>) {
        match self {
            Self::Enter(it) => it.undo(engine),
            Self::Count(it) => it.undo(engine),
            Self::Fill(it) => it.undo(engine),
        }
    }

    /// The state that it began with, where it is one to remember.
    pub(super) fn key(&self) -> Option<u128> {
        match self {
            Self::Enter(it) => Some(it.key),
            Self::Count(it) => Some(it.key),
            Self::Fill(it) => it.key,
        }
    }
}

/// Which domain a group gets, or whether it is left out.
#[derive(Debug)]
pub(super) struct EnterFrame {
    at: usize,
    group: usize,
    sets: Vec<usize>,
    can_skip: bool,
    /// How many alternatives were begun.
    begun: usize,
    /// Signatures of domains in which nothing was found.
    failed: BTreeSet<u128>,
    key: u128,
}

impl EnterFrame {
    pub(super) fn new(at: usize, group: usize, sets: Vec<usize>, can_skip: bool, key: u128) -> Self {
        Self { at, group, sets, can_skip, begun: 0, failed: BTreeSet::new(), key }
    }

    fn advance(&mut self, engine: &mut Engine<'_>, steps: &[Step], bounds: &mut Bounds) -> Option<Goal> {
        self.undo(engine);
        loop {
            let next = self.begun;
            if let Some(set) = self.sets.get(next).copied() {
                self.begun += 1;
                if next > 0 && self.is_like_failed(engine, self.sets[next - 1], set) {
                    continue;
                }
                engine.state.chosen[self.group] = Some(set);
            } else if next == self.sets.len() && self.can_skip {
                self.begun += 1;
                engine.state.skipped[self.group] = true;
                if let Some(parent) = engine.problem.groups[self.group].parent {
                    engine.state.skips[parent] += 1;
                }
            } else {
                return None;
            }
            if bounds.allow(engine.problem, &engine.state, &engine.sets, steps, self.at + 1) {
                return Some(Goal::Step(self.at + 1));
            }
            self.undo(engine);
        }
    }

    /// Whether a domain is interchangeable with one that was tried.
    fn is_like_failed(&mut self, engine: &Engine<'_>, before: usize, set: usize) -> bool {
        let of = |set: usize| engine.symmetry.signature(engine.problem, &engine.state, engine.sets.get(set));
        self.failed.extend(of(before));
        of(set).is_some_and(|it| self.failed.contains(&it))
    }

    fn undo(&mut self, engine: &mut Engine<'_>) {
        engine.state.chosen[self.group] = None;
        if std::mem::take(&mut engine.state.skipped[self.group])
            && let Some(parent) = engine.problem.groups[self.group].parent
        {
            engine.state.skips[parent] -= 1;
        }
    }
}

/// How many pods of one of its classes a group takes.
#[derive(Debug)]
pub(super) struct CountFrame {
    at: usize,
    slot: (usize, usize),
    least: u32,
    /// The next to be tried, and whether there is one.
    next: Option<u32>,
    key: u128,
}

impl CountFrame {
    pub(super) fn new(at: usize, slot: (usize, usize), least: u32, most: u32, key: u128) -> Self {
        Self { at, slot, least, next: (least <= most).then_some(most), key }
    }

    fn advance(&mut self, engine: &mut Engine<'_>) -> Option<Goal> {
        self.undo(engine);
        let count = self.next?;
        self.next = count.checked_sub(1).filter(|it| *it >= self.least);
        engine.state.take[self.slot.0][self.slot.1] = count;
        Some(Goal::Step(self.at + 1))
    }

    fn undo(&mut self, engine: &mut Engine<'_>) {
        engine.state.take[self.slot.0][self.slot.1] = 0;
    }
}

/// How many pods go to one node.
#[derive(Debug)]
pub(super) struct FillFrame {
    at: usize,
    /// Group, slot and class.
    slot: (usize, usize, usize),
    candidates: Rc<Candidates>,
    /// Which of the candidates it is about.
    cursor: usize,
    /// Pods for this node and those after it.
    wanted: u32,
    /// Pods of the step that come later.
    after: u32,
    least: u32,
    next: Option<u32>,
    is_applied: bool,
    key: Option<u128>,
}

impl FillFrame {
    pub(super) fn new(
        at: usize,
        slot: (usize, usize, usize),
        candidates: Rc<Candidates>,
        wanted: u32,
        after: u32,
        key: u128,
    ) -> Self {
        Self::at_node(at, slot, candidates, 0, wanted, after, u32::MAX, Some(key))
    }

    #[allow(clippy::too_many_arguments, reason = "both constructors of one frame")]
    fn at_node(
        at: usize,
        slot: (usize, usize, usize),
        candidates: Rc<Candidates>,
        cursor: usize,
        wanted: u32,
        after: u32,
        before: u32,
        key: Option<u128>,
    ) -> Self {
        // Of nodes that are alike, the first takes most.
        let most = if candidates.is_same[cursor] { before } else { u32::MAX };
        let most = most.min(candidates.fit[cursor]).min(wanted);
        let later = u32::try_from(candidates.room[cursor + 1]).unwrap_or(u32::MAX);
        let least = wanted.saturating_sub(later);
        let next = (least <= most).then_some(most);
        Self { at, slot, candidates, cursor, wanted, after, least, next, is_applied: false, key }
    }

    fn advance(&mut self, engine: &mut Engine<'_>, steps: &[Step], bounds: &mut Bounds) -> Option<Goal> {
        loop {
            self.undo(engine);
            let count = self.next?;
            self.next = count.checked_sub(1).filter(|it| *it >= self.least);
            if count > 0 {
                let (group, slot, class) = self.slot;
                let node = self.candidates.nodes[self.cursor];
                let placed = Placed { group, slot, class, node, count };
                engine.state.put(engine.problem, &engine.symmetry, placed);
                self.is_applied = true;
            }
            let wanted = self.wanted - count;
            if wanted > 0 {
                let candidates = Rc::clone(&self.candidates);
                let cursor = self.cursor + 1;
                let next =
                    Self::at_node(self.at, self.slot, candidates, cursor, wanted, self.after, count, None);
                return Some(Goal::Node(next));
            }
            if self.after > 0 {
                return Some(Goal::Rest(self.at, self.after));
            }
            if bounds.allow(engine.problem, &engine.state, &engine.sets, steps, self.at + 1) {
                return Some(Goal::Step(self.at + 1));
            }
        }
    }

    fn undo(&mut self, engine: &mut Engine<'_>) {
        if std::mem::take(&mut self.is_applied) {
            engine.state.undo(engine.problem, &engine.symmetry);
        }
    }
}
