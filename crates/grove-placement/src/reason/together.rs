//! Groups that fit each for itself, and not together.

use super::{Found, words};
use crate::{
    resources::{CPU, PODS, is_device, text},
    search::{Demand, Engine, Problem, State, Verdict, minimum, total},
};

/// Too little of a resource for the whole gang.
pub(super) fn find_total(problem: &Problem<'_>, state: &State) -> Found {
    let demand: &Demand = &problem.groups[0].demand;
    let nodes = 0..problem.cluster.nodes().len();
    let short = (0..problem.resources.len()).filter_map(|resource| {
        let wants = |class: &&usize| problem.classes[**class].requests[resource] > 0;
        let usable = |node: &usize| demand.keys().filter(wants).any(|it| state.fit(problem, *it, *node) > 0);
        let free: i128 = nodes.clone().filter(usable).map(|it| i128::from(state.free(it)[resource])).sum();
        let wanted = total(problem, demand, resource);
        (free < wanted).then_some((problem.resources[resource].as_str(), wanted, free))
    });
    let (resource, wanted, free) = short.max_by_key(|it| (is_device(it.0), it.0 == CPU))?;
    let amount = |it: i128| text(resource, i64::try_from(it).unwrap_or(i64::MAX));
    let (wanted, free) = (amount(wanted), amount(free));
    Some((
        0,
        match resource {
            PODS => format!("needs {wanted} pods in all; the nodes that fit take {free} more"),
            _ => format!("needs {wanted} {resource} in all; {free} free on the nodes that fit"),
        },
    ))
}

/// Alternatives that are tried for one group: an explanation is not worth a long search.
const BUDGET: u64 = 2_000;

/// The innermost group that cannot be placed even alone, and what keeps it from that.
pub(super) fn find(problem: &Problem<'_>, groups: &[usize]) -> Found {
    // The whole gang is known not to fit.
    let is_stuck = |group: &usize| {
        *group == 0
            || Engine::new(problem, false, BUDGET).run(&minimum(problem, *group, false)) == Verdict::Exhausted
    };
    let group = groups.iter().rev().copied().find(is_stuck)?;
    let sentence = if problem.groups[group].is_leaf { alone } else { beside };
    Some((group, sentence(problem, group)))
}

/// ` in one rack`, where a group requires that.
fn place(problem: &Problem<'_>, group: usize) -> Option<String> {
    let key = problem.groups[group].required?;
    Some(format!(" in one {}", problem.cluster.level_name(problem.keys.name(key))))
}

/// A group of pods that other pods, or each other, keep away.
pub(super) fn alone(problem: &Problem<'_>, group: usize) -> String {
    let place = place(problem, group).unwrap_or_default();
    let needs = words::count(problem.need(group).into(), "pod");
    if !problem.is_sequential || problem.groups[group].slots.len() > 1 {
        return format!("needs {needs}{place}, which do not fit together");
    }
    let keeps = "pod affinity, spread constraints or host ports";
    match Engine::new(problem, false, BUDGET).most(group) {
        Some(most) => format!("needs {needs}{place}; {keeps} leave room for {most}"),
        None => format!("needs {needs}{place}; {keeps} leave room for fewer"),
    }
}

/// Groups that are in each other's way.
fn beside(problem: &Problem<'_>, group: usize) -> String {
    let own = place(problem, group).unwrap_or_default();
    let (open, needed) = problem.open_children(group);
    if open.len() > needed {
        let groups = words::count(open.len() as u64, "group");
        return format!("needs {needed} of {groups}{own}, and no {needed} of them fit together");
    }
    let mut engine = Engine::new(problem, false, BUDGET);
    let mut placed: Vec<&str> = Vec::new();
    for child in open {
        let name = problem.groups[child].name;
        if engine.run(&minimum(problem, child, false)) != Verdict::Found && !placed.is_empty() {
            let place = place(problem, child).unwrap_or(own);
            let before = words::list(&placed);
            return format!("{name} does not fit{place} beside {before}, though each fits alone");
        }
        placed.push(name);
    }
    format!("{} do not fit together{own}, though each fits alone", words::list(&placed))
}
