//! Keeps a [`Cache`] equal to the server: one list and watch per kind, for the whole process.
//!
//! Decides what each event of kube's `watcher` means, what to do about objects that cannot be decoded, and when to ask
//! the server about objects that only our own writes have shown. Never ends by itself, whatever the server answers.

mod backoff;
mod decode_error;
mod history;
mod list_watch;
mod questions;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use kube::core::error_boundary::InvalidObject;
use kube::runtime::watcher;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use crate::cache::{Cache, Cached, Stored};
use crate::guarded::Guarded;
use backoff::Backoff;
use decode_error::without_values;
pub use history::History;
use list_watch::{ListWatchError, Signal, list_watch};
use questions::{Answer, Questions};

/// How long the watch may take to show what we wrote before the server is asked.
///
/// Far beyond the delay of a healthy watch, so that nothing is asked at steady state.
const DOUBT_AFTER: Duration = Duration::from_secs(30);

/// Fills `cache` from `api` until `stop` is cancelled.
///
/// `prune` drops what nobody reads (managed fields, for example) from each object before it is kept.
pub async fn inform<K: Stored>(
    api: Api<K>,
    config: watcher::Config,
    cache: Cache<K>,
    prune: fn(&mut K),
    stop: CancellationToken,
) {
    cache.prune_with(prune);
    stop.run_until_cancelled(Informer::new(api, config, cache, Ok).run()).await;
}

/// Like [`inform`], but an object that cannot be decoded is logged and absent instead of stopping everything.
pub async fn inform_guarded<K: Cached>(
    api: Api<K>,
    config: watcher::Config,
    cache: Cache<K>,
    prune: fn(&mut K),
    stop: CancellationToken,
) {
    cache.prune_with(prune);
    let guarded: Api<Guarded<K>> = Guarded::api(api);
    stop.run_until_cancelled(Informer::new(guarded, config, cache, Guarded::open).run()).await;
}

/// A kind as it is asked for: `W` is what the server's answers decode to, `K` what the cache holds.
struct Informer<W, K: Stored> {
    api: Api<W>,
    config: watcher::Config,
    cache: Cache<K>,
    open: fn(W) -> Result<K, Box<InvalidObject>>,
    /// Version at which each undecodable object was logged last.
    logged: BTreeMap<(String, String), String>,
    /// When it was last told that the server was set back to an earlier state.
    rewound: Option<Instant>,
}

impl<W, K> Informer<W, K>
where
    W: Resource + DeserializeOwned + Clone + Debug + Send + 'static,
    K: Stored,
{
    fn new(
        api: Api<W>,
        config: watcher::Config,
        cache: Cache<K>,
        open: fn(W) -> Result<K, Box<InvalidObject>>,
    ) -> Self {
        Self { api, config, cache, open, logged: BTreeMap::new(), rewound: None }
    }

    async fn run(mut self) {
        let mut backoff = Backoff::new();
        loop {
            // A listener that panics must not end the informer: everybody would read an old cache for ever after.
            if AssertUnwindSafe(self.watch()).catch_unwind().await.is_err() {
                error!(kind = self.cache.kind(), "a listener panicked, listing again");
            }
            backoff.pause().await;
        }
    }

    /// Follows lists and watches; ends only where a listener panics.
    async fn watch(&mut self) {
        let mut signals = pin!(list_watch(self.api.clone(), self.config.clone(), self.cache.history()));
        let mut questions = Questions::new(self.api.clone(), self.config.clone());
        let mut doubts = interval_at(Instant::now() + DOUBT_AFTER, DOUBT_AFTER);
        doubts.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // In a fixed order, so that a simulation can be repeated: the rare ones first, which no flood of events holds up.
            tokio::select! {
                biased;
                _ = doubts.tick() => questions.ask(self.cache.unconfirmed(DOUBT_AFTER)),
                answer = questions.answer() => self.answered(answer, &mut questions),
                signal = signals.next() => match signal {
                    Some(Ok(signal)) => self.take(signal, &mut questions),
                    Some(Err(error)) => self.failed(&error),
                    None => return,
                },
            }
        }
    }

    fn take(&mut self, signal: Signal<W>, questions: &mut Questions<W>) {
        self.cache.contacted();
        match signal {
            Signal::ListStarted { rewound } => {
                questions.drop_all();
                if rewound {
                    warn!(kind = self.cache.kind(), "the server was set back to an earlier state");
                    self.cache.rewound();
                    self.rewound = Some(Instant::now());
                }
                self.cache.relist_started();
            }
            Signal::Listed(object) | Signal::Applied(object) => self.show(object),
            Signal::Deleted(object) => match (self.open)(object) {
                Ok(object) => self.cache.deleted(&object),
                Err(invalid) => {
                    self.logged.remove(&place(&invalid));
                    self.cache.absent_at(&invalid.metadata);
                }
            },
            Signal::ListEnded => questions.ask(self.cache.relist_ended()),
            Signal::Bookmark => {}
        }
    }

    fn failed(&self, error: &ListWatchError) {
        self.cache.metrics().restarted();
        warn!(kind = self.cache.kind(), error = error.without_values(), "watch failed, will be retried");
        if error.is_denied() {
            self.cache.list_denied();
        }
    }

    /// Takes in what the server has where only our own writes have shown an object.
    fn answered(&mut self, (asked, answer): Answer<W>, questions: &mut Questions<W>) {
        match answer {
            Ok(found) if found.is_empty() => self.cache.absent(&asked),
            Ok(found) => {
                // The answer is newer than the write, also where it has a lower version.
                self.cache.superseded(&asked);
                let is_news = self.rewound.is_none_or(|it| it < asked.since);
                let is_before = |it: &W| asked.is_newer_than(it.meta());
                if is_news && found.iter().any(is_before) {
                    // No watch can tell where the server has passed what it knew: all kinds list again.
                    let history = self.cache.history();
                    history.went_back(history.epoch());
                }
                for object in found {
                    self.show(object);
                }
            }
            // The rest is asked with the next round of doubts, so that a failing server is not pressed.
            Err(error) => {
                let error = ListWatchError::List(error).without_values();
                debug!(kind = self.cache.kind(), error, "could not confirm an object");
                questions.drop_all();
            }
        }
    }

    fn show(&mut self, object: W) {
        match (self.open)(object) {
            Ok(object) => {
                if !self.logged.is_empty() {
                    let meta = object.meta();
                    let place = (meta.namespace.clone(), meta.name.clone());
                    self.logged.remove(&(place.0.unwrap_or_default(), place.1.unwrap_or_default()));
                }
                self.cache.observed(object);
            }
            Err(invalid) => self.refuse(&invalid),
        }
    }

    /// Treats an object that cannot be decoded as absent, and says so once per version.
    fn refuse(&mut self, invalid: &InvalidObject) {
        let version = invalid.metadata.resource_version.clone().unwrap_or_default();
        let (namespace, name) = place(invalid);
        let error = without_values(&invalid.error);
        if self.logged.insert((namespace.clone(), name.clone()), version.clone()) != Some(version) {
            warn!(
                kind = self.cache.kind(),
                namespace, name, error, "object cannot be decoded and is ignored"
            );
        }
        self.cache.undecodable_at(&invalid.metadata, &error);
    }
}

/// What is known no longer follows the server.
impl<W, K: Stored> Drop for Informer<W, K> {
    fn drop(&mut self) {
        self.cache.contact_ended();
    }
}

fn place(invalid: &InvalidObject) -> (String, String) {
    let meta = &invalid.metadata;
    (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests;
