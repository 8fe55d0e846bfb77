//! Which nodes, and which domains, are as good as each other.

use std::collections::{BTreeMap, BTreeSet};

use super::{mixer::Mixer, problem::Problem, sets::NodeSet, state::State};

/// What makes nodes interchangeable as long as equally much is free on them.
#[derive(Clone, Debug)]
pub(crate) struct Symmetry {
    /// For each node: nodes of one number are open to the same pods and are in the same domains.
    flavor: Vec<u64>,
    /// Likewise, whatever domains they are in.
    kind: Vec<u64>,
    /// Labels that count, the widest first; empty where domains are never interchangeable.
    keys: Vec<usize>,
}

impl Symmetry {
    /// `prefers` says whether preferred labels count as well as required ones.
    pub(crate) fn new(problem: &Problem<'_>, prefers: bool) -> Self {
        let mut used: BTreeSet<usize> = problem.groups.iter().filter_map(|it| it.required).collect();
        if prefers {
            used.extend(problem.groups.iter().flat_map(|it| it.preferred.iter().copied()));
        }
        let mut keys: Vec<usize> = used.into_iter().collect();
        keys.sort_by_key(|it| problem.keys.count(*it));
        let (mut kinds, mut flavors) = (BTreeMap::new(), BTreeMap::new());
        let (mut kind, mut flavor) = (Vec::new(), Vec::new());
        let pinned: BTreeSet<usize> = problem.groups.first().map(|it| it.pinned.clone()).unwrap_or_default();
        for node in 0..problem.cluster.nodes().len() {
            let open: Vec<bool> = problem.classes.iter().map(|it| it.is_open(node)).collect();
            // Where pods depend on others, every node is different, as are those that groups are tied to.
            let own = (problem.is_sequential || pinned.contains(&node)).then_some(node);
            let next = kinds.len() as u64;
            let number = *kinds.entry((open, own)).or_insert(next);
            kind.push(number);
            let values: Vec<Option<u32>> = keys.iter().map(|it| problem.keys.value(*it, node)).collect();
            let next = flavors.len() as u64;
            flavor.push(*flavors.entry((number, values)).or_insert(next));
        }
        let pairs = (0..keys.len()).flat_map(|narrow| (0..narrow).map(move |wide| (narrow, wide)));
        let is_nested =
            pairs.into_iter().all(|(narrow, wide)| problem.keys.is_nested(keys[narrow], keys[wide]));
        if problem.is_sequential || !is_nested {
            keys.clear();
        }
        Self { flavor, kind, keys }
    }

    /// Equal for interchangeable nodes.
    pub(crate) fn node_hash(&self, node: usize, free: &[i64]) -> u128 {
        hash(self.flavor[node], free)
    }

    /// Whether two nodes are interchangeable.
    pub(crate) fn are_same(&self, state: &State, one: usize, other: usize) -> bool {
        self.flavor[one] == self.flavor[other] && state.free(one) == state.free(other)
    }

    /// Equal for domains that are interchangeable; `None` where that is not known.
    pub(crate) fn signature(&self, problem: &Problem<'_>, state: &State, set: &NodeSet) -> Option<u128> {
        let level = self.keys.iter().position(|it| Some(*it) == set.key)?;
        let first = *set.nodes.first()?;
        let mut mixer = Mixer::new(3).add(level as u64);
        for key in &self.keys[..level] {
            mixer = mixer.add(number(problem.keys.value(*key, first)));
        }
        let below = self.signature_below(problem, state, &set.nodes, &self.keys[level + 1..]);
        Some(mixer.add_wide(below).finish())
    }

    /// The nodes by the domains that they are in, whatever these are called.
    fn signature_below(&self, problem: &Problem<'_>, state: &State, nodes: &[usize], keys: &[usize]) -> u128 {
        let Some((key, narrower)) = keys.split_first() else {
            let hashes = nodes.iter().map(|it| hash(self.kind[*it], state.free(*it)));
            return hashes.fold(0, u128::wrapping_add);
        };
        let mut domains: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
        for node in nodes {
            domains.entry(problem.keys.value(*key, *node)).or_default().push(*node);
        }
        let all = domains.iter().map(|(value, nodes)| {
            let below = self.signature_below(problem, state, nodes, narrower);
            Mixer::new(4).add(u64::from(value.is_some())).add_wide(below).finish()
        });
        all.fold(0, u128::wrapping_add)
    }
}

fn number(value: Option<u32>) -> u64 {
    value.map_or(0, |it| u64::from(it) + 1)
}

fn hash(kind: u64, free: &[i64]) -> u128 {
    free.iter().fold(Mixer::new(5).add(kind), |mixer, it| mixer.add(it.cast_unsigned())).finish()
}
