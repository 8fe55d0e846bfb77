//! Sets of nodes: all of them, domains, and domains in domains.

use std::{collections::BTreeMap, rc::Rc};

use super::problem::Problem;

/// Some nodes.
#[derive(Clone, Debug)]
pub(crate) struct NodeSet {
    /// In natural order.
    pub(crate) nodes: Vec<usize>,
    /// The narrowest label whose domain it is.
    pub(crate) key: Option<usize>,
    /// The set that has to be kept to, where this one is only preferred.
    pub(crate) base: usize,
}

/// A set that a group may be placed in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) set: usize,
    /// 0 where it is what the group prefers most.
    pub(crate) tier: usize,
}

/// All sets that were looked at, by number. 0 is all nodes.
#[derive(Debug)]
pub(crate) struct Sets {
    all: Vec<NodeSet>,
    /// By group and set around it.
    choices: BTreeMap<(usize, usize), Rc<[Choice]>>,
    prefers: bool,
}

impl Sets {
    pub(crate) fn new(problem: &Problem<'_>, prefers: bool) -> Self {
        let nodes = (0..problem.cluster.nodes().len()).collect();
        Self { all: vec![NodeSet { nodes, key: None, base: 0 }], choices: BTreeMap::new(), prefers }
    }

    pub(crate) fn get(&self, set: usize) -> &NodeSet {
        &self.all[set]
    }

    /// The sets that a group may be placed in, inside of the one around it.
    pub(crate) fn choices(&mut self, problem: &Problem<'_>, group: usize, around: usize) -> Rc<[Choice]> {
        if let Some(known) = self.choices.get(&(group, around)) {
            return Rc::clone(known);
        }
        let node = &problem.groups[group];
        let bases = match node.required {
            None => vec![around],
            Some(key) => self.split(problem, around, key, None),
        };
        let mut choices = Vec::new();
        let mut tier = 0;
        if self.prefers {
            // Labels that are wider than the required one say nothing more.
            for key in node.preferred.iter().take_while(|it| Some(**it) != node.required) {
                for base in &bases {
                    let sets = self.split(problem, *base, *key, Some(*base));
                    choices.extend(sets.into_iter().map(|set| Choice { set, tier }));
                }
                tier += 1;
            }
        }
        choices.extend(bases.into_iter().map(|set| Choice { set, tier }));
        let choices: Rc<[Choice]> = choices.into();
        self.choices.insert((group, around), Rc::clone(&choices));
        choices
    }

    /// The parts of a set by the value of a label; nodes without it are in none.
    fn split(&mut self, problem: &Problem<'_>, set: usize, key: usize, base: Option<usize>) -> Vec<usize> {
        let around = &self.all[set];
        let mut parts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for node in &around.nodes {
            if let Some(value) = problem.keys.value(key, *node) {
                parts.entry(value).or_default().push(*node);
            }
        }
        let (whole, outer) = (around.nodes.len(), around.key);
        let mut numbers = Vec::new();
        for nodes in parts.into_values() {
            let number = self.all.len();
            // A part that is all of a narrower domain is that domain.
            let key = if nodes.len() == whole { outer.or(Some(key)) } else { Some(key) };
            self.all.push(NodeSet { nodes, key, base: base.unwrap_or(number) });
            numbers.push(number);
        }
        numbers
    }
}
