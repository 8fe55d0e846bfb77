//! Decides what the cache holds after each piece of news, and what its listeners must hear.
//!
//! News comes from two sources that know nothing of each other: the watch, which is ordered but late, and the answers
//! to our own writes, which are early but may be overtaken. Versions order what concerns one object; graves stop what
//! is late; what only a write has shown stays *unconfirmed* until the watch shows it too. No IO, no locks, no clock.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use tokio::time::Instant;

use super::graves::{Burial, Graves};
use super::index::IndexMap;
use super::key::Key;
use super::version;

/// An object that a write has shown and the watch has not, or that a write was refused for, because it is otherwise by now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// Namespace, `""` for cluster scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
    pub(super) uid: String,
    pub(super) version: String,
    /// Since when.
    pub(crate) since: Instant,
}

impl Unconfirmed {
    /// Whether this form of the object is of an earlier state of the server.
    pub(crate) fn is_newer_than(&self, meta: &ObjectMeta) -> bool {
        uid(meta) == self.uid
            && version::compare(resource_version(meta), &self.version) == Some(Ordering::Less)
    }
}

/// One step from `old` to `new`, in the order of the steps.
pub(super) type Step<K> = (Option<Arc<K>>, Option<Arc<K>>);

struct Entry<K> {
    object: Arc<K>,
    /// When our own write brought this version, until the watch shows it too.
    unconfirmed: Option<Instant>,
    /// The server has something else by now, and whatever it shows next replaces this.
    superseded: bool,
}

/// Everything known of one kind.
pub(super) struct State<K> {
    objects: BTreeMap<Key, Entry<K>>,
    pub(super) indexes: Vec<IndexMap<K>>,
    graves: Graves,
    /// What the list that is running has shown so far.
    seen: Option<BTreeSet<Key>>,
    /// The server was set back to an earlier state, and no list has been complete since.
    rewound: bool,
}

impl<K> Default for State<K> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            indexes: Vec::new(),
            graves: Graves::default(),
            seen: None,
            rewound: false,
        }
    }
}

impl<K: Resource> State<K> {
    pub(super) fn find(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.objects.get(Key::text(namespace, name).as_str()).map(|entry| &entry.object)
    }

