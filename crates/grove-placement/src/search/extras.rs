//! Pods and groups above the minima: placed where they fit, once all minima are placed.

use super::{
    engine::{Engine, Verdict},
    steps::{Step, has_domain, minimum},
};

/// Places what is not needed, group by group in the order of the tree.
pub(super) fn place(engine: &mut Engine<'_>) {
    let problem = engine.problem;
    // Whether the minimum of a group is there. Parents come before their children.
    let mut is_in = vec![false; problem.groups.len()];
    for group in 0..problem.groups.len() {
        let node = &problem.groups[group];
        is_in[group] = match node.parent {
            None => true,
            Some(parent) if !is_in[parent] || !node.is_possible => false,
            Some(_) if node.is_satisfied => true,
            // With its parent's minimum, it was placed or left out.
            Some(parent) if !problem.groups[parent].is_satisfied && !engine.state.skipped[group] => true,
            Some(_) => place_group(engine, group),
        };
        if is_in[group] {
            for slot in 0..node.slots.len() {
                place_pods(engine, group, slot);
            }
        }
    }
}

/// The minimum of a group that its parent could do without.
fn place_group(engine: &mut Engine<'_>, group: usize) -> bool {
    engine.state.skipped[group] = false;
    let mut steps = domains(engine, engine.problem.groups[group].parent);
    steps.extend(minimum(engine.problem, group, engine.prefers));
    engine.run(&steps) == Verdict::Found
}

/// The domains that were not chosen yet, because nothing was needed in them.
fn domains(engine: &Engine<'_>, group: Option<usize>) -> Vec<Step> {
    let path = group.map(|it| engine.problem.path(it)).unwrap_or_default();
    let is_open =
        |it: &usize| engine.state.chosen[*it].is_none() && has_domain(engine.problem, *it, engine.prefers);
    path.into_iter().rev().filter(is_open).map(|group| Step::Enter { group, can_skip: false }).collect()
}

/// As many of the pods that are left as fit; first where the group prefers to be.
fn place_pods(engine: &mut Engine<'_>, group: usize, slot: usize) {
    fill(engine, group, slot);
    let narrow = engine.state.chosen.clone();
    for it in engine.problem.path(group) {
        engine.state.chosen[it] = narrow[it].map(|set| widest(engine, set));
    }
    if engine.state.chosen != narrow {
        fill(engine, group, slot);
    }
    engine.state.chosen = narrow;
}

fn widest(engine: &Engine<'_>, set: usize) -> usize {
    let base = engine.sets.get(set).base;
    if base == set { set } else { widest(engine, base) }
}

fn fill(engine: &mut Engine<'_>, group: usize, slot: usize) {
    let problem = engine.problem;
    let class = problem.groups[group].slots[slot].class;
    let size = u32::try_from(problem.groups[group].slots[slot].pods.len()).unwrap_or(u32::MAX);
    let here = |it: &&super::state::Placed| (it.group, it.slot) == (group, slot);
    loop {
        let placed: u32 = engine.state.placed.iter().filter(here).map(|it| it.count).sum();
        let nodes = &engine.sets.get(engine.state.set_of(problem, group)).nodes;
        let room = nodes.iter().map(|it| engine.state.fit(problem, class, *it));
        let room = u32::try_from(room.fold(0, u64::saturating_add)).unwrap_or(u32::MAX);
        let most = size.saturating_sub(placed).min(room);
        let mut steps = domains(engine, Some(group));
        steps.push(Step::Fill { group, slot });
        // Where pods depend on others they go one by one. Else the most that fit in one domain go.
        let counts = if problem.is_sequential { 1..=most.min(1) } else { 1..=most };
        let before = engine.state.take[group][slot];
        let found = counts.rev().find(|count| {
            engine.state.take[group][slot] = *count;
            engine.run_more(&steps) == Verdict::Found
        });
        engine.state.take[group][slot] = before;
        if found.is_none() || !problem.is_sequential {
            return;
        }
    }
}
