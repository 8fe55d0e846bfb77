//! Which node labels may be levels.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::topology::{
    facts::Node,
    known::{self, Known},
};

/// Words in a label that say that it names a place.
const PLACES: [&str; 28] = [
    "aisle",
    "block",
    "building",
    "cage",
    "campus",
    "cell",
    "datacenter",
    "fabric",
    "floor",
    "hall",
    "island",
    "leaf",
    "nvlink",
    "pdu",
    "rack",
    "region",
    "room",
    "row",
    "segment",
    "site",
    "spine",
    "subblock",
    "superpod",
    "switch",
    "topology",
    "tor",
    "ultraserver",
    "zone",
];

/// A label that may be a level.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) key: String,
    pub(super) known: Option<Known>,
    /// Nodes of each of its domains.
    pub(super) sizes: BTreeMap<String, usize>,
    /// Names of the nodes without it.
    pub(super) without: Vec<String>,
}

/// What the labels of nodes are.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// They may be levels; the better known first.
    pub(super) candidates: Vec<Candidate>,
    /// They say where nodes are, of too few nodes.
    pub(super) too_few: Vec<Candidate>,
    /// Nothing says that they are places, but they tell all nodes apart into groups.
    pub(super) unclear: Vec<Candidate>,
}

pub(super) fn sort(nodes: &[&Node]) -> Sorted {
    let keys: BTreeSet<&str> = nodes.iter().flat_map(|it| it.labels.keys()).map(String::as_str).collect();
    let mut sorted = Sorted::default();
    for key in keys {
        let it = Candidate::of(key, nodes);
        let covered = nodes.len() - it.without.len();
        let groups = it.sizes.len() > 1 && it.sizes.len() < covered;
        match (&it.known, names_a_place(key)) {
            // A node may be new: half of the nodes are enough where the meaning is known.
            (Some(_), _) if covered * 2 >= nodes.len() => sorted.candidates.push(it),
            (None, _) if !groups => {}
            (None, true) if it.without.is_empty() => sorted.candidates.push(it),
            (Some(_), _) | (None, true) => sorted.too_few.push(it),
            (None, false) if it.without.is_empty() => sorted.unclear.push(it),
            (None, false) => {}
        }
    }
    sorted.candidates.sort_by_key(|it| (it.known.is_none(), it.known.as_ref().map(|it| it.rank)));
    sorted
}

impl Candidate {
    fn of(key: &str, nodes: &[&Node]) -> Self {
        let mut it =
            Self { key: key.to_owned(), known: known::of(key), sizes: BTreeMap::new(), without: Vec::new() };
        for node in nodes {
            match node.labels.get(key) {
                Some(value) => *it.sizes.entry(value.clone()).or_default() += 1,
                None => it.without.push(node.name.clone()),
            }
        }
        it
    }
}

/// Whole words: `example.com/rack-id` names a place, `example.com/tracking` does not.
fn names_a_place(key: &str) -> bool {
    key.split(|it: char| !it.is_ascii_alphanumeric())
        .any(|word| PLACES.contains(&word.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_name_places() {
        let rows = [
            ("example.com/rack", true),
            ("example.com/Rack_ID", true),
            ("topology.example.com/pod", true),
            ("row", true),
            ("example.com/tracking", false),
            ("node.kubernetes.io/instance-type", false),
            ("nvidia.com/gpu.product", false),
        ];
        for (key, want) in rows {
            assert_eq!(names_a_place(key), want, "{key}");
        }
    }
}
