//! Who is told of a change: the owners of the object, before and after it, and whoever waits for its name.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use grove_ownership::OwnerKey;
use kube::api::DynamicObject;
use parking_lot::{Mutex, RwLock};

use crate::cache::Change;

type Told = Arc<dyn Fn(&OwnerKey, Changed) + Send + Sync>;

/// What of an object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// What its kind's controllers say of it, and nothing else.
    Status,
    /// Anything.
    Object,
}

/// Those that want to know which owners to look at again.
#[derive(Default)]
pub(super) struct Listeners {
    told: RwLock<Vec<Told>>,
    /// Owners that need a name which an object of another one still has, by kind, namespace and name.
    waiting: Mutex<BTreeMap<(usize, String, String), BTreeSet<OwnerKey>>>,
}

impl Listeners {
    pub(super) fn add(&self, told: impl Fn(&OwnerKey, Changed) + Send + Sync + 'static) {
        self.told.write().push(Arc::new(told));
    }

    /// `owner` is told of when there is no such object any longer.
    pub(super) fn wait(&self, kind: usize, name: &str, owner: OwnerKey) {
        let place = (kind, owner.namespace().to_owned(), name.to_owned());
        self.waiting.lock().entry(place).or_default().insert(owner);
    }

    pub(super) fn tell(&self, kind: usize, change: &Change<'_, DynamicObject>) {
        let sides = [change.old, change.new].into_iter().flatten();
        let owners: BTreeSet<OwnerKey> = sides.flat_map(|it| OwnerKey::of_owners(&it.metadata)).collect();
        let changed = match (change.old, change.new) {
            (Some(old), Some(new)) if differ_in_status_only(old, new) => Changed::Status,
            _ => Changed::Object,
        };
        self.call(&owners, changed);
        if let (Some(old), None) = (change.old, change.new) {
            let text = |it: &Option<String>| it.clone().unwrap_or_default();
            self.gone(kind, &text(&old.metadata.namespace), &text(&old.metadata.name));
        }
    }

    /// Nobody has this name now.
    pub(super) fn gone(&self, kind: usize, namespace: &str, name: &str) {
        let waiting = self.waiting.lock().remove(&(kind, namespace.to_owned(), name.to_owned()));
        self.call(&waiting.unwrap_or_default(), Changed::Object);
    }

    fn call(&self, owners: &BTreeSet<OwnerKey>, changed: Changed) {
        // A listener may add another, so the list is not locked during the calls.
        let told = self.told.read().clone();
        for owner in owners {
            for it in &told {
                it(owner, changed);
            }
        }
    }
}

/// Whether two states of an object differ in what its kind's controllers say of it, and in nothing else.
pub fn differ_in_status_only(old: &DynamicObject, new: &DynamicObject) -> bool {
    let (a, b) = (&old.metadata, &new.metadata);
    let rest = |object: &DynamicObject| {
        let mut data = object.data.clone();
        if let Some(fields) = data.as_object_mut() {
            fields.remove("status");
        }
        data
    };
    (&a.uid, &a.labels, &a.annotations, &a.owner_references, &a.finalizers, &a.deletion_timestamp)
        == (&b.uid, &b.labels, &b.annotations, &b.owner_references, &b.finalizers, &b.deletion_timestamp)
        && rest(old) == rest(new)
}
