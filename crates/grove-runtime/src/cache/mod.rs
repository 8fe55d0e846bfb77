//! What is known of one kind: a cache that readers, indexes and listeners share, and that reads our own writes.
//!
//! Decides who may see what and when: every change reaches the objects and all indexes under one short lock, and the
//! listeners after it, outside of any lock, in the order of the changes. What the news means is the decision of `state`.

mod contact;
mod graves;
mod index;
mod key;
mod state;
#[cfg(test)]
mod tests;
mod undecodable;
mod version;

use std::collections::VecDeque;
use std::fmt::{self, Debug};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use parking_lot::{Mutex, RwLock};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::informer::History;
use crate::metrics::{InformerMetrics, KindMetrics};
use contact::Contact;
use index::IndexMap;
use key::Key;
use state::{State, Step};

pub(crate) use contact::ContactAges;
pub use index::Index;
pub use state::Unconfirmed;
pub use undecodable::Undecodable;
use undecodable::Undecodables;
pub(crate) use version::compare as compare_versions;

/// What a cache can hold: decodable and shareable objects.
pub trait Stored: Resource + DeserializeOwned + Clone + Debug + Send + Sync + 'static {}

impl<K> Stored for K where K: Resource + DeserializeOwned + Clone + Debug + Send + Sync + 'static {}

/// A kind that is known at compile time.
pub trait Cached: Stored + Resource<DynamicType = ()> {}

impl<K> Cached for K where K: Stored + Resource<DynamicType = ()> {}

/// One step in the life of one object, as the cache saw it.
///
/// `old` is absent when the object appeared, `new` when it went away. When an object is replaced by another one of the
/// same name, there are two steps.
#[derive(Debug)]
pub struct Change<'a, K> {
    /// What was known before.
    pub old: Option<&'a Arc<K>>,
    /// What is known now.
    pub new: Option<&'a Arc<K>>,
}

type Listener<K> = Arc<dyn Fn(&Change<'_, K>) + Send + Sync>;
type RewindListener = Arc<dyn Fn() + Send + Sync>;

/// What is known of one kind. Clones share the content.
pub struct Cache<K> {
    shared: Arc<Shared<K>>,
}

struct Shared<K> {
    state: RwLock<State<K>>,
    outbox: Mutex<Outbox<K>>,
    listeners: RwLock<Arc<Vec<Listener<K>>>>,
    rewind_listeners: RwLock<Arc<Vec<RewindListener>>>,
    undecodable: Undecodables,
    prune: OnceLock<fn(&mut K)>,
    history: OnceLock<History>,
    first_list: watch::Sender<FirstList>,
    contact: Arc<Contact>,
    kind: String,
    metrics: KindMetrics,
}

/// What became of the first list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstList {
    Awaited,
    /// The server does not let us list; it is asked again and again.
    Denied,
    Complete,
}

/// Changes that listeners have not heard of yet.
struct Outbox<K> {
    steps: VecDeque<Step<K>>,
    /// Somebody is calling listeners and will also deliver what is added meanwhile.
    delivering: bool,
}

impl<K: Cached> Cache<K> {
    /// An empty cache that is not synced.
    #[allow(clippy::new_without_default, reason = "an empty cache is a decision, not a default")]
    pub fn new() -> Self {
        Self::with_metrics(&InformerMetrics::default())
    }

    /// An empty cache that reports its size.
    pub fn with_metrics(metrics: &InformerMetrics) -> Self {
        Self::of_kind(&K::kind(&()), metrics)
    }
}

