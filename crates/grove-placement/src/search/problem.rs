//! A gang and a cluster, numbered and flattened for the search.

use std::collections::{BTreeMap, BTreeSet};

use super::{class::Class, interpod::InterPod, keys::Keys};
use crate::{
    cluster::Cluster,
    gang::{GangPod, Group, Members},
    pod::PodRequirements,
    resources::is_device,
};

/// A gang on a cluster.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) cluster: &'a Cluster,
    /// Resources that some pod asks for.
    pub(crate) resources: Vec<String>,
    pub(crate) classes: Vec<Class<'a>>,
    /// Parents before their children, in the order of the tree.
    pub(crate) groups: Vec<GroupNode<'a>>,
    pub(crate) keys: Keys,
    /// Whether pods depend on where others are, so that each is placed for itself, in a fixed order.
    pub(crate) is_sequential: bool,
    pub(crate) interpod: InterPod,
}

/// A group of the gang.
#[derive(Debug)]
pub(crate) struct GroupNode<'a> {
    pub(crate) name: &'a str,
    pub(crate) parent: Option<usize>,
    pub(crate) children: Vec<usize>,
    pub(crate) min: u32,
    /// The label by which its pods have to be together.
    pub(crate) required: Option<usize>,
    /// Labels by which they should be, the one that is wanted most first.
    pub(crate) preferred: Vec<usize>,
    /// Pods that are not bound, by class.
    pub(crate) slots: Vec<Slot<'a>>,
    pub(crate) is_leaf: bool,
    /// How many of its pods are bound.
    pub(crate) bound: u32,
    /// Nodes of bound pods in it.
    pub(crate) pinned: BTreeSet<usize>,
    /// Whether it has enough members for its minimum.
    pub(crate) is_possible: bool,
    /// Whether its minimum is there already.
    pub(crate) is_satisfied: bool,
    /// How many pods its minimum has at least, by class.
    pub(crate) demand: BTreeMap<usize, u64>,
}