    fn get(&self, key: &Key) -> Option<&Arc<K>> {
        self.objects.get(key).map(|entry| &entry.object)
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = (&Key, &Arc<K>)> {
        self.objects.iter().map(|(key, entry)| (key, &entry.object))
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The watch says that the object is so.
    pub(super) fn observed(&mut self, object: Arc<K>, out: &mut Vec<Step<K>>) {
        let key = Key::of(object.meta());
        // Listed is listed, even when a newer version or successor is known already.
        if let Some(seen) = &mut self.seen {
            seen.insert(key.clone());
        }
        if self.graves.keeps_from_watch(uid(object.meta()), resource_version(object.meta())) {
            return self.outlived(&key, object.meta(), out);
        }
        match self.shown(&key, object.meta()) {
            Relation::Older => {}
            Relation::Same => {
                if let Some(entry) = self.objects.get_mut(&key) {
                    (entry.unconfirmed, entry.superseded) = (None, false);
                }
            }
            Relation::Newer => self.put(&key, object, None, out),
            Relation::Successor => {
                self.remove(&key, Burial::Final, out);
                self.put(&key, object, None, out);
            }
        }
    }

    /// The answer to a write says that the object is so. Returns what readers will see of it.
    pub(super) fn written(&mut self, object: Arc<K>, now: Instant, out: &mut Vec<Step<K>>) -> Arc<K> {
        let key = Key::of(object.meta());
        if self.graves.holds(uid(object.meta())) {
            self.outlived(&key, object.meta(), out);
            return object;
        }
        match self.relation(&key, object.meta()) {
            Relation::Newer => self.put(&key, object.clone(), Some(now), out),
            Relation::Successor => {
                self.remove(&key, Burial::Final, out);
                self.put(&key, object.clone(), Some(now), out);
            }
            Relation::Older | Relation::Same => {
                let known = self.get(&key).filter(|known| uid(known.meta()) == uid(object.meta()));
                return known.cloned().unwrap_or(object);
            }
        }
        object
    }

    /// A write was refused because the object is otherwise by now. Where the watch does not show soon how, it never will: the server
    /// was set back to an earlier state.
    pub(super) fn doubted(&mut self, namespace: &str, name: &str, now: Instant) {
        if let Some(entry) = self.objects.get_mut(&Key::new(namespace, name)) {
            entry.unconfirmed.get_or_insert(now);
        }
    }

    /// The watch says that the object, last seen in this form, is deleted or matches the selector no longer.
    pub(super) fn deleted(&mut self, last: &ObjectMeta, out: &mut Vec<Step<K>>) {
        let key = Key::of(last);
        let how = Burial::At(resource_version(last).to_owned());
        match self.get(&key).map(|known| known.meta()) {
            Some(known) if uid(known) == uid(last) => {
                if version::compare(resource_version(last), resource_version(known)) != Some(Ordering::Less) {
                    self.remove(&key, how, out);
                }
            }
            _ => {
                self.graves.bury(uid(last), how);
                self.outlived(&key, last, out);
            }
        }
    }

    /// Our own delete removed the object at once.
    pub(super) fn gone(&mut self, key: &Key, gone: &str, out: &mut Vec<Step<K>>) {
        if self.get(key).is_some_and(|known| uid(known.meta()) == gone) {
            self.remove(key, Burial::Final, out);
        } else {
            self.graves.bury(gone, Burial::Final);
        }
    }

    /// The server was set back to an earlier state: what was deleted may be there again, under its UID.
    pub(super) fn rewound(&mut self) {
        self.graves = Graves::default();
        self.rewound = true;
    }

    /// A list starts, the first one or another one after the watch was lost.
    pub(super) fn relist_started(&mut self) {
        self.seen = Some(BTreeSet::new());
    }

    /// The list is complete: what it did not show is deleted, unless only a write of ours has shown it so far.
    ///
    /// Such an object may be newer than the list, or deleted before it. The caller must ask the server.
    /// Whether it was the first one of a state that the server was set back to, too.
    pub(super) fn relist_ended(&mut self, out: &mut Vec<Step<K>>) -> (Vec<Unconfirmed>, bool) {
        let Some(seen) = self.seen.take() else { return (Vec::new(), false) };
        let unlisted: Vec<Key> = self.objects.keys().filter(|key| !seen.contains(*key)).cloned().collect();
        let mut unconfirmed = Vec::new();
        for key in unlisted {
            match self.objects.get(&key).and_then(|entry| doubt(&key, entry)) {
                Some(doubt) => unconfirmed.push(doubt),
                None => self.remove(&key, Burial::Unlisted, out),
            }
        }
        (unconfirmed, mem::take(&mut self.rewound))
    }

    /// What writes have shown before `then` and the watch still has not.
    pub(super) fn unconfirmed_since(&self, then: Instant) -> Vec<Unconfirmed> {
        let doubts = self.objects.iter().filter_map(|(key, entry)| doubt(key, entry));
        doubts.filter(|it| it.since <= then).collect()
    }

    /// The server does not have `asked`. What has been written since is another question.
    pub(super) fn absent(&mut self, asked: &Unconfirmed, out: &mut Vec<Step<K>>) {
        let key = Key::new(&asked.namespace, &asked.name);
        if self.objects.get(&key).is_some_and(|entry| doubt(&key, entry).as_ref() == Some(asked)) {
            self.remove(&key, Burial::Unlisted, out);
        }
    }

    /// The server, which was asked after `asked` was written, has something else.
    pub(super) fn superseded(&mut self, asked: &Unconfirmed) {
        let key = Key::new(&asked.namespace, &asked.name);
        if let Some(entry) = self.objects.get_mut(&key) {
            entry.superseded = doubt(&key, entry).as_ref() == Some(asked);
        }
    }

    /// What an object that the server shows is to the known one.
    ///
    /// A list is newer than everything that the server showed before it, and so is the answer to a question. Where the
    /// version is lower nevertheless, the server was set back to an earlier state (etcd restored from a backup). It gives out
    /// versions a second time then: what has the same one need not be the same.
    fn shown(&self, key: &Key, incoming: &ObjectMeta) -> Relation {
        let relation = self.relation(key, incoming);
        let Some(entry) = self.objects.get(key) else { return relation };
        let is_newer = entry.superseded || (self.seen.is_some() && entry.unconfirmed.is_none());
        match relation {
            Relation::Older if is_newer && uid(entry.object.meta()) == uid(incoming) => Relation::Newer,
            Relation::Older if is_newer => Relation::Successor,
            Relation::Same if self.rewound => Relation::Newer,
            _ => relation,
        }
    }

    fn relation(&self, key: &Key, incoming: &ObjectMeta) -> Relation {
        let Some(known) = self.get(key) else { return Relation::Newer };
        let order = version::compare(resource_version(incoming), resource_version(known.meta()));
        let same_object = uid(known.meta()) == uid(incoming);
        // A name is free again only after its holder was deleted, so versions order namesakes, too.
        match order {
            Some(Ordering::Less) => Relation::Older,
            Some(Ordering::Equal) if same_object => Relation::Same,
            _ if same_object => Relation::Newer,
            _ => Relation::Successor,
        }
    }

    /// News of an object that is dead itself still proves the death of whoever had its name before.
    fn outlived(&mut self, key: &Key, dead: &ObjectMeta, out: &mut Vec<Step<K>>) {
        if self.objects.contains_key(key) && matches!(self.relation(key, dead), Relation::Successor) {
            self.remove(key, Burial::Final, out);
        }
    }

    fn put(&mut self, key: &Key, object: Arc<K>, unconfirmed: Option<Instant>, out: &mut Vec<Step<K>>) {
        let entry = Entry { object: object.clone(), unconfirmed, superseded: false };
        let old = self.objects.insert(key.clone(), entry).map(|entry| entry.object);
        for index in &mut self.indexes {
            index.replace(key, old.as_deref(), Some(&object));
        }
        out.push((old, Some(object)));
    }

    fn remove(&mut self, key: &Key, how: Burial, out: &mut Vec<Step<K>>) {
        let Some(Entry { object, .. }) = self.objects.remove(key) else { return };
        for index in &mut self.indexes {
            index.replace(key, Some(&*object), None);
        }
        self.graves.bury(uid(object.meta()), how);
        out.push((Some(object), None));
    }
}

/// What an incoming object is to the known one of the same name.
enum Relation {
    Older,
    Same,
    Newer,
    Successor,
}

fn doubt<K: Resource>(key: &Key, entry: &Entry<K>) -> Option<Unconfirmed> {
    let (namespace, name) = key.parts();
    Some(Unconfirmed {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        uid: uid(entry.object.meta()).to_owned(),
        version: resource_version(entry.object.meta()).to_owned(),
        since: entry.unconfirmed?,
    })
}

fn uid(meta: &ObjectMeta) -> &str {
    meta.uid.as_deref().unwrap_or_default()
}

fn resource_version(meta: &ObjectMeta) -> &str {
    meta.resource_version.as_deref().unwrap_or_default()
}
