//! What schedulers say of pods they cannot place: their events.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{StreamExt, pin_mut};
use k8s_openapi::{api::core::v1::Event, jiff::Timestamp};
use kube::{
    Api, Client,
    runtime::{WatchStreamExt, watcher},
};
use tokio::sync::watch;

/// The newest refusal of each object, by namespace and name.
#[derive(Clone)]
pub(super) struct Words {
    newest: Arc<Mutex<BTreeMap<(String, String), Timestamp>>>,
    changed: watch::Receiver<usize>,
}

/// Reasons of events by which schedulers refuse: the stock scheduler's, KAI's, Volcano's.
const REFUSALS: [&str; 4] = ["FailedScheduling", "Unschedulable", "NotEnoughResources", "NotReady"];

impl Words {
    /// Watches all events from now on.
    pub(super) fn open(client: Client) -> Self {
        let newest: Arc<Mutex<BTreeMap<(String, String), Timestamp>>> = Arc::default();
        let (notify, changed) = watch::channel(0);
        let writer = Arc::clone(&newest);
        tokio::spawn(async move {
            let events =
                watcher::watcher(Api::<Event>::all(client), watcher::Config::default()).default_backoff();
            let events = events.applied_objects();
            pin_mut!(events);
            while let Some(event) = events.next().await {
                let Ok(event) = event else { continue };
                if !event.reason.as_deref().is_some_and(|it| REFUSALS.contains(&it)) {
                    continue;
                }
                let Some(time) = said_at(&event) else { continue };
                let object = event.involved_object;
                let key = (object.namespace.unwrap_or_default(), object.name.unwrap_or_default());
                let mut newest = writer.lock().unwrap_or_else(PoisonError::into_inner);
                let entry = newest.entry(key).or_insert(time);
                *entry = time.max(*entry);
                drop(newest);
                notify.send_modify(|count| *count += 1);
            }
        });
        Self { newest, changed }
    }

    /// Waits until a refusal of an object whose name begins with `prefix` is newer than `since`; `false` if the
    /// scheduler says nothing more.
    pub(super) async fn after(
        &self,
        namespace: &str,
        prefix: &str,
        since: Timestamp,
        patience: Duration,
    ) -> bool {
        let mut changed = self.changed.clone();
        let waiting = async {
            loop {
                let newer = {
                    let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
                    let of_ours = newest
                        .iter()
                        .filter(|((space, name), _)| space == namespace && name.starts_with(prefix));
                    of_ours.map(|(_, time)| *time).any(|time| time > since)
                };
                if newer || changed.changed().await.is_err() {
                    return newer;
                }
            }
        };
        tokio::time::timeout(patience, waiting).await.unwrap_or(false)
    }
}

/// When the event was said last. Events of the older API have whole seconds, which are rounded down: such a word
/// counts only from the next second on, so that an old one is never taken for a new one.
fn said_at(event: &Event) -> Option<Timestamp> {
    let series = event.series.as_ref().and_then(|it| it.last_observed_time.as_ref());
    series
        .or(event.event_time.as_ref())
        .map(|it| it.0)
        .or_else(|| event.last_timestamp.as_ref().map(|it| it.0))
}
