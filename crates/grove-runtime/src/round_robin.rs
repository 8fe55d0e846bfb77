//! What waits, by namespace (or by another key): first come, first served within a namespace, and one of each namespace in turn.
//!
//! A tenant with thousands of keys must not keep those of another tenant waiting. A namespace that joins gets the last
//! turn of the round, so that its first item is taken after at most one item of every other namespace. Cluster scope,
//! `""`, is one more namespace. Every operation is logarithmic, and a namespace without items takes no memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Items that wait, each with a number that the caller chooses and that grows from item to item.
pub(crate) struct RoundRobin<T> {
    /// By number: the oldest first.
    items: BTreeMap<u64, (Arc<str>, T)>,
    namespaces: BTreeMap<Arc<str>, Namespace>,
    /// Whose turn it is, the next one first.
    turns: BTreeMap<u64, Arc<str>>,
    last_turn: u64,
}

/// The items of one namespace, of which there is at least one.
struct Namespace {
    numbers: BTreeSet<u64>,
    turn: u64,
}

impl<T> Default for RoundRobin<T> {
    fn default() -> Self {
        let (items, namespaces, turns) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { items, namespaces, turns, last_turn: 0 }
    }
}

impl<T> RoundRobin<T> {
    /// Adds an item behind those of its namespace.
    pub(crate) fn push(&mut self, namespace: &str, number: u64, item: T) {
        let name = if let Some((name, _)) = self.namespaces.get_key_value(namespace) {
            Arc::clone(name)
        } else {
            let name: Arc<str> = Arc::from(namespace);
            let turn = self.end_of_round(&name);
            self.namespaces.insert(Arc::clone(&name), Namespace { numbers: BTreeSet::new(), turn });
            name
        };
        if let Some(known) = self.namespaces.get_mut(&name) {
            known.numbers.insert(number);
        }
        self.items.insert(number, (name, item));
    }

    /// Takes the first item of the namespace whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let (_, namespace) = self.turns.first_key_value()?;
        let namespace = Arc::clone(namespace);
        let number = *self.namespaces.get(&namespace)?.numbers.first()?;
        let item = self.remove(number);
        if self.namespaces.contains_key(&namespace) {
            let turn = self.end_of_round(&namespace);
            let before = self.namespaces.get_mut(&namespace).map(|it| std::mem::replace(&mut it.turn, turn));
            before.and_then(|before| self.turns.remove(&before));
        }
        item
    }

    /// Takes an item out of order; nothing if it does not wait.
    pub(crate) fn remove(&mut self, number: u64) -> Option<T> {
        let (namespace, item) = self.items.remove(&number)?;
        let known = self.namespaces.get_mut(&namespace)?;
        known.numbers.remove(&number);
        if known.numbers.is_empty() {
            let turn = known.turn;
            self.turns.remove(&turn);
            self.namespaces.remove(&namespace);
        }
        Some(item)
    }

    /// The item that has waited longest, of whatever namespace, and its number.
    pub(crate) fn oldest(&self) -> Option<(u64, &T)> {
        self.items.first_key_value().map(|(number, (_, item))| (*number, item))
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// A turn after all others.
    fn end_of_round(&mut self, namespace: &Arc<str>) -> u64 {
        self.last_turn += 1;
        self.turns.insert(self.last_turn, Arc::clone(namespace));
        self.last_turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(items: &[(&str, u64)]) -> RoundRobin<u64> {
        let mut waiting = RoundRobin::default();
        for (namespace, number) in items {
            waiting.push(namespace, *number, *number);
        }
        waiting
    }

    fn drain(waiting: &mut RoundRobin<u64>) -> Vec<u64> {
        std::iter::from_fn(|| waiting.pop()).collect()
    }

    #[test]
    fn namespaces_take_turns_and_each_is_served_in_order() {
        let mut waiting =
            filled(&[("a", 1), ("a", 2), ("a", 3), ("b", 4), ("b", 5), ("", 6), ("a", 7), ("", 8)]);
        assert_eq!(waiting.oldest(), Some((1, &1)));
        assert_eq!(drain(&mut waiting), [1, 4, 6, 2, 5, 8, 3, 7]);
    }

    #[test]
    fn who_joins_waits_for_one_item_of_every_other_namespace_at_most() {
        let mut waiting = RoundRobin::default();
        for number in 0..5_000 {
            waiting.push("a", number, number);
        }
        assert_eq!((waiting.pop(), waiting.pop()), (Some(0), Some(1)));
        waiting.push("b", 5_000, 5_000);
        assert_eq!((waiting.pop(), waiting.pop()), (Some(2), Some(5_000)));
        // To leave and to come back is no way to be served more often.
        waiting.push("b", 5_001, 5_001);
        assert_eq!((waiting.pop(), waiting.pop()), (Some(3), Some(5_001)));
    }

    #[test]
    fn what_is_removed_is_not_served_and_costs_no_turn() {
        let mut waiting = filled(&[("a", 1), ("b", 2), ("a", 3), ("c", 4)]);
        assert_eq!((waiting.remove(2), waiting.remove(2), waiting.remove(1)), (Some(2), None, Some(1)));
        assert_eq!(waiting.len(), 2);
        assert_eq!(drain(&mut waiting), [3, 4]);
    }

    #[test]
    fn a_namespace_without_items_takes_no_memory() {
        let mut waiting = RoundRobin::default();
        for number in 0..1_000 {
            waiting.push(&format!("tenant-{number}"), number, number);
        }
        for number in 0..500 {
            waiting.remove(number * 2);
        }
        assert_eq!(drain(&mut waiting).len(), 500);
        assert!(waiting.is_empty() && waiting.namespaces.is_empty() && waiting.turns.is_empty());
    }
}
