//! Why a gang does not fit, in a sentence with numbers.
//!
//! The causes are looked at from the plainest to the most involved: pods that do not exist, bound pods in the wrong places, a
//! group without nodes, a group without a domain, too little in all, and last groups that are in each other's way.

mod domain;
mod nodes;
mod together;
mod words;

use std::fmt;

use crate::search::{Problem, State};

/// Why a gang does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The group that cannot be placed.
    pub group: String,
    /// What it needs and what there is, for people.
    pub message: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.group, self.message)
    }
}

/// A cause that was found: the group, and the sentence.
type Found = Option<(usize, String)>;

/// Why a gang for which the search found no place does not fit.
pub(crate) fn explain(problem: &Problem<'_>) -> Reason {
    let state = State::new(problem);
    let groups = needed(problem);
    let found = missing(problem, &groups)
        .or_else(|| torn(problem, &groups))
        .or_else(|| nodes::find(problem, &state, &groups))
        .or_else(|| domain::find(problem, &state, &groups))
        .or_else(|| together::find_total(problem, &state))
        .or_else(|| together::find(problem, &groups));
    let (group, message) = found.unwrap_or_else(|| (0, "its groups do not fit together".to_owned()));
    Reason { group: problem.groups[group].name.to_owned(), message }
}

/// Groups without which the gang cannot do, children after their parents.
fn needed(problem: &Problem<'_>) -> Vec<usize> {
    let mut is_needed = vec![false; problem.groups.len()];
    for (number, group) in problem.groups.iter().enumerate() {
        is_needed[number] = match group.parent {
            None => true,
            Some(parent) => {
                let size = u32::try_from(problem.groups[parent].children.len()).unwrap_or(u32::MAX);
                is_needed[parent] && problem.groups[parent].min >= size
            }
        };
    }
    (0..is_needed.len()).filter(|it| is_needed[*it]).collect()
}

/// Groups that have too few members.
fn missing(problem: &Problem<'_>, groups: &[usize]) -> Found {
    groups.iter().rev().find_map(|number| {
        let group = &problem.groups[*number];
        if group.is_leaf {
            let all = u64::from(problem.unbound(*number)) + u64::from(group.bound);
            let needs = words::count(group.min.into(), "pod");
            return (!group.is_possible).then(|| (*number, format!("needs {needs}, {all} exist")));
        }
        let possible = group.children.iter().filter(|it| problem.groups[**it].is_possible).count();
        let needs = words::count(group.min.into(), "group");
        (!group.is_possible)
            .then(|| (*number, format!("needs {needs}, {possible} have enough pods for their minimum")))
    })
}

/// Groups whose bound pods are not in one domain.
fn torn(problem: &Problem<'_>, groups: &[usize]) -> Found {
    groups.iter().rev().find_map(|number| {
        let group = &problem.groups[*number];
        let (key, name) = group.required.map(|key| (key, problem.keys.name(key)))?;
        let level = problem.cluster.level_name(name);
        let nodes = problem.cluster.nodes();
        if group.is_satisfied {
            return None;
        }
        let lacking = group.pinned.iter().find(|it| problem.keys.value(key, **it).is_none());
        if let Some(node) = lacking {
            let node = &nodes[*node].name;
            return Some((
                *number,
                format!("needs one {level}, but has a pod on node {node}, which lacks label {name}"),
            ));
        }
        let mut values: Vec<u32> =
            group.pinned.iter().filter_map(|it| problem.keys.value(key, *it)).collect();
        values.sort_unstable();
        values.dedup();
        let values: Vec<&str> = values.into_iter().map(|it| problem.keys.text(key, it)).collect();
        let all = words::list(&values);
        (values.len() > 1).then(|| (*number, format!("needs one {level}, but has pods in {all} already")))
    })
}
