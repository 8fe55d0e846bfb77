//! How many kinds are watched that only the pods of users name.
//!
//! Kinds that a plugin or a GroupingRule knows are chosen by admins, and are always watched. Any other kind that the grouper may
//! list is watched when a pod has such an owner, so that its changes take effect; but a user must not make the grouper hold all
//! objects of a cluster. Beyond the budget, owners are read one by one.

use std::collections::BTreeMap;

use super::object_key::KindName;

/// Kinds in all.
const MOST: usize = 32;
/// Kinds whose watch the pods of one namespace began.
const OF_NAMESPACE: usize = 4;

/// Kinds that are watched within the budget, and the namespace for whose sake the watch began.
#[derive(Debug, Default)]
pub(crate) struct WatchBudget(BTreeMap<KindName, String>);

impl WatchBudget {
    /// Whether a kind may be watched, which is noted.
    pub(crate) fn take(&mut self, kind: &KindName, namespace: &str) -> bool {
        if self.0.contains_key(kind) {
            return true;
        }
        let of_namespace = self.0.values().filter(|it| *it == namespace).count();
        if self.0.len() >= MOST || of_namespace >= OF_NAMESPACE {
            return false;
        }
        self.0.insert(kind.clone(), namespace.to_owned());
        true
    }

    /// It is not watched any more.
    pub(crate) fn give_back(&mut self, kind: &KindName) {
        self.0.remove(kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(number: usize) -> KindName {
        KindName { api_version: "example.com/v1".to_owned(), kind: format!("K{number}") }
    }

    #[test]
    fn one_namespace_has_its_share_and_no_more() {
        let mut budget = WatchBudget::default();
        assert!((0..OF_NAMESPACE).all(|it| budget.take(&kind(it), "hostile")));
        assert!(!(OF_NAMESPACE..1_000).any(|it| budget.take(&kind(it), "hostile")));
        // Others have theirs, and what is watched already costs nothing.
        assert!(budget.take(&kind(1_000), "honest"));
        assert!(budget.take(&kind(0), "honest") && budget.take(&kind(0), "hostile"));
        budget.give_back(&kind(0));
        assert!(budget.take(&kind(5), "hostile") && !budget.take(&kind(6), "hostile"));
    }

    #[test]
    fn all_namespaces_together_have_a_bound() {
        let mut budget = WatchBudget::default();
        let taken = (0..1_000).filter(|it| budget.take(&kind(*it), &format!("ns{it}"))).count();
        assert_eq!(taken, MOST);
    }
}
