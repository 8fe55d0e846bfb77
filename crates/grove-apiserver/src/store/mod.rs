//! Where objects are: in memory, by key, with one revision counter and one ring of events for all kinds.
//!
//! The store knows nothing of the API: it takes what [`crate::write`] gives it, numbers it and remembers it. Every
//! stored change is exactly one revision and exactly one event, which is what makes watches positions in a ring.

mod index;
mod log;
mod restore;
mod ring;
mod signal;
mod transaction;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;

use crate::definitions;
use crate::object::Object;
use crate::random::Random;
use index::Index;
pub use log::WriteRecord;
use ring::Ring;
pub use ring::{Event, Expired};
pub(crate) use signal::Receiver;
pub(crate) use transaction::{Transaction, time};

/// The name of an object among all objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The id of the resource, such as `podcliques.grove.io`.
    pub resource: Arc<str>,
    /// The namespace; empty for objects of the whole cluster.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Key {
    /// The key of an object; `resource` is an id such as `podcliques.grove.io`.
    pub fn new(resource: impl Into<Arc<str>>, namespace: &str, name: &str) -> Self {
        Self { resource: resource.into(), namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// All objects, and what happened to them.
pub struct Store {
    state: Mutex<State>,
    signal: signal::Sender,
    clock: Clock,
    definition_changes: Arc<AtomicU64>,
}

pub(crate) struct State {
    revision: u64,
    objects: BTreeMap<Key, Arc<Object>>,
    index: Index,
    ring: Ring,
    log: log::Log,
    dry_runs: log::Log,
    random: Random,
    /// Whether watches from revisions that are yet to come are refused, instead of waiting for them.
    refuses_future: bool,
    /// How often a backup was restored.
    restores: u64,
    /// How often a CustomResourceDefinition was written. Shared, so that it can be read without the lock.
    definition_changes: Arc<AtomicU64>,
}

impl Store {
    pub(crate) fn new(clock: Clock, seed: u64, capacity: usize) -> Self {
        let definition_changes = Arc::new(AtomicU64::new(0));
        let state = State {
            // Real servers never give out version 0, which means "any" in requests.
            revision: 1,
            objects: BTreeMap::new(),
            index: Index::default(),
            ring: Ring::new(capacity, 1),
            log: log::Log::new(capacity),
            dry_runs: log::Log::new(capacity),
            random: Random::new(seed),
            refuses_future: false,
            restores: 0,
            definition_changes: Arc::clone(&definition_changes),
        };
        let signal = signal::Sender::default();
        signal.modify(|it| it.revision = 1);
        Self { state: Mutex::new(state), signal, clock, definition_changes }
    }

    /// The current revision.
    pub fn revision(&self) -> u64 {
        self.state.lock().revision
    }

    /// The time, as this store has it.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// How often a backup was restored: revisions of before mean nothing after it.
    pub(crate) fn restores(&self) -> u64 {
        self.state.lock().restores
    }

    /// One object; `resource` is an id such as `podcliques.grove.io`.
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Object>> {
        self.read(&Key::new(resource, namespace, name))
    }

    /// One object by its key.
    pub fn read(&self, key: &Key) -> Option<Arc<Object>> {
        self.state.lock().objects.get(key).cloned()
    }

    /// Every object, in the order of keys.
    pub fn objects(&self) -> Vec<(Key, Arc<Object>)> {
        self.state.lock().objects.iter().map(|(key, object)| (key.clone(), Arc::clone(object))).collect()
    }

    /// The objects of a resource, of one namespace or of all, in the order of keys.
    pub fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let state = self.state.lock();
        state.range(resource, namespace).map(|(_, object)| Arc::clone(object)).collect()
    }

    /// The object of a uid.
    pub fn by_uid(&self, uid: &str) -> Option<Key> {
        self.state.lock().index.by_uid(uid)
    }

    /// The objects that name a uid as their owner.
    pub fn dependents(&self, uid: &str) -> Vec<Key> {
        self.state.lock().index.dependents(uid)
    }

    /// The objects in a namespace, whatever their kind.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Key> {
        self.state.lock().index.in_namespace(namespace)
    }

    /// All that happened after a revision.
    pub fn events_since(&self, revision: u64) -> Result<Vec<Arc<Event>>, Expired> {
        let state = self.state.lock();
        state.ring.since(revision).map(|events| events.cloned().collect())
    }

    /// The writes that were asked for, the oldest first; as many as the ring has room for.
    pub fn writes(&self) -> Vec<WriteRecord> {
        self.state.lock().log.iter().cloned().collect()
    }

    /// The writes that were asked for after the first `count`, the oldest first.
    pub fn writes_since(&self, count: u64) -> Vec<WriteRecord> {
        self.state.lock().log.since(count).cloned().collect()
    }

    /// The dry runs that were asked for, the oldest first. They are no writes, and not among those.
    pub fn dry_runs(&self) -> Vec<WriteRecord> {
        self.state.lock().dry_runs.iter().cloned().collect()
    }

    /// How often CustomResourceDefinitions were written, or may have been.
    pub(crate) fn definition_changes(&self) -> u64 {
        self.definition_changes.load(Ordering::Acquire)
    }

    /// Waits until there is a later revision than this one.
    pub async fn changed_since(&self, revision: u64) {
        self.subscribe().wait_for(|it| it.revision > revision).await;
    }

    /// How many writes were asked for in all, also those that [`Store::writes`] has forgotten.
    pub fn write_count(&self) -> u64 {
        self.state.lock().log.total()
    }

    /// Forgets all events, so that every revision but the current one is too old.
    pub(crate) fn compact(&self) {
        let mut state = self.state.lock();
        let revision = state.revision;
        state.ring.compact(revision);
    }

    /// Ends all open watches.
    pub(crate) fn cut(&self) {
        self.signal.modify(|it| it.cuts += 1);
    }

    pub(crate) fn subscribe(&self) -> Receiver {
        self.signal.subscribe()
    }

    /// Reads several things of one moment.
    pub(crate) fn view<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.lock())
    }

    /// Runs `write` alone. It must not fail after its first change, because nothing is taken back.
    pub(crate) fn transact<T>(&self, dry_run: bool, write: impl FnOnce(&mut Transaction<'_>) -> T) -> T {
        let now = (self.clock)();
        let mut state = self.state.lock();
        let before = state.revision;
        let out = write(&mut Transaction::new(&mut state, now, dry_run));
        let after = state.revision;
        if after != before {
            // Still under the lock, so that the signal never goes back.
            self.signal.modify(|it| it.revision = after);
        }
        out
    }
}

