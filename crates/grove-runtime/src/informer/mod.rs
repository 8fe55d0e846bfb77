//! Keeps a [`Cache`] equal to the server: one list and watch per kind, for the whole process.
//!
//! Decides what each event of kube's `watcher` means, what to do about objects that cannot be decoded, and when to ask
//! the server about objects that only our own writes have shown. Never ends by itself, whatever the server answers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use kube::api::ListParams;
use kube::core::error_boundary::InvalidObject;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use crate::cache::{Cache, Cached, Stored, Unconfirmed};
use crate::guarded::Guarded;
use crate::jitter::spread;

/// How long the watch may take to show what we wrote before the server is asked.
///
/// Far beyond the delay of a healthy watch, so that nothing is asked at steady state.
const DOUBT_AFTER: Duration = Duration::from_secs(30);

/// Pauses between lists when the server refuses to continue any watch: the first one and the longest.
const PAUSE: Duration = Duration::from_millis(400);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How many objects are asked for at a time, so that doubts never become a burst.
const QUESTIONS: usize = 32;

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
struct Informer<W, K> {
    api: Api<W>,
    config: watcher::Config,
    cache: Cache<K>,
    open: fn(W) -> Result<K, Box<InvalidObject>>,
    /// Version at which each undecodable object was logged last.
    logged: BTreeMap<(String, String), String>,
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
        Self { api, config, cache, open, logged: BTreeMap::new() }
    }

    async fn run(mut self) {
        let mut pause = PAUSE;
        loop {
            let started = Instant::now();
            // A listener that panics must not end the informer: everybody would read an old cache for ever after.
            if AssertUnwindSafe(self.watch()).catch_unwind().await.is_err() {
                error!(kind = self.cache.kind(), "a listener panicked, listing again");
            }
            // A watch that lived was no failure of the one before it.
            pause = if started.elapsed() > LONGEST_PAUSE { PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            debug!(kind = self.cache.kind(), ?pause, "listing again");
            sleep(spread(pause, 0.5)).await;
        }
    }

    /// Follows one watcher until it cannot recover by itself.
    async fn watch(&mut self) {
        let mut events = pin!(watch(self.api.clone(), self.config.clone()).default_backoff());
        let mut doubts = interval_at(Instant::now() + DOUBT_AFTER, DOUBT_AFTER);
        doubts.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // In a fixed order, so that a simulation can be repeated: the rare one first, which no flood of events holds up.
            tokio::select! {
                biased;
                _ = doubts.tick() => {
                    let unconfirmed = self.cache.unconfirmed(DOUBT_AFTER);
                    self.ask(&unconfirmed).await;
                }
                event = events.next() => match event {
                    Some(Ok(event)) => self.take(event).await,
                    Some(Err(error)) => {
                        self.cache.metrics().restarted();
                        warn!(kind = self.cache.kind(), %error, "watch failed, will be retried");
                        if is_denied(&error) {
                            self.cache.list_denied();
                        }
                        if is_stuck(&error) {
                            return;
                        }
                    }
                    None => return,
                },
            }
        }
    }

    async fn take(&mut self, event: Event<W>) {
        match event {
            Event::Init => self.cache.relist_started(),
            Event::InitApply(object) | Event::Apply(object) => self.show(object),
            Event::Delete(object) => match (self.open)(object) {
                Ok(object) => self.cache.deleted(&object),
                Err(invalid) => {
                    self.logged.remove(&place(&invalid));
                    self.cache.absent_at(&invalid.metadata);
                }
            },
            Event::InitDone => {
                let unconfirmed = self.cache.relist_ended();
                self.ask(&unconfirmed).await;
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
        if self.logged.insert((namespace.clone(), name.clone()), version.clone()) != Some(version) {
            let error = &invalid.error;
            warn!(
                kind = self.cache.kind(),
                namespace, name, error, "object cannot be decoded and is ignored"
            );
        }
        self.cache.undecodable_at(&invalid.metadata, &invalid.error);
    }

    /// Asks the server about objects that only our own writes have shown.
    async fn ask(&mut self, unconfirmed: &[Unconfirmed]) {
        for asked in unconfirmed.iter().take(QUESTIONS) {
            // A list with the watch's own selectors, because an object that does not match them is absent, too.
            let params = ListParams {
                label_selector: self.config.label_selector.clone(),
                field_selector: Some(field_selector(self.config.field_selector.as_deref(), asked)),
                ..ListParams::default()
            };
            match self.api.list(&params).await {
                Ok(found) if found.items.is_empty() => self.cache.absent(asked),
                Ok(found) => found.items.into_iter().for_each(|object| self.show(object)),
                // The rest is asked with the next round of doubts: the watch must not wait for a failing server.
                Err(error) => {
                    debug!(kind = self.cache.kind(), %error, "could not confirm an object");
                    return;
                }
            }
        }
    }
}

/// Whether the server does not let us list.
fn is_denied(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::InitialListFailed(kube::Error::Api(status)) if status.code == 403)
}

/// kube's watcher repeats a watch at a version that the server refuses with HTTP 410 for ever; only a new one lists.
fn is_stuck(error: &watcher::Error) -> bool {
    let (watcher::Error::WatchStartFailed(error) | watcher::Error::WatchFailed(error)) = error else {
        return false;
    };
    matches!(error, kube::Error::Api(status) if status.code == 410)
}

fn field_selector(own: Option<&str>, object: &Unconfirmed) -> String {
    let mut terms: Vec<String> = own.into_iter().map(str::to_owned).collect();
    terms.push(format!("metadata.name={}", object.name));
    if !object.namespace.is_empty() {
        terms.push(format!("metadata.namespace={}", object.namespace));
    }
    terms.join(",")
}

fn place(invalid: &InvalidObject) -> (String, String) {
    let meta = &invalid.metadata;
    (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests;
