//! Ways to find objects other than by key: by uid, by owner, by namespace.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Key;
use crate::object::Object;

#[derive(Debug, Default)]
pub(super) struct Index {
    uids: BTreeMap<String, Key>,
    dependents: BTreeMap<String, BTreeSet<Key>>,
    namespaces: BTreeMap<String, BTreeSet<Key>>,
}

impl Index {
    /// An object changed from `old` to `new`.
    pub(super) fn update(&mut self, key: &Key, old: Option<&Object>, new: Option<&Object>) {
        let (was, is) = (old.map(Object::owner_references), new.map(Object::owner_references));
        if was.unwrap_or_default() != is.unwrap_or_default() {
            for owner in owners(was) {
                remove(&mut self.dependents, owner, key);
            }
            for owner in owners(is) {
                self.dependents.entry(owner.to_owned()).or_default().insert(key.clone());
            }
        }
        match (old, new) {
            (None, Some(new)) => {
                self.uids.insert(new.uid().to_owned(), key.clone());
                self.namespaces.entry(key.namespace.clone()).or_default().insert(key.clone());
            }
            (Some(old), None) => {
                self.uids.remove(old.uid());
                remove(&mut self.namespaces, &key.namespace, key);
            }
            // A uid never changes while there is the object.
            _ => {}
        }
    }

    pub(super) fn by_uid(&self, uid: &str) -> Option<Key> {
        self.uids.get(uid).cloned()
    }

    pub(super) fn dependents(&self, uid: &str) -> Vec<Key> {
        self.dependents.get(uid).into_iter().flatten().cloned().collect()
    }

    pub(super) fn in_namespace(&self, namespace: &str) -> Vec<Key> {
        self.namespaces.get(namespace).into_iter().flatten().cloned().collect()
    }
}

fn owners(references: Option<&[Value]>) -> impl Iterator<Item = &str> {
    references.unwrap_or_default().iter().filter_map(|it| it.get("uid")?.as_str())
}

fn remove(map: &mut BTreeMap<String, BTreeSet<Key>>, entry: &str, key: &Key) {
    if let Some(keys) = map.get_mut(entry) {
        keys.remove(key);
        if keys.is_empty() {
            map.remove(entry);
        }
    }
}
