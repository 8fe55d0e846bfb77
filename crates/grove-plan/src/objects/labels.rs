//! Labels of everything that Grove makes, and the selectors over them.

use std::collections::BTreeMap;

use grove_api::constants::labels;

/// Labels in the order they are added: later ones win.
pub(super) struct Labels(BTreeMap<String, String>);

impl Labels {
    /// What the user wants, below everything else.
    pub(super) fn from_template(labels: &BTreeMap<String, String>) -> Self {
        Self(labels.clone())
    }

    /// What every object of a set has.
    pub(super) fn of_set(self, set: &str) -> Self {
        self.with(labels::MANAGED_BY, labels::MANAGED_BY_VALUE).with(labels::PART_OF, set)
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    pub(super) fn with_all<'a>(mut self, more: impl IntoIterator<Item = (&'a String, &'a String)>) -> Self {
        self.0.extend(more.into_iter().map(|(key, value)| (key.clone(), value.clone())));
        self
    }

    pub(super) fn into_map(self) -> BTreeMap<String, String> {
        self.0
    }
}

/// Everything of a set.
pub fn set_selector(set: &str) -> String {
    format!("{}={},{}={set}", labels::MANAGED_BY, labels::MANAGED_BY_VALUE, labels::PART_OF)
}

/// The pods of a clique.
pub fn clique_selector(set: &str, clique: &str) -> String {
    format!("{},{}={clique}", set_selector(set), labels::POD_CLIQUE)
}

/// The pods and cliques of a scaling group.
pub fn group_selector(set: &str, group: &str) -> String {
    format!("{},{}={group}", set_selector(set), labels::SCALING_GROUP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_narrow_that_of_the_set() {
        let set = "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=inf";
        assert_eq!(set_selector("inf"), set);
        assert_eq!(clique_selector("inf", "inf-0-fe"), format!("{set},grove.io/podclique=inf-0-fe"));
        assert_eq!(
            group_selector("inf", "inf-0-pd"),
            format!("{set},grove.io/podcliquescalinggroup=inf-0-pd")
        );
    }
}