impl State {
    /// An object was changed. Those who look at definitions look again where it is one.
    fn note_definitions(&self, key: &Key) {
        if &*key.resource == definitions::RESOURCE {
            self.definition_changes.fetch_add(1, Ordering::Release);
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The events after a revision, for a watch that is there.
    pub(crate) fn follow(
        &self,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &Arc<Event>>, Expired> {
        if self.refuses_future && revision > self.revision {
            return Err(Expired { wanted: revision, oldest: self.revision });
        }
        self.ring.since(revision)
    }

    /// The objects of a resource, of one namespace or of all.
    pub(crate) fn range(
        &self,
        resource: &str,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = (&Key, &Arc<Object>)> {
        let start = Key::new(resource, namespace.unwrap_or_default(), "");
        let (resource, namespace) = (Arc::clone(&start.resource), namespace.map(str::to_owned));
        let is_in = move |key: &Key| {
            key.resource == resource && namespace.as_ref().is_none_or(|namespace| key.namespace == *namespace)
        };
        self.objects.range((Bound::Included(start), Bound::Unbounded)).take_while(move |(key, _)| is_in(key))
    }

    /// The objects of a resource as they were at a revision: what there is now, with the events since undone.
    pub(crate) fn at(
        &self,
        revision: u64,
        resource: &str,
        namespace: Option<&str>,
    ) -> Result<BTreeMap<Key, Arc<Object>>, Expired> {
        let mut objects: BTreeMap<Key, Arc<Object>> =
            self.range(resource, namespace).map(|(key, object)| (key.clone(), Arc::clone(object))).collect();
        let is_in = |key: &Key| &*key.resource == resource && namespace.is_none_or(|it| it == key.namespace);
        for event in self.ring.since(revision)?.rev().filter(|it| is_in(&it.key)) {
            match &event.old {
                Some(old) => objects.insert(event.key.clone(), Arc::clone(old)),
                None => objects.remove(&event.key),
            };
        }
        Ok(objects)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.lock();
        let (revision, objects) = (state.revision, state.objects.len());
        f.debug_struct("Store")
            .field("revision", &revision)
            .field("objects", &objects)
            .finish_non_exhaustive()
    }
}