/// Pods of one class in a group.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    pub(crate) class: usize,
    pub(crate) pods: Vec<&'a str>,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(cluster: &'a Cluster, gang: &'a Group) -> Self {
        let pods: Vec<&GangPod> = gang.pods().into_iter().filter(|it| it.node.is_none()).collect();
        let names: BTreeSet<&str> =
            pods.iter().flat_map(|it| it.requirements.requests.iter().map(|it| it.0)).collect();
        let resources: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let kinds: BTreeSet<&PodRequirements> = pods.iter().map(|it| &it.requirements).collect();
        let classes: Vec<Class<'a>> = kinds.iter().map(|it| Class::new(cluster, it, &resources)).collect();
        let numbers: BTreeMap<&PodRequirements, usize> = kinds.into_iter().zip(0..).collect();
        let is_sequential = classes.iter().any(|it| it.requirements.depends_on_pods());
        let mut problem = Self {
            cluster,
            resources,
            is_sequential,
            interpod: InterPod::new(cluster, &classes, is_sequential),
            classes,
            groups: Vec::new(),
            keys: Keys::default(),
        };
        problem.add(gang, None, &numbers);
        for group in (0..problem.groups.len()).rev() {
            problem.summarize(group);
        }
        problem
    }

    fn add(&mut self, group: &'a Group, parent: Option<usize>, numbers: &BTreeMap<&PodRequirements, usize>) {
        let number = self.groups.len();
        let preferred = group.preferred.iter().flat_map(|key| {
            let wider = self.cluster.wider(key).map(|it| it.key.clone());
            std::iter::once(key.clone()).chain(wider.collect::<Vec<_>>())
        });
        let preferred: Vec<String> = preferred.collect();
        let node = GroupNode {
            name: &group.name,
            parent,
            children: Vec::new(),
            min: group.min_count,
            required: group.required.as_ref().map(|it| self.keys.add(self.cluster, it)),
            preferred: preferred.iter().map(|it| self.keys.add(self.cluster, it)).collect(),
            slots: Vec::new(),
            is_leaf: matches!(group.members, Members::Pods(_)),
            bound: 0,
            pinned: BTreeSet::new(),
            is_possible: false,
            is_satisfied: false,
            demand: BTreeMap::new(),
        };
        self.groups.push(node);
        if let Some(parent) = parent {
            self.groups[parent].children.push(number);
        }
        match &group.members {
            Members::Groups(groups) => {
                for child in groups {
                    self.add(child, Some(number), numbers);
                }
            }
            Members::Pods(pods) => self.add_pods(number, pods, numbers),
        }
    }

    fn add_pods(&mut self, number: usize, pods: &'a [GangPod], numbers: &BTreeMap<&PodRequirements, usize>) {
        for pod in pods {
            if let Some(node) = &pod.node {
                let position = self.cluster.position(node);
                for group in self.path(number) {
                    self.groups[group].pinned.extend(position);
                }
                self.groups[number].bound = self.groups[number].bound.saturating_add(1);
                continue;
            }
            let Some(class) = numbers.get(&pod.requirements).copied() else { continue };
            let slots = &mut self.groups[number].slots;
            match slots.iter_mut().find(|it| it.class == class) {
                Some(slot) => slot.pods.push(&pod.name),
                None => slots.push(Slot { class, pods: vec![&pod.name] }),
            }
        }
    }

    /// A group and all that it is in, from the inside.
    pub(crate) fn path(&self, group: usize) -> Vec<usize> {
        std::iter::successors(Some(group), |it| self.groups[*it].parent).collect()
    }

    /// How many more of its pods a leaf needs.
    pub(crate) fn need(&self, leaf: usize) -> u32 {
        self.groups[leaf].min.saturating_sub(self.groups[leaf].bound)
    }

    /// How many pods of a leaf are not bound.
    pub(crate) fn unbound(&self, leaf: usize) -> u32 {
        let pods: usize = self.groups[leaf].slots.iter().map(|it| it.pods.len()).sum();
        u32::try_from(pods).unwrap_or(u32::MAX)
    }

    /// The children of which some have to be placed, and how many of them.
    pub(crate) fn open_children(&self, group: usize) -> (Vec<usize>, usize) {
        let all = &self.groups[group].children;
        let satisfied = all.iter().filter(|it| self.groups[**it].is_satisfied).count();
        let is_open = |it: &&usize| self.groups[**it].is_possible && !self.groups[**it].is_satisfied;
        let min = usize::try_from(self.groups[group].min).unwrap_or(usize::MAX);
        (all.iter().filter(is_open).copied().collect(), min.saturating_sub(satisfied))
    }

    /// What is known of a group once its children are known.
    fn summarize(&mut self, group: usize) {
        let mut demand = BTreeMap::new();
        let (is_possible, is_satisfied);
        if self.groups[group].is_leaf {
            let (need, unbound) = (self.need(group), self.unbound(group));
            (is_possible, is_satisfied) = (unbound >= need, need == 0);
            for slot in &self.groups[group].slots {
                let own = u32::try_from(slot.pods.len()).unwrap_or(u32::MAX);
                let least = need.saturating_sub(unbound - own);
                if least > 0 {
                    *demand.entry(slot.class).or_default() += u64::from(least);
                }
            }
        } else {
            let (open, needed) = self.open_children(group);
            (is_possible, is_satisfied) = (open.len() >= needed, needed == 0);
            if open.len() == needed {
                for child in open {
                    for (class, count) in &self.groups[child].demand {
                        *demand.entry(*class).or_default() += count;
                    }
                }
            }
        }
        let node = &mut self.groups[group];
        (node.is_possible, node.is_satisfied, node.demand) = (is_possible, is_satisfied, demand);
    }

    /// How hard a group is to place: what requires a domain, and what needs many devices, goes first.
    pub(crate) fn hardness(&self, group: usize) -> (bool, i128, i128) {
        let (mut devices, mut rest) = (0_i128, 0_i128);
        for (class, count) in &self.groups[group].demand {
            let requests = self.resources.iter().zip(&self.classes[*class].requests);
            for (name, amount) in requests {
                let amount = i128::from(*amount).saturating_mul(i128::from(*count));
                let sum = if is_device(name) { &mut devices } else { &mut rest };
                *sum = sum.saturating_add(amount);
            }
        }
        (self.groups[group].required.is_some(), devices, rest)
    }
}
