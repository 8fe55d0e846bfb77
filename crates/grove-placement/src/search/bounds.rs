//! Quick checks that something cannot fit, so that the search does not try it.
//!
//! They never say "no" where something fits.

use std::{collections::BTreeMap, rc::Rc};

use super::{problem::Problem, sets::Sets, state::State, steps::Step};

/// Pods of each class that are wanted.
pub(crate) type Demand = BTreeMap<usize, u64>;

/// How tight it is for some pods on some nodes: how many more of the scarcest class would fit. `None` where they do not fit.
pub(crate) fn slack(problem: &Problem<'_>, state: &State, nodes: &[usize], demand: &Demand) -> Option<u64> {
    let mut least = u64::MAX;
    let mut is_usable = vec![false; nodes.len()];
    for (class, count) in demand {
        let mut capacity = 0_u64;
        for (at, node) in nodes.iter().enumerate() {
            let fit = state.fit(problem, *class, *node);
            is_usable[at] |= fit > 0;
            capacity = capacity.saturating_add(fit);
        }
        least = least.min(capacity.checked_sub(*count)?);
    }
    let fits = |class: usize, node: usize| state.fit(problem, class, node) > 0;
    if problem.interpod.is_crowded(demand, nodes, &state.placed, fits) {
        return None;
    }
    if demand.len() < 2 {
        return Some(least);
    }
    for resource in 0..problem.resources.len() {
        let wanted = total(problem, demand, resource);
        let usable = nodes.iter().zip(&is_usable).filter(|it| *it.1);
        let free: i128 = usable.map(|it| i128::from(state.free(*it.0)[resource])).sum();
        if free < wanted {
            return None;
        }
    }
    Some(least)
}

/// How much of a resource some pods want.
pub(crate) fn total(problem: &Problem<'_>, demand: &Demand, resource: usize) -> i128 {
    let one = |(class, count): (&usize, &u64)| {
        i128::from(problem.classes[*class].requests[resource]).saturating_mul(i128::from(*count))
    };
    demand.iter().map(one).fold(0, i128::saturating_add)
}

/// What is still to be placed inside of the domain of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pending {
    /// The nearest group around it of which the domain is known.
    anchor: usize,
    /// Groups that may have been left out, and it with them.
    gates: Vec<usize>,
    /// The label by which each copy has to be together, if any.
    key: Option<usize>,
    demand: Demand,
    copies: u64,
}

/// What is to be placed by the steps from some step on.
#[derive(Debug)]
pub(crate) struct Bounds {
    pending: Vec<Option<Rc<[Pending]>>>,
    /// Step at which a group is entered.
    entered: BTreeMap<usize, usize>,
    can_skip: Vec<bool>,
}

impl Bounds {
    /// For steps that place other pods than the minimum: nothing is known of these.
    pub(crate) fn none(steps: &[Step]) -> Self {
        let nothing: Rc<[Pending]> = Rc::new([]);
        Self { pending: vec![Some(nothing); steps.len() + 1], entered: BTreeMap::new(), can_skip: Vec::new() }
    }

