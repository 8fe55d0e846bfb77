//! Everything that happened to objects of a kind, in order: scenarios wait on it, and prove with it that something did not
//! happen.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use futures::{StreamExt, pin_mut};
use kube::{
    Api, Client, Resource, ResourceExt,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event},
    },
};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

/// What scenarios need to know of an object.
pub trait Watched: Clone + Debug + PartialEq + Send + 'static {
    /// The object.
    type Object: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static;

    /// Takes it from the object.
    fn of(object: &Self::Object) -> Self;

    /// Objects in one line each.
    fn summary(all: &[Self]) -> String;
}

/// One change; `after` is `None` where the object is gone.
#[derive(Clone, Debug)]
pub(crate) struct Change<S> {
    pub(crate) at: Duration,
    /// Its resourceVersion. All kinds count in one store, so that changes of different kinds can be compared.
    pub(crate) version: u64,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) uid: String,
    pub(crate) after: Option<S>,
}

type Key = (String, String);

struct History<S> {
    now: BTreeMap<Key, (String, S)>,
    changes: Vec<Change<S>>,
    /// Keys of a list that is being read.
    listed: BTreeSet<Key>,
    started: Instant,
}

impl<S: Watched> History<S> {
    fn take(&mut self, event: Event<S::Object>) {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => {
                self.listed.insert(key(&object));
                self.applied(&object);
            }
            Event::InitDone => {
                // What a watch that broke did not tell.
                let listed = std::mem::take(&mut self.listed);
                let gone: Vec<Key> = self.now.keys().filter(|it| !listed.contains(*it)).cloned().collect();
                for key in gone {
                    self.gone(key, 0);
                }
            }
            Event::Apply(object) => self.applied(&object),
            Event::Delete(object) => self.gone(key(&object), version(&object)),
        }
    }

    fn applied(&mut self, object: &S::Object) {
        let (key, uid, state) = (key(object), object.uid().unwrap_or_default(), S::of(object));
        let now = (uid.clone(), state.clone());
        if self.now.get(&key) != Some(&now) {
            self.changes.push(Change {
                at: self.started.elapsed(),
                version: version(object),
                namespace: key.0.clone(),
                name: key.1.clone(),
                uid,
                after: Some(state),
            });
            self.now.insert(key, now);
        }
    }

    fn gone(&mut self, key: Key, version: u64) {
        let uid = self.now.remove(&key).map(|it| it.0).unwrap_or_default();
        let (namespace, name) = key;
        self.changes.push(Change { at: self.started.elapsed(), version, name, namespace, uid, after: None });
    }
}

fn key<K: Resource>(object: &K) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

fn version<K: Resource>(object: &K) -> u64 {
    object.resource_version().and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// The history of all objects of a kind since the log was opened.
pub struct WatchLog<S> {
    history: Arc<Mutex<History<S>>>,
    changed: watch::Receiver<usize>,
    task: tokio::task::JoinHandle<()>,
}

impl<S> Drop for WatchLog<S> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<S: Watched> WatchLog<S> {
    /// Watches all objects of the kind from now on.
    pub async fn open(client: Client) -> Self {
        let history = History {
            now: BTreeMap::new(),
            changes: Vec::new(),
            listed: BTreeSet::new(),
            started: Instant::now(),
        };
        let history = Arc::new(Mutex::new(history));
        let (notify, mut changed) = watch::channel(0);
        let writer = Arc::clone(&history);
        let task = tokio::spawn(async move {
            let events =
                watcher::watcher(Api::<S::Object>::all(client), watcher::Config::default()).default_backoff();
            pin_mut!(events);
            // A watch that fails is tried again; a gap shows as a jump of states, never as a wrong one.
            while let Some(event) = events.next().await {
                let Ok(event) = event else { continue };
                writer.lock().unwrap_or_else(PoisonError::into_inner).take(event);
                notify.send_modify(|count| *count += 1);
            }
        });
        // The first events say that the watch stands.
        let _ = changed.changed().await;
        Self { history, changed, task }
    }

    fn history(&self) -> MutexGuard<'_, History<S>> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The objects of a namespace as they are now.
    pub fn now(&self, namespace: &str) -> Vec<S> {
        let history = self.history();
        history.now.iter().filter(|(key, _)| key.0 == namespace).map(|(_, it)| it.1.clone()).collect()
    }

    /// A place in the history, to look back to.
    pub fn mark(&self) -> usize {
        self.history().changes.len()
    }

    /// What happened in a namespace since `mark`.
    pub(crate) fn since(&self, mark: usize, namespace: &str) -> Vec<Change<S>> {
        self.history().changes[mark..].iter().filter(|it| it.namespace == namespace).cloned().collect()
    }

    /// Waits until the objects of a namespace are as `wanted` says.
    pub async fn until(
        &self,
        namespace: &str,
        what: &str,
        deadline: Duration,
        wanted: impl Fn(&[S]) -> bool,
    ) -> Result<Vec<S>> {
        let ask = || Some(self.now(namespace)).filter(|now| wanted(now));
        match tokio::time::timeout(deadline, self.asking(ask)).await {
            Ok(now) => Ok(now),
            Err(_) => {
                bail!("not within {deadline:?}: {what}; there is: {}", S::summary(&self.now(namespace)))
            }
        }
    }

    /// Waits until so many objects of a namespace are as `wanted` says; for thousands of objects.
    pub async fn until_count(
        &self,
        namespace: &str,
        what: &str,
        deadline: Duration,
        count: usize,
        wanted: impl Fn(&S) -> bool,
    ) -> Result<()> {
        let counted = || {
            let history = self.history();
            history.now.iter().filter(|(key, it)| key.0 == namespace && wanted(&it.1)).count()
        };
        let ask = || (counted() == count).then_some(());
        match tokio::time::timeout(deadline, self.asking(ask)).await {
            Ok(()) => Ok(()),
            Err(_) => bail!("not within {deadline:?}: {what}: {} of {count}", counted()),
        }
    }

    /// Asks whenever something has changed.
    async fn asking<T>(&self, ask: impl Fn() -> Option<T>) -> T {
        let mut changed = self.changed.clone();
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            if changed.changed().await.is_err() {
                // The watcher never ends by itself.
                futures::future::pending::<()>().await;
            }
            // Changes come in bursts.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