impl<K: Stored> Cache<K> {
    /// An empty cache of a kind that only its name tells apart from others of the same type.
    pub fn of_kind(kind: &str, metrics: &InformerMetrics) -> Self {
        let contact = Arc::<Contact>::default();
        metrics.ages.add(kind, &contact);
        let shared = Shared {
            state: RwLock::new(State::default()),
            outbox: Mutex::new(Outbox { steps: VecDeque::new(), delivering: false }),
            listeners: RwLock::default(),
            rewind_listeners: RwLock::default(),
            undecodable: Undecodables::default(),
            prune: OnceLock::new(),
            history: OnceLock::new(),
            first_list: watch::Sender::new(FirstList::Awaited),
            contact,
            kind: kind.to_owned(),
            metrics: metrics.of_kind(kind),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Adds an index: each object is found under the strings that `keys` returns for it.
    ///
    /// To be called before the informer runs. `keys` must depend on nothing but the object, and must not use the cache.
    pub fn index(&self, keys: impl Fn(&K) -> Vec<String> + Send + Sync + 'static) -> Index<K> {
        let mut state = self.shared.state.write();
        let mut map = IndexMap::new(Box::new(keys));
        for (key, object) in state.objects() {
            map.replace(key, None, Some(object));
        }
        state.indexes.push(map);
        Index::new(self.shared.clone(), state.indexes.len() - 1)
    }

    /// Calls `listener` after every change, when the cache and all its indexes show it.
    ///
    /// The changes of one object come in their order. A listener may use the cache.
    pub fn listen(&self, listener: impl Fn(&Change<'_, K>) + Send + Sync + 'static) {
        Arc::make_mut(&mut self.shared.listeners.write()).push(Arc::new(listener));
    }

    /// Calls `listener` when the cache shows the state that the server was set back to, as a restored backup of etcd does:
    /// after the list, and the changes that it brought. What was remembered of objects may be of another history.
    pub fn listen_rewound(&self, listener: impl Fn() + Send + Sync + 'static) {
        Arc::make_mut(&mut self.shared.rewind_listeners.write()).push(Arc::new(listener));
    }

    /// Follows the history that other caches of the same server follow: where one of them notices that it went back, all
    /// list again. To be called before the informer runs; the first call decides.
    pub fn share_history(&self, history: &History) {
        let _ = self.shared.history.set(history.clone());
    }

    /// The history that it follows.
    pub(crate) fn history(&self) -> History {
        self.shared.history.get_or_init(History::default).clone()
    }

    /// The object, if there is one. The namespace of cluster scoped objects is `""`.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.shared.state.read().find(namespace, name).cloned()
    }

    /// All objects, ordered by namespace and name.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.shared.state.read().objects().map(|(_, object)| object.clone()).collect()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.shared.state.read().len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes in the answer to a write of our own: readers see it before the watch brings it.
    ///
    /// Returns what readers see from now on, which is newer when the watch was faster.
    pub fn written(&self, mut object: K) -> Arc<K> {
        self.prune(&mut object);
        let object = Arc::new(object);
        self.change(|state, out| state.written(object, Instant::now(), out))
    }

    /// Our own delete removed this object at once (no finalizers, no grace period).
    pub fn gone(&self, namespace: &str, name: &str, uid: &str) {
        self.shared.undecodable.gone(namespace, name, uid);
        self.change(|state, out| state.gone(&Key::new(namespace, name), uid, out));
    }

    /// Whether the first list is complete.
    pub fn is_synced(&self) -> bool {
        *self.shared.first_list.borrow() == FirstList::Complete
    }

    /// Whether nothing is known because the server does not let us list.
    pub fn is_denied(&self) -> bool {
        *self.shared.first_list.borrow() == FirstList::Denied
    }

    /// Waits until the first list is complete.
    pub async fn synced(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.shared.first_list.subscribe().wait_for(|it| *it == FirstList::Complete).await;
    }

    /// Waits until the first list is complete, or the server has said that we may not list. For kinds that are good to know
    /// and not needed.
    pub async fn synced_or_denied(&self) {
        let _ = self.shared.first_list.subscribe().wait_for(|it| *it != FirstList::Awaited).await;
    }

    /// The server does not let us list. What was known before stays.
    pub fn list_denied(&self) {
        self.shared.first_list.send_if_modified(|it| {
            let is_new = *it == FirstList::Awaited;
            if is_new {
                *it = FirstList::Denied;
            }
            is_new
        });
    }

    /// Drops parts of every object before it is kept; the first call decides.
    pub fn prune_with(&self, prune: fn(&mut K)) {
        let _ = self.shared.prune.set(prune);
    }

    /// A write was refused because the object is otherwise by now: unless the watch shows how, the server is asked.
    pub fn doubted(&self, namespace: &str, name: &str) {
        self.shared.state.write().doubted(namespace, name, Instant::now());
    }

    /// The watch shows an object.
    pub fn observed(&self, mut object: K) {
        self.shared.undecodable.forget(object.meta());
        self.prune(&mut object);
        let object = Arc::new(object);
        self.change(|state, out| state.observed(object, out));
    }

    /// The watch shows that an object, last in this form, is deleted.
    pub fn deleted(&self, last: &K) {
        self.shared.undecodable.forget(last.meta());
        self.change(|state, out| state.deleted(last.meta(), out));
    }

    /// A list starts.
    pub fn relist_started(&self) {
        self.shared.undecodable.clear();
        self.shared.state.write().relist_started();
    }

    /// The list is complete. What is returned only our own writes have shown: the caller must ask the server.
    pub fn relist_ended(&self) -> Vec<Unconfirmed> {
        let (unconfirmed, was_rewound) = self.change(State::relist_ended);
        self.shared.first_list.send_replace(FirstList::Complete);
        if was_rewound {
            let listeners = self.shared.rewind_listeners.read().clone();
            listeners.iter().for_each(|it| it());
        }
        unconfirmed
    }

    /// What our own writes have shown, longer than `age` ago, and the watch still has not.
    pub fn unconfirmed(&self, age: Duration) -> Vec<Unconfirmed> {
        Instant::now()
            .checked_sub(age)
            .map(|then| self.shared.state.read().unconfirmed_since(then))
            .unwrap_or_default()
    }

    /// The server has something else than `asked` by now, whatever its version.
    pub fn superseded(&self, asked: &Unconfirmed) {
        self.shared.state.write().superseded(asked);
    }

    /// The server was set back to an earlier state, and a list starts that shows it: versions from before mean nothing.
    pub fn rewound(&self) {
        self.shared.state.write().rewound();
    }

    /// The server does not have this object.
    pub fn absent(&self, asked: &Unconfirmed) {
        self.change(|state, out| state.absent(asked, out));
    }

    /// The watch shows that an object is deleted of which nothing but its metadata can be understood.
    pub(crate) fn absent_at(&self, meta: &ObjectMeta) {
        self.shared.undecodable.forget(meta);
        self.change(|state, out| state.deleted(meta, out));
    }

    /// The watch shows an object of which nothing but its metadata can be understood: readers do not see it.
    pub(crate) fn undecodable_at(&self, meta: &ObjectMeta, error: &str) {
        self.change(|state, out| state.deleted(meta, out));
        self.shared.undecodable.observed(meta, error);
    }

    /// What is known of an object that exists and cannot be decoded.
    pub fn undecodable(&self, namespace: &str, name: &str) -> Option<Arc<Undecodable>> {
        self.shared.undecodable.get(namespace, name)
    }

    /// All objects that exist and cannot be decoded.
    pub fn list_undecodable(&self) -> Vec<Arc<Undecodable>> {
        self.shared.undecodable.list()
    }

    /// Calls `listener` each time that the watch shows an object that cannot be decoded.
    pub fn listen_undecodable(&self, listener: impl Fn(&Undecodable) + Send + Sync + 'static) {
        self.shared.undecodable.listen(listener);
    }

    /// What its objects are, for people.
    pub fn kind(&self) -> &str {
        &self.shared.kind
    }

    pub(crate) fn metrics(&self) -> &KindMetrics {
        &self.shared.metrics
    }

    fn prune(&self, object: &mut K) {
        if let Some(prune) = self.shared.prune.get() {
            prune(object);
        }
    }

    /// Changes the state and tells the listeners.
    fn change<R>(&self, change: impl FnOnce(&mut State<K>, &mut Vec<Step<K>>) -> R) -> R {
        let mut steps = Vec::new();
        let mut state = self.shared.state.write();
        let result = change(&mut state, &mut steps);
        if steps.is_empty() {
            return result;
        }
        self.shared.metrics.objects(state.len());
        // Queued under the state's lock, so that the order of the steps is that of the changes.
        self.shared.outbox.lock().steps.extend(steps);
        drop(state);
        self.deliver();
        result
    }

    /// Tells listeners what is in the outbox, unless somebody else is doing so: one at a time keeps the order.
    fn deliver(&self) {
        let mut turn = Turn { outbox: &self.shared.outbox, mine: false };
        while let Some((old, new)) = turn.next() {
            // A listener may add listeners, so the list is not locked during the calls.
            let listeners = self.shared.listeners.read().clone();
            let change = Change { old: old.as_ref(), new: new.as_ref() };
            for listener in listeners.iter() {
                listener(&change);
            }
        }
    }
}

/// The right to call listeners. Given back even when one of them panics.
struct Turn<'a, K> {
    outbox: &'a Mutex<Outbox<K>>,
    mine: bool,
}

impl<K> Turn<'_, K> {
    /// The next step to tell; nothing when there is none or when it is somebody else's turn.
    fn next(&mut self) -> Option<Step<K>> {
        let mut outbox = self.outbox.lock();
        if outbox.delivering && !self.mine {
            return None;
        }
        let step = outbox.steps.pop_front();
        // Given back in the same moment as nothing was found: what comes later finds nobody delivering.
        self.mine = step.is_some();
        outbox.delivering = self.mine;
        step
    }
}

impl<K> Drop for Turn<'_, K> {
    fn drop(&mut self) {
        if self.mine {
            self.outbox.lock().delivering = false;
        }
    }
}

// Not derived: that would ask `K: Clone` for a handle.
impl<K> Clone for Cache<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<K> fmt::Debug for Cache<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("kind", &self.shared.kind).finish_non_exhaustive()
    }
}
