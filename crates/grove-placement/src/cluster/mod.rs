//! The nodes of a cluster and the topology that their labels describe.

mod node;

use std::collections::BTreeMap;

use crate::natural;

pub use node::{Node, NodeError, RunningPod, Taint, UNSCHEDULABLE};

/// A level of the topology: all nodes that have the same value of a label are one domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// What people call it: `rack`.
    pub name: String,
    /// The node label.
    pub key: String,
}

/// Nodes, and the levels of their topology.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    nodes: Vec<Node>,
    levels: Vec<Level>,
}

/// The nodes of one domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Value of the label.
    pub value: String,
    /// Positions of its nodes in [`Cluster::nodes`].
    pub nodes: Vec<usize>,
}

impl Cluster {
    /// `levels` from the widest to the narrowest. Nodes are put in the natural order of their names; of two with one name the
    /// first counts.
    pub fn new(mut nodes: Vec<Node>, levels: Vec<Level>) -> Self {
        nodes.sort_by(|one, other| natural::compare(&one.name, &other.name));
        nodes.dedup_by(|later, earlier| later.name == earlier.name);
        Self { nodes, levels }
    }

    /// All nodes, in natural order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The levels, from the widest to the narrowest.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The position of the node of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.nodes.binary_search_by(|it| natural::compare(&it.name, name)).ok()
    }

    /// The node of this name, to add pods to it.
    pub fn node_mut(&mut self, name: &str) -> Option<&mut Node> {
        let position = self.position(name)?;
        self.nodes.get_mut(position)
    }

    /// The domains of a label, in natural order. Nodes without the label are in none.
    pub fn domains(&self, key: &str) -> Vec<Domain> {
        let mut nodes_of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(value) = node.label(key) {
                nodes_of.entry(value).or_default().push(at);
            }
        }
        let mut domains: Vec<Domain> =
            nodes_of.into_iter().map(|(value, nodes)| Domain { value: value.to_owned(), nodes }).collect();
        domains.sort_by(|one, other| natural::compare(&one.value, &other.value));
        domains
    }

    /// The levels that are wider than a label's, the nearest first; none where the label is of no level.
    pub fn wider(&self, key: &str) -> impl Iterator<Item = &Level> {
        let at = self.levels.iter().position(|it| it.key == key).unwrap_or_default();
        self.levels[..at].iter().rev()
    }

    /// What people call the domains of a label: `rack`, or `domain of LABEL` where it is of no level.
    pub fn level_name(&self, key: &str) -> String {
        let level = self.levels.iter().find(|it| it.key == key);
        level.map_or_else(|| format!("domain of {key}"), |it| it.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, labels: &[(&str, &str)]) -> Node {
        let labels = labels.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        Node { name: name.to_owned(), labels, ..Node::default() }
    }

    fn level(name: &str) -> Level {
        Level { name: name.to_owned(), key: format!("t/{name}") }
    }

    #[test]
    fn nodes_and_domains_are_in_natural_order() {
        let nodes = vec![
            node("n-10", &[("t/rack", "r-10")]),
            node("n-9", &[("t/rack", "r-9")]),
            node("n-1", &[]),
            node("n-11", &[("t/rack", "r-9")]),
            node("n-9", &[("t/rack", "other")]),
        ];
        let cluster = Cluster::new(nodes, vec![level("zone"), level("rack")]);
        let names: Vec<&str> = cluster.nodes().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["n-1", "n-9", "n-10", "n-11"]);
        let domains: Vec<(String, Vec<usize>)> =
            cluster.domains("t/rack").into_iter().map(|it| (it.value, it.nodes)).collect();
        assert_eq!(domains, [("r-9".to_owned(), vec![1, 3]), ("r-10".to_owned(), vec![2])]);
        assert_eq!(cluster.position("n-10"), Some(2));
        assert_eq!(cluster.position("n-2"), None);
    }

    #[test]
    fn levels_have_names_and_wider_levels() {
        let cluster = Cluster::new(Vec::new(), vec![level("zone"), level("block"), level("rack")]);
        let wider = |key: &str| cluster.wider(key).map(|it| it.name.as_str()).collect::<Vec<_>>();
        assert_eq!(wider("t/rack"), ["block", "zone"]);
        assert_eq!(wider("t/zone"), [""; 0]);
        assert_eq!(wider("unknown"), [""; 0]);
        assert_eq!(cluster.level_name("t/rack"), "rack");
        assert_eq!(cluster.level_name("unknown"), "domain of unknown");
    }
}
