//! The node labels that a gang's constraints use, with their values as numbers.

use crate::cluster::Cluster;

/// Node labels and, for each, the value that every node has. Values are numbered in natural order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    names: Vec<String>,
    values: Vec<Vec<Option<u32>>>,
    texts: Vec<Vec<String>>,
}

impl Keys {
    /// The number of a label, which is added where it is new.
    pub(crate) fn add(&mut self, cluster: &Cluster, name: &str) -> usize {
        if let Some(known) = self.names.iter().position(|it| it == name) {
            return known;
        }
        let mut values = vec![None; cluster.nodes().len()];
        let mut texts = Vec::new();
        for (number, domain) in (0..).zip(cluster.domains(name)) {
            for node in domain.nodes {
                values[node] = Some(number);
            }
            texts.push(domain.value);
        }
        self.names.push(name.to_owned());
        self.values.push(values);
        self.texts.push(texts);
        self.names.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, key: usize) -> &str {
        &self.names[key]
    }

    /// The value that a node has of a label.
    pub(crate) fn value(&self, key: usize, node: usize) -> Option<u32> {
        self.values[key][node]
    }

    /// How many values a label has.
    pub(crate) fn count(&self, key: usize) -> usize {
        self.texts[key].len()
    }

    /// A value as it stands on nodes.
    pub(crate) fn text(&self, key: usize, value: u32) -> &str {
        &self.texts[key][value as usize]
    }

    /// Whether each domain of `narrow` lies in one domain of `wide`.
    pub(crate) fn is_nested(&self, narrow: usize, wide: usize) -> bool {
        let mut parent: Vec<Option<Option<u32>>> = vec![None; self.count(narrow)];
        self.values[narrow].iter().zip(&self.values[wide]).all(|(inner, outer)| match inner {
            None => true,
            Some(inner) => *parent[*inner as usize].get_or_insert(*outer) == *outer,
        })
    }
}
