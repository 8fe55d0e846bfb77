//! Where pods may go as far as it depends on where other pods are: affinity, anti-affinity, spread, ports.
//!
//! A pod is judged when it is placed, by the pods that are there already, as kube-scheduler does. What pods that run already
//! close for good is in [`super::class`].

use std::collections::{BTreeMap, BTreeSet};

use super::{bounds::Demand, class::Class, keys::Keys, state::Placed};
use crate::{
    cluster::{Cluster, Node, RunningPod},
    pod::{PodRequirements, PodTerm, Spread, reject_by_affinity, reject_by_taint},
};

/// What is known of every class.
#[derive(Debug, Default)]
pub(crate) struct InterPod {
    keys: Keys,
    rules: Vec<Rules>,
}

#[derive(Debug, Default)]
struct Rules {
    /// For each class: labels whose domains may not have a pod of it beside one of this class.
    apart: Vec<BTreeSet<usize>>,
    /// For each class: whether it wants the same port of a node.
    ports: Vec<bool>,
    /// Labels of the affinity terms, each with the domains where running pods match all terms.
    near: Vec<(usize, BTreeSet<u32>)>,
    /// For each class: whether its pods match all affinity terms.
    is_near: Vec<bool>,
    spread: Vec<SpreadRule>,
}

#[derive(Debug)]
struct SpreadRule {
    key: usize,
    max_skew: i64,
    min_domains: usize,
    /// Nodes that count.
    eligible: Vec<bool>,
    /// Domains that have such a node, with the running pods that are counted.
    running: BTreeMap<u32, i64>,
    /// For each class: whether its pods are counted.
    counted: Vec<bool>,
}

