//! Groups that do not fit in any one domain of the level that they require.

use super::{Found, nodes::sentence, together::alone, words};
use crate::{
    resources::{CPU, PODS, is_device, text},
    search::{Problem, State, slack, total},
};

/// The innermost group for which no domain is large enough, whatever else is placed.
pub(super) fn find(problem: &Problem<'_>, state: &State, groups: &[usize]) -> Found {
    groups.iter().rev().find_map(|number| {
        let group = &problem.groups[*number];
        let key = group.required.filter(|_| !group.demand.is_empty())?;
        let name = problem.keys.name(key);
        let domains = problem.cluster.domains(name);
        if domains.is_empty() {
            let level = problem.cluster.level_name(name);
            return Some((*number, format!("needs one {level}, but no node has label {name}")));
        }
        let is_open = |nodes: &[usize]| group.pinned.iter().all(|it| nodes.contains(it));
        let fits = |nodes: &[usize]| slack(problem, state, nodes, &group.demand).is_some();
        let open: Vec<_> = domains.into_iter().filter(|it| is_open(&it.nodes)).collect();
        if open.iter().any(|it| fits(&it.nodes)) {
            return None;
        }
        // The one that holds most of the pods; of two the first by name.
        let best = open.iter().rev().max_by_key(|it| holds(problem, state, *number, &it.nodes))?;
        let bound = if group.pinned.is_empty() { "best" } else { "one of its bound pods" };
        let domain = Best { level: problem.cluster.level_name(name), value: &best.value, bound };
        Some((*number, describe(problem, state, *number, &best.nodes, &domain)))
    })
}

struct Best<'a> {
    level: String,
    value: &'a str,
    /// Why it is this one.
    bound: &'a str,
}

impl Best<'_> {
    /// `the best rack, r2,`
    fn name(&self) -> String {
        match self.bound {
            "best" => format!("the best {}, {},", self.level, self.value),
            _ => format!("{} {}, where it has pods already,", self.level, self.value),
        }
    }
}

/// How many of its pods fit in a domain, class by class.
fn holds(problem: &Problem<'_>, state: &State, group: usize, nodes: &[usize]) -> (u64, i128) {
    let mut pods = 0_u64;
    for (class, count) in &problem.groups[group].demand {
        let room = nodes.iter().map(|it| state.fit(problem, *class, *it)).fold(0, u64::saturating_add);
        pods = pods.saturating_add(room.min(*count));
    }
    let devices = (0..problem.resources.len()).filter(|it| is_device(&problem.resources[*it]));
    let free = devices.map(|it| free(problem, state, group, nodes, it)).fold(0, i128::saturating_add);
    (pods, free)
}

/// How much of a resource is free on nodes that are open to the pods which want it.
fn free(problem: &Problem<'_>, state: &State, group: usize, nodes: &[usize], resource: usize) -> i128 {
    let wants = |class: &usize| problem.classes[*class].requests[resource] > 0;
    let is_open = |node: &usize| {
        problem.groups[group]
            .demand
            .keys()
            .filter(|it| wants(it))
            .any(|it| problem.classes[*it].is_open(*node))
    };
    nodes.iter().filter(|it| is_open(it)).map(|it| i128::from(state.free(*it)[resource])).sum()
}

/// The nodes of a domain that none of the pods may go to, and why: ` (1 node has untolerated taint gpu=true:NoSchedule)`.
fn closed(problem: &Problem<'_>, group: usize, nodes: &[usize]) -> String {
    let classes = problem.groups[group].demand.keys().map(|it| &problem.classes[*it]);
    let Some(first) = classes.clone().next() else { return String::new() };
    let is_closed = |node: &&usize| classes.clone().all(|it| !it.is_open(**node));
    let causes = nodes.iter().filter(is_closed).filter_map(|it| first.closed[*it].as_ref());
    let causes = words::causes(causes.map(ToString::to_string));
    if causes.is_empty() { causes } else { format!(" ({causes})") }
}

fn describe(problem: &Problem<'_>, state: &State, group: usize, nodes: &[usize], best: &Best<'_>) -> String {
    let demand = &problem.groups[group].demand;
    let short = (0..problem.resources.len()).filter_map(|resource| {
        let (wanted, free) = (total(problem, demand, resource), free(problem, state, group, nodes, resource));
        (free < wanted).then_some((resource, wanted, free))
    });
    let name = |resource: usize| problem.resources[resource].as_str();
    let short = short.max_by_key(|it| (is_device(name(it.0)), name(it.0) == CPU));
    let place = format!(" in one {}", best.level);
    if let Some((resource, wanted, free)) = short {
        let resource = name(resource);
        let amount = |it: i128| text(resource, i64::try_from(it).unwrap_or(i64::MAX));
        let (wanted, free) = (amount(wanted), amount(free));
        if resource == PODS {
            return format!("needs {wanted} pods{place}; {} takes {free} more", best.name());
        }
        let closed = closed(problem, group, nodes);
        return format!("needs {wanted} {resource}{place}; {} has {free} free{closed}", best.name());
    }
    let lacking = demand.iter().find(|(class, count)| {
        nodes.iter().map(|it| state.fit(problem, **class, *it)).fold(0, u64::saturating_add) < **count
    });
    match lacking {
        Some((class, count)) => sentence(
            problem,
            state,
            *class,
            *count,
            nodes,
            &format!("{place}; in {}", best.name().trim_end_matches(',')),
        ),
        None if problem.groups[group].is_leaf => alone(problem, group),
        None => {
            let pods = words::count(demand.values().sum(), "pod");
            format!("needs {pods}{place}; not even {} holds them together", best.name().trim_end_matches(','))
        }
    }
}
