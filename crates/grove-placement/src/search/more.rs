//! A domain with room for more than the minima, where the one that was found has too little for the pods above them.
//!
//! Domains are chosen for the minima, the tightest first. A group that has to stay in its domain may then have pods without a place
//! though another domain takes them, and kube-scheduler would choose that one. So the minimum of such a group is raised, for the
//! search alone, for as long as more pods find a place by that.

use super::{Placement, placement, problem::Problem, search};
use crate::{
    cluster::Cluster,
    gang::{Group, Members},
};

/// A placement of more pods than `best`, if there is one. All searches together try about as many alternatives as one may.
pub(super) fn room_for_more(
    cluster: &Cluster,
    gang: &Group,
    mut best: Placement,
    mut budget: u64,
) -> Placement {
    let is_movable = movable(gang, false);
    let mut wanted = gang.clone();
    for (leaf, _) in is_movable.iter().enumerate().filter(|it| *it.1) {
        let (mut low, mut high) = leaf_of(&mut wanted, leaf).map_or((0, 0), |it| (it.min_count, size(it)));
        while low < high && !best.unplaced.is_empty() {
            let middle = low + (high - low).div_ceil(2);
            set_minimum(&mut wanted, leaf, middle);
            let (found, tried) = attempt(cluster, &wanted, budget);
            budget = budget.saturating_sub(tried);
            match found.filter(|it| it.unplaced.len() < best.unplaced.len()) {
                Some(more) => (best, low) = (more, middle),
                None => high = middle - 1,
            }
        }
        set_minimum(&mut wanted, leaf, low);
    }
    best
}

fn attempt(cluster: &Cluster, gang: &Group, budget: u64) -> (Option<Placement>, u64) {
    let problem = Problem::new(cluster, gang);
    if !problem.groups[0].is_possible {
        return (None, 0);
    }
    match search(&problem, budget) {
        Ok(engine) => (Some(placement(&problem, &engine)), engine.tried),
        Err((_, tried)) => (None, tried),
    }
}

/// For each group of pods, in the order of the tree, whether it or a group around it has to be in one domain and no bound pod says in
/// which.
fn movable(group: &Group, is_around: bool) -> Vec<bool> {
    let is_free = group.required.is_some() && group.pods().iter().all(|it| it.node.is_none());
    let is_movable = is_around || is_free;
    match &group.members {
        Members::Pods(_) => vec![is_movable],
        Members::Groups(groups) => groups.iter().flat_map(|it| movable(it, is_movable)).collect(),
    }
}

/// The group of pods with this number.
fn leaf_of(group: &mut Group, number: usize) -> Option<&mut Group> {
    leaves(group).into_iter().nth(number)
}

fn leaves(group: &mut Group) -> Vec<&mut Group> {
    if matches!(group.members, Members::Pods(_)) {
        return vec![group];
    }
    match &mut group.members {
        Members::Groups(groups) => groups.iter_mut().flat_map(leaves).collect(),
        Members::Pods(_) => Vec::new(),
    }
}

fn set_minimum(gang: &mut Group, leaf: usize, minimum: u32) {
    if let Some(group) = leaf_of(gang, leaf) {
        group.min_count = minimum;
    }
}

fn size(group: &Group) -> u32 {
    u32::try_from(group.pods().len()).unwrap_or(u32::MAX)
}
