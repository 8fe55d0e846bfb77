//! Secondary indexes: objects by strings that a function derives from each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::key::Key;
use super::{Shared, Stored};

pub(super) type Keys<K> = Box<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// The entries of one index. Always agrees with the objects, because both change under one lock.
pub(super) struct IndexMap<K> {
    keys: Keys<K>,
    entries: BTreeMap<String, BTreeMap<Key, Arc<K>>>,
}

impl<K> IndexMap<K> {
    pub(super) fn new(keys: Keys<K>) -> Self {
        Self { keys, entries: BTreeMap::new() }
    }

    /// Replaces `old` by `new` under every string that either of them has.
    pub(super) fn replace(&mut self, key: &Key, old: Option<&K>, new: Option<&Arc<K>>) {
        let wanted: BTreeSet<String> =
            new.map(|new| (self.keys)(new)).unwrap_or_default().into_iter().collect();
        for stale in old.map(|old| (self.keys)(old)).unwrap_or_default() {
            if !wanted.contains(&stale) {
                self.remove(&stale, key);
            }
        }
        let Some(new) = new else { return };
        for under in wanted {
            self.entries.entry(under).or_default().insert(key.clone(), new.clone());
        }
    }

    fn remove(&mut self, under: &str, key: &Key) {
        if let Some(bucket) = self.entries.get_mut(under) {
            bucket.remove(key);
            if bucket.is_empty() {
                self.entries.remove(under);
            }
        }
    }
}

/// Handle to one secondary index of a [`Cache`](super::Cache).
pub struct Index<K> {
    shared: Arc<Shared<K>>,
    position: usize,
}

impl<K: Stored> Index<K> {
    pub(super) fn new(shared: Arc<Shared<K>>, position: usize) -> Self {
        Self { shared, position }
    }

    /// Objects under `key`, ordered by namespace and name.
    pub fn get(&self, key: &str) -> Vec<Arc<K>> {
        self.bucket(key, |bucket| bucket.values().cloned().collect())
    }

    /// How many objects there are under `key`.
    pub fn count(&self, key: &str) -> usize {
        self.bucket(key, BTreeMap::len)
    }

    fn bucket<R: Default>(&self, key: &str, read: impl FnOnce(&BTreeMap<Key, Arc<K>>) -> R) -> R {
        let state = self.shared.state.read();
        let bucket = state.indexes.get(self.position).and_then(|index| index.entries.get(key));
        bucket.map(read).unwrap_or_default()
    }
}

// Not derived: that would ask `K: Clone` for a handle.
impl<K> Clone for Index<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), position: self.position }
    }
}

impl<K> fmt::Debug for Index<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("position", &self.position).finish_non_exhaustive()
    }
}
