//! Owners and what they own. Mirrors `attemptToDeleteItem` of the real garbage collector.

use serde_json::{Value, json};

use super::Collector;
use crate::object::Object;
use crate::store::Key;
use crate::write::{DeleteOptions, Policy};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What an owner is to the object that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// It is there, or nobody can tell.
    Solid,
    /// It is not there.
    Absent,
    /// It is there, and goes after this object.
    Waiting,
}

impl Collector<'_> {
    pub(super) fn attend_owned(&mut self, key: &Key, object: &Object) -> usize {
        let has = |finalizer: &str| object.finalizers().any(|it| it == finalizer);
        match object.is_terminating() {
            true if has(ORPHAN) => self.orphan_dependents(key, object),
            true if has(FOREGROUND) => self.delete_dependents_first(key, object),
            true => 0,
            false => self.look_for_owners(key, object),
        }
    }

    /// Takes the owner out of its dependents, and then lets it go.
    fn orphan_dependents(&mut self, key: &Key, owner: &Object) -> usize {
        let store = self.server.store();
        let mut writes = 0;
        for dependent_key in store.dependents(owner.uid()) {
            let Some(dependent) = store.read(&dependent_key) else { continue };
            let left: Vec<Value> =
                dependent.owner_references().iter().filter(|it| it["uid"] != owner.uid()).cloned().collect();
            if !self.change_metadata(&dependent_key, &dependent, "ownerReferences", &left) {
                // Somebody wrote meanwhile; it is still ours to free.
                self.work.insert(key.clone());
                return writes;
            }
            writes += 1;
        }
        writes + self.remove_finalizer(key, owner, ORPHAN)
    }

    /// Lets the owner go when no dependent blocks it any more.
    fn delete_dependents_first(&mut self, key: &Key, owner: &Object) -> usize {
        let store = self.server.store();
        let dependents = store.dependents(owner.uid());
        let blocks = |dependent: &Key| {
            let blocks = |it: &Value| it["uid"] == owner.uid() && it["blockOwnerDeletion"] == true;
            store.read(dependent).is_some_and(|it| it.owner_references().iter().any(blocks))
        };
        if dependents.iter().any(blocks) {
            // They see that their owner waits for them. Those that end already will be heard of when they are gone.
            self.work.extend(
                dependents.into_iter().filter(|it| store.read(it).is_some_and(|it| !it.is_terminating())),
            );
            return 0;
        }
        self.remove_finalizer(key, owner, FOREGROUND)
    }

    fn look_for_owners(&mut self, key: &Key, object: &Object) -> usize {
        let references = object.owner_references();
        if references.is_empty() {
            return 0;
        }
        let owners: Vec<(Owner, &Value)> = references.iter().map(|it| (self.owner(key, it), it)).collect();
        let any = |wanted: Owner| owners.iter().any(|(owner, _)| *owner == wanted);
        if any(Owner::Solid) {
            if !any(Owner::Absent) && !any(Owner::Waiting) {
                return 0;
            }
            let solid = owners.iter().filter(|(owner, _)| *owner == Owner::Solid);
            let left: Vec<Value> = solid.map(|(_, reference)| (*reference).clone()).collect();
            return usize::from(self.change_metadata(key, object, "ownerReferences", &left));
        }
        let dependents = self.server.store().dependents(object.uid());
        let mut writes = 0;
        let policy = if any(Owner::Waiting) && !dependents.is_empty() {
            if dependents.iter().any(|it| self.waits_for_dependents(it)) {
                writes += self.unblock_owners(key, object);
            }
            Policy::Foreground
        } else if object.finalizers().any(|it| it == ORPHAN) {
            Policy::Orphan
        } else if object.finalizers().any(|it| it == FOREGROUND) {
            Policy::Foreground
        } else {
            Policy::Background
        };
        let options = DeleteOptions { policy: Some(policy), ..DeleteOptions::background(object.uid()) };
        writes + usize::from(self.delete(key, options))
    }

    fn owner(&self, dependent: &Key, reference: &Value) -> Owner {
        let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or_default();
        let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
        let resources = self.server.resources();
        let Some(resource) = resources.by_kind(group, text("kind")) else {
            // Nobody knows such objects, so nobody can say that it is not there.
            return Owner::Solid;
        };
        if resource.namespaced && dependent.namespace.is_empty() {
            // In which namespace? Nobody can tell.
            return Owner::Solid;
        }
        match self.server.store().by_uid(text("uid")) {
            Some(key) if key.namespace.is_empty() || key.namespace == dependent.namespace => {
                if self.waits_for_dependents(&key) { Owner::Waiting } else { Owner::Solid }
            }
            // An owner in another namespace is none.
            _ => Owner::Absent,
        }
    }

    fn waits_for_dependents(&self, key: &Key) -> bool {
        let waits = |it: &Object| it.is_terminating() && it.finalizers().any(|it| it == FOREGROUND);
        self.server.store().read(key).is_some_and(|it| waits(&it))
    }

    /// Breaks a circle of objects that wait for each other.
    fn unblock_owners(&self, key: &Key, object: &Object) -> usize {
        let mut references = object.owner_references().to_vec();
        let blocking: Vec<&mut Value> =
            references.iter_mut().filter(|it| it["blockOwnerDeletion"] == true).collect();
        if blocking.is_empty() {
            return 0;
        }
        for reference in blocking {
            reference["blockOwnerDeletion"] = json!(false);
        }
        usize::from(self.change_metadata(key, object, "ownerReferences", &references))
    }

    fn remove_finalizer(&mut self, key: &Key, object: &Object, finalizer: &str) -> usize {
        let left: Vec<Value> = object.finalizers().filter(|it| *it != finalizer).map(Value::from).collect();
        usize::from(self.change_metadata(key, object, "finalizers", &left))
    }
}
