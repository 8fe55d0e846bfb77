//! The domains that the levels of a topology have in a cluster, read from the labels of its nodes.

use std::collections::BTreeSet;

/// What the nodes of a cluster say of the levels of a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains {
    keys: Vec<String>,
    nodes: usize,
    lacking: Vec<usize>,
    paths: BTreeSet<Vec<String>>,
}

impl Domains {
    /// Of no node yet; `keys` are the node labels of the levels, the broadest first.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
        Self { lacking: vec![0; keys.len()], keys, ..Self::default() }
    }

    /// One node more, by the value that it has for a label. Without all of them it is in no domain.
    pub fn add<'a>(&mut self, label: impl Fn(&str) -> Option<&'a str>) {
        self.nodes += 1;
        let values: Vec<Option<&str>> = self.keys.iter().map(|key| label(key)).collect();
        for (lacking, value) in self.lacking.iter_mut().zip(&values) {
            *lacking += usize::from(value.is_none());
        }
        if let Some(path) = values.into_iter().map(|it| it.map(str::to_owned)).collect() {
            self.paths.insert(path);
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The label of each level, with the number of nodes that do not have it.
    pub fn lacking(&self) -> impl Iterator<Item = (&str, usize)> {
        self.keys.iter().map(String::as_str).zip(self.lacking.iter().copied())
    }

    /// Each narrowest domain that has nodes, by the values of all levels: domains of one name in two broader ones are two.
    pub fn paths(&self) -> &BTreeSet<Vec<String>> {
        &self.paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_the_path_of_its_values_and_what_lacks_a_label_is_counted() {
        let mut domains = Domains::new(["zone", "rack"]);
        let nodes: [&[(&str, &str)]; 6] = [
            &[("zone", "a"), ("rack", "1")],
            &[("zone", "a"), ("rack", "1"), ("other", "x")],
            &[("zone", "b"), ("rack", "1")],
            &[("zone", "b")],
            &[("rack", "2")],
            &[],
        ];
        for node in nodes {
            domains.add(|key| node.iter().find(|it| it.0 == key).map(|it| it.1));
        }
        let paths: Vec<Vec<&str>> =
            domains.paths().iter().map(|it| it.iter().map(String::as_str).collect()).collect();
        assert_eq!(paths, [["a", "1"], ["b", "1"]]);
        assert_eq!(domains.lacking().collect::<Vec<_>>(), [("zone", 2), ("rack", 2)]);
        assert_eq!(domains.nodes(), 6);
    }
}
