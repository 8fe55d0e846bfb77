//! Groups that do not find enough nodes, wherever these are.

use super::{Found, words};
use crate::{
    resources::{CPU, is_device},
    search::{Problem, State},
};

pub(super) fn find(problem: &Problem<'_>, state: &State, groups: &[usize]) -> Found {
    let nodes: Vec<usize> = (0..problem.cluster.nodes().len()).collect();
    groups.iter().filter(|it| problem.groups[**it].is_leaf).find_map(|group| {
        let sentence = |(class, count): (&usize, &u64)| {
            let room: u64 = room(problem, state, *class, &nodes);
            (room < *count).then(|| (*group, sentence(problem, state, *class, *count, &nodes, "")))
        };
        problem.groups[*group].demand.iter().find_map(sentence)
    })
}

fn room(problem: &Problem<'_>, state: &State, class: usize, nodes: &[usize]) -> u64 {
    nodes.iter().map(|it| state.fit(problem, class, *it)).fold(0, u64::saturating_add)
}

/// `needs 4 pods: 2 nodes fit 3 of them; 3 nodes have untolerated taint gpu=true:NoSchedule, 1 node has too little cpu`.
/// `place` says which nodes are meant.
pub(super) fn sentence(
    problem: &Problem<'_>,
    state: &State,
    class: usize,
    wanted: u64,
    nodes: &[usize],
    place: &str,
) -> String {
    let needs = words::count(wanted, "pod");
    if nodes.is_empty() {
        return format!("needs {needs}{place}, but there are no nodes");
    }
    let room = room(problem, state, class, nodes);
    let fitting = nodes.iter().filter(|it| state.fit(problem, class, **it) > 0).count() as u64;
    let fit = match fitting {
        0 => "no node fits".to_owned(),
        1 if room == 1 => "1 node fits".to_owned(),
        1 => format!("1 node fits {room} of them"),
        _ if room == fitting => format!("{fitting} nodes fit"),
        _ => format!("{fitting} nodes fit {room} of them"),
    };
    let unfit = nodes.iter().filter(|it| state.fit(problem, class, **it) == 0);
    let causes = words::causes(unfit.map(|it| cause(problem, state, class, *it)));
    let causes = if causes.is_empty() { causes } else { format!("; {causes}") };
    format!("needs {needs}{place}: {fit}{causes}")
}

/// Why a node does not fit, in the plural.
fn cause(problem: &Problem<'_>, state: &State, class: usize, node: usize) -> String {
    if let Some(closed) = &problem.classes[class].closed[node] {
        return closed.to_string();
    }
    let asked = problem.classes[class].requests.iter().zip(state.free(node)).zip(&problem.resources);
    let short = asked.filter(|((request, free), _)| request > free).map(|it| it.1.as_str());
    // A node without devices is the wrong one, whatever else it lacks.
    let resource = short.max_by_key(|it| (is_device(it), *it == CPU)).unwrap_or_default();
    let little = if is_device(resource) || resource == "pods" { "few" } else { "little" };
    let resource = if resource == "pods" { "pods left (maximum reached)" } else { resource };
    format!("have too {little} {resource}")
}
