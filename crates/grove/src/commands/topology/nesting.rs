//! Whether the domains of one node label lie in those of another.

use std::collections::{BTreeMap, BTreeSet};

use super::natural;

/// The labels of one node.
pub(super) type Labels = BTreeMap<String, String>;

/// How the values of a narrower label lie in those of a broader one, over the nodes that have both.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Nesting {
    /// Values of the narrower label.
    pub(super) values: usize,
    /// Those that lie in more than one value of the broader label, and in which; in the order in which people count.
    pub(super) torn: Vec<(String, Vec<String>)>,
}

impl Nesting {
    pub(super) fn of<'a>(nodes: impl Iterator<Item = &'a Labels>, narrow: &str, broad: &str) -> Self {
        let mut above: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for labels in nodes {
            if let (Some(value), Some(wide)) = (labels.get(narrow), labels.get(broad)) {
                above.entry(value).or_default().insert(wide);
            }
        }
        let values = above.len();
        let torn = above.into_iter().filter(|(_, wide)| wide.len() > 1);
        let mut torn: Vec<(String, Vec<String>)> = torn
            .map(|(value, wide)| (value.to_owned(), wide.into_iter().map(str::to_owned).collect()))
            .collect();
        torn.sort_by(|a, b| natural::order(&a.0, &b.0));
        Self { values, torn }
    }

    /// Each value lies in exactly one of the broader label. Where no node has both labels, nothing is known.
    pub(super) fn holds(&self) -> bool {
        self.values > 0 && self.torn.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(zone: &str, rack: &str) -> Labels {
        let labels = [("zone", zone), ("rack", rack)].into_iter().filter(|it| !it.1.is_empty());
        labels.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn each_value_in_one_of_the_broader() {
        let none: &[&str] = &[];
        let torn = vec![node("a", "10"), node("b", "10"), node("a", "2"), node("b", "2")];
        let rows = [
            ("it nests", vec![node("a", "1"), node("a", "2"), node("b", "3")], 3, none, true),
            ("two are torn", torn, 2, &["2", "10"], false),
            ("nodes without the broader do not count", vec![node("a", "1"), node("", "1")], 1, none, true),
            ("nodes without the narrower do not count", vec![node("a", "1"), node("b", "")], 1, none, true),
            ("no node has both", vec![node("a", ""), node("", "1")], 0, none, false),
        ];
        for (title, nodes, values, torn, holds) in rows {
            let nesting = Nesting::of(nodes.iter(), "rack", "zone");
            let names: Vec<&str> = nesting.torn.iter().map(|it| it.0.as_str()).collect();
            assert_eq!((nesting.values, names.as_slice(), nesting.holds()), (values, torn, holds), "{title}");
        }
    }
}