    pub(crate) fn new(problem: &Problem<'_>, steps: &[Step]) -> Self {
        let mut can_skip = vec![false; problem.groups.len()];
        let mut entered = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            if let Step::Enter { group, can_skip: skip } = step {
                entered.insert(*group, at);
                can_skip[*group] = *skip;
            }
        }
        Self { pending: vec![None; steps.len() + 1], entered, can_skip }
    }

    /// Whether the steps from `from` on may succeed.
    pub(crate) fn allow(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        sets: &Sets,
        steps: &[Step],
        from: usize,
    ) -> bool {
        let known = self.pending[from].clone();
        let pending = known.unwrap_or_else(|| self.collect(problem, steps, from).into());
        self.pending[from] = Some(Rc::clone(&pending));
        pending.iter().all(|it| {
            if it.gates.iter().any(|gate| state.skipped[*gate]) {
                return true;
            }
            let nodes = &sets.get(state.set_of(problem, it.anchor)).nodes;
            match it.key {
                None => slack(problem, state, nodes, &it.demand).is_some(),
                Some(key) => copies(problem, state, nodes, key, &it.demand) >= it.copies,
            }
        })
    }

    fn collect(&self, problem: &Problem<'_>, steps: &[Step], from: usize) -> Vec<Pending> {
        let mut whole: BTreeMap<(usize, Vec<usize>), Demand> = BTreeMap::new();
        let mut together: BTreeMap<usize, (usize, Vec<usize>, Demand)> = BTreeMap::new();
        for step in &steps[from..] {
            let Step::Fill { group, slot } = *step else { continue };
            let class = problem.groups[group].slots[slot].class;
            let Some(count) = problem.groups[group].demand.get(&class).copied() else { continue };
            let path = problem.path(group);
            let is_open = |it: &usize| self.entered.get(it).is_some_and(|at| *at >= from);
            // What may yet be left out need not fit.
            if path.iter().any(|it| is_open(it) && self.can_skip[*it]) {
                continue;
            }
            let anchor = path.iter().copied().find(|it| self.entered.contains_key(it) && !is_open(it));
            let anchor = anchor.unwrap_or_default();
            let gates: Vec<usize> = path.iter().copied().filter(|it| self.can_skip[*it]).collect();
            let outermost =
                path.iter().copied().rev().find(|it| is_open(it) && problem.groups[*it].required.is_some());
            if let Some(outermost) = outermost {
                let entry =
                    together.entry(outermost).or_insert_with(|| (anchor, gates.clone(), Demand::new()));
                *entry.2.entry(class).or_default() += count;
            }
            *whole.entry((anchor, gates)).or_default().entry(class).or_default() += count;
        }
        let whole = whole.into_iter();
        let mut all: Vec<Pending> = whole
            .map(|((anchor, gates), demand)| Pending { anchor, gates, key: None, demand, copies: 1 })
            .collect();
        let start = all.len();
        for (group, (anchor, gates, demand)) in together {
            let key = problem.groups[group].required;
            let is_same = |it: &&mut Pending| {
                it.anchor == anchor && it.gates == gates && it.key == key && it.demand == demand
            };
            match all[start..].iter_mut().find(is_same) {
                Some(known) => known.copies += 1,
                None => all.push(Pending { anchor, gates, key, demand, copies: 1 }),
            }
        }
        all
    }
}

/// How often some pods fit at most, each time inside of one domain of a label.
fn copies(problem: &Problem<'_>, state: &State, nodes: &[usize], key: usize, demand: &Demand) -> u64 {
    let domains = problem.keys.count(key);
    let mut most = vec![u64::MAX; domains];
    let mut is_usable = vec![false; nodes.len()];
    for (class, count) in demand {
        let mut capacity = vec![0_u64; domains];
        for (at, node) in nodes.iter().enumerate() {
            let Some(domain) = problem.keys.value(key, *node) else { continue };
            let fit = state.fit(problem, *class, *node);
            is_usable[at] |= fit > 0;
            let sum = &mut capacity[domain as usize];
            *sum = sum.saturating_add(fit);
        }
        for (most, capacity) in most.iter_mut().zip(capacity) {
            *most = (*most).min(capacity / (*count).max(1));
        }
    }
    if demand.len() > 1 {
        for resource in 0..problem.resources.len() {
            let wanted = total(problem, demand, resource);
            if wanted <= 0 {
                continue;
            }
            let mut free = vec![0_i128; domains];
            for (node, _) in nodes.iter().zip(&is_usable).filter(|it| *it.1) {
                if let Some(domain) = problem.keys.value(key, *node) {
                    free[domain as usize] += i128::from(state.free(*node)[resource]);
                }
            }
            for (most, free) in most.iter_mut().zip(free) {
                *most = (*most).min(u64::try_from(free / wanted).unwrap_or(u64::MAX));
            }
        }
    }
    most.into_iter().fold(0, u64::saturating_add)
}