impl InterPod {
    /// Nothing, where no pod depends on others.
    pub(crate) fn new(cluster: &Cluster, classes: &[Class<'_>], is_sequential: bool) -> Self {
        let mut it = Self::default();
        if is_sequential {
            for class in classes {
                let rules = it.rules_of(cluster, classes, class.requirements);
                it.rules.push(rules);
            }
        }
        it
    }

    fn rules_of(&mut self, cluster: &Cluster, classes: &[Class<'_>], own: &PodRequirements) -> Rules {
        let mut rules = Rules::default();
        for other in classes {
            let other = other.requirements;
            let mine = own.anti_affinity.iter().filter(|it| is_meant(it, other));
            let theirs = other.anti_affinity.iter().filter(|it| is_meant(it, own));
            let keys = mine.chain(theirs).map(|it| self.keys.add(cluster, &it.topology_key));
            rules.apart.push(keys.collect());
            let conflict = |it: &_| other.host_ports.iter().any(|port| port.conflicts_with(it));
            rules.ports.push(own.host_ports.iter().any(conflict));
            rules.is_near.push(own.affinity.iter().all(|it| is_meant(it, other)));
        }
        for term in &own.affinity {
            let key = self.keys.add(cluster, &term.topology_key);
            let mut domains = BTreeSet::new();
            for (at, node) in cluster.nodes().iter().enumerate() {
                let matches =
                    |pod: &RunningPod| own.affinity.iter().all(|it| it.matches(&pod.namespace, &pod.labels));
                if node.pods.iter().any(matches) {
                    domains.extend(self.keys.value(key, at));
                }
            }
            rules.near.push((key, domains));
        }
        rules.spread = own.spread.iter().map(|it| self.spread_rule(cluster, classes, own, it)).collect();
        rules
    }

    fn spread_rule(
        &mut self,
        cluster: &Cluster,
        classes: &[Class<'_>],
        own: &PodRequirements,
        spread: &Spread,
    ) -> SpreadRule {
        let key = self.keys.add(cluster, &spread.topology_key);
        let nodes = cluster.nodes();
        let is_eligible = |node: &Node| {
            own.spread.iter().all(|it| node.label(&it.topology_key).is_some())
                && !(spread.honors_affinity && reject_by_affinity(own, node).is_some())
                && !(spread.honors_taints && reject_by_taint(own, node).is_some())
        };
        let eligible: Vec<bool> = nodes.iter().map(is_eligible).collect();
        let mut running: BTreeMap<u32, i64> = BTreeMap::new();
        for (at, node) in nodes.iter().enumerate().filter(|it| eligible[it.0]) {
            if let Some(value) = self.keys.value(key, at) {
                let is_counted =
                    |it: &&RunningPod| it.namespace == own.namespace && spread.selector.matches(&it.labels);
                let count = node.pods.iter().filter(is_counted).fold(0, |sum, _| sum + 1);
                *running.entry(value).or_default() += count;
            }
        }
        let is_counted =
            |it: &PodRequirements| it.namespace == own.namespace && spread.selector.matches(&it.labels);
        SpreadRule {
            key,
            max_skew: spread.max_skew.into(),
            min_domains: usize::try_from(spread.min_domains).unwrap_or_default(),
            eligible,
            running,
            counted: classes.iter().map(|it| is_counted(it.requirements)).collect(),
        }
    }

    /// For every node, whether a pod of a class may go there beside the pods that were placed.
    pub(crate) fn open(&self, class: usize, nodes: usize, placed: &[Placed]) -> Vec<bool> {
        let mut open = vec![true; nodes];
        let Some(rules) = self.rules.get(class) else { return open };
        let mut apart: BTreeSet<(usize, u32)> = BTreeSet::new();
        for it in placed {
            let values = rules.apart[it.class].iter();
            apart.extend(values.filter_map(|key| Some((*key, self.keys.value(*key, it.node)?))));
            open[it.node] &= !rules.ports[it.class];
        }
        let apart_keys: BTreeSet<usize> = apart.iter().map(|it| it.0).collect();
        for (node, open) in open.iter_mut().enumerate() {
            let is_apart =
                |key: &usize| self.keys.value(*key, node).is_some_and(|value| apart.contains(&(*key, value)));
            *open &= !apart_keys.iter().any(is_apart);
        }
        self.keep_near(rules, class, placed, &mut open);
        for rule in &rules.spread {
            self.keep_spread(rule, class, placed, &mut open);
        }
        open
    }

    /// Whether pods that may not share a domain outnumber the domains that have a node for one of them. `fits` says on which nodes
    /// a pod of a class fits.
    pub(crate) fn is_crowded(
        &self,
        demand: &Demand,
        nodes: &[usize],
        placed: &[Placed],
        fits: impl Fn(usize, usize) -> bool,
    ) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let by_label = (0..self.keys.len()).map(Some);
        by_label.chain([None]).any(|key| {
            // By a label, or by the ports of a node.
            let excludes = |one: usize, other: usize| match key {
                Some(key) => self.rules[one].apart[other].contains(&key),
                None => self.rules[one].ports[other],
            };
            let mut classes: Vec<usize> = Vec::new();
            for class in demand.keys().copied() {
                if excludes(class, class) && classes.iter().all(|it| excludes(*it, class)) {
                    classes.push(class);
                }
            }
            let domain = |node: usize| match key {
                Some(key) => self.keys.value(key, node),
                None => u32::try_from(node).ok(),
            };
            let open = nodes.iter().filter(|node| classes.iter().any(|it| fits(*it, **node)));
            let domains: Option<BTreeSet<u32>> = open.map(|it| domain(*it)).collect();
            // A node without the label takes any number.
            let Some(mut domains) = domains.filter(|_| !classes.is_empty()) else { return false };
            for it in placed.iter().filter(|it| classes.iter().any(|class| excludes(*class, it.class))) {
                if let Some(used) = domain(it.node) {
                    domains.remove(&used);
                }
            }
            let wanted = classes.iter().map(|it| demand[it]).fold(0, u64::saturating_add);
            wanted > domains.len() as u64
        })
    }

    fn keep_near(&self, rules: &Rules, class: usize, placed: &[Placed], open: &mut [bool]) {
        let mut near = rules.near.clone();
        for it in placed.iter().filter(|it| rules.is_near[it.class]) {
            for (key, domains) in &mut near {
                domains.extend(self.keys.value(*key, it.node));
            }
        }
        // The first of pods that want to be near each other may go anywhere.
        let is_first = rules.is_near[class] && near.iter().all(|it| it.1.is_empty());
        for (node, open) in open.iter_mut().enumerate() {
            let holds = |(key, domains): &(usize, BTreeSet<u32>)| {
                self.keys.value(*key, node).is_some_and(|it| is_first || domains.contains(&it))
            };
            *open &= near.iter().all(holds);
        }
    }

    fn keep_spread(&self, rule: &SpreadRule, class: usize, placed: &[Placed], open: &mut [bool]) {
        let mut counts = rule.running.clone();
        for it in placed.iter().filter(|it| rule.counted[it.class] && rule.eligible[it.node]) {
            if let Some(value) = self.keys.value(rule.key, it.node) {
                *counts.entry(value).or_default() += i64::from(it.count);
            }
        }
        let least = counts.values().min().copied().unwrap_or_default();
        let least = if counts.len() < rule.min_domains { 0 } else { least };
        let own = i64::from(rule.counted[class]);
        for (node, open) in open.iter_mut().enumerate() {
            let value = self.keys.value(rule.key, node);
            let count = |value: u32| counts.get(&value).copied().unwrap_or_default();
            *open &= value.is_some_and(|it| count(it) + own - least <= rule.max_skew);
        }
    }
}

fn is_meant(term: &PodTerm, pod: &PodRequirements) -> bool {
    term.matches(&pod.namespace, &pod.labels)
}
