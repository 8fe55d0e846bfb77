//! Events of kubelets and controllers, as core/v1 has them, off the path of the work.
//!
//! One that was recorded lately is counted up instead of being created again. Where more come than can be written, they are dropped:
//! Events are for people, and nothing waits for them.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use grove_runtime::{WriteError, Writer};
use k8s_openapi::{
    api::core::v1::{Event, ObjectReference},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};
use kube::{Client, Resource};
use serde_json::json;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::clock::Clock;

/// Events that may wait.
const WAITING: usize = 20_000;
/// Events that are remembered in order to count them up.
const REMEMBERED: usize = 8_192;
/// Longest message, in bytes.
const LONGEST: usize = 1_024;
/// Room for the name of an object in the name of its Event.
const LONGEST_NAME: usize = 220;

/// What happened to what.
#[derive(Clone, Debug)]
pub(crate) struct NewEvent {
    pub(crate) about: ObjectReference,
    pub(crate) component: &'static str,
    pub(crate) host: Option<String>,
    pub(crate) is_warning: bool,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

/// Records Events. Clones share what waits.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    sender: mpsc::Sender<NewEvent>,
    waiting: Arc<Mutex<mpsc::Receiver<NewEvent>>>,
    clock: Clock,
}

impl Recorder {
    pub(crate) fn new(clock: Clock) -> Self {
        let (sender, waiting) = mpsc::channel(WAITING);
        Self { sender, waiting: Arc::new(Mutex::new(waiting)), clock }
    }

    /// Returns at once.
    pub(crate) fn record(&self, event: NewEvent) {
        if self.sender.try_send(event).is_err() {
            debug!("too many events, one was dropped");
        }
    }

    /// Writes what is recorded until `stop`.
    pub(crate) async fn run(self, client: Client, stop: CancellationToken) {
        let mut waiting = self.waiting.lock().await;
        let writer = Writer::new(client, "kubelet");
        let mut posts =
            Posts { writer, clock: self.clock, known: BTreeMap::new(), order: VecDeque::new(), count: 0 };
        while let Some(Some(event)) = stop.run_until_cancelled(waiting.recv()).await {
            if let Err(error) = posts.post(event).await {
                debug!(%error, "event was not written");
            }
        }
    }
}

/// What makes two Events the same: object, reason and message.
type Print = (Option<String>, &'static str, String);

struct Posts {
    writer: Writer,
    clock: Clock,
    /// Namespace, name and count of Events by what makes them the same.
    known: BTreeMap<Print, (String, String, i32)>,
    order: VecDeque<Print>,
    count: u64,
}

impl Posts {
    async fn post(&mut self, mut event: NewEvent) -> Result<(), WriteError> {
        event.message.truncate(event.message.floor_char_boundary(LONGEST));
        let (print, now) = ((event.about.uid.clone(), event.reason, event.message.clone()), self.clock.now());
        if let Some((namespace, name, count)) = self.known.get_mut(&print) {
            *count = count.saturating_add(1);
            let patch = json!({ "count": *count, "lastTimestamp": Time(now) });
            match self.writer.patch::<Event>(namespace, name, &patch).await {
                // Somebody deleted it: it begins again.
                Err(error) if error.is_not_found() => {}
                result => return result.map(drop),
            }
        }
        let namespace = event.about.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let name = self.name(&event, now);
        self.writer.create::<Event>(&namespace, &object(&event, &namespace, &name, now)).await?;
        if self.known.insert(print.clone(), (namespace, name, 1)).is_none() {
            self.order.push_back(print);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        Ok(())
    }

    /// Names that no other Event has, also where a clock stands still.
    fn name(&mut self, event: &NewEvent, now: Timestamp) -> String {
        self.count += 1;
        let mut about = event.about.name.clone().unwrap_or_default();
        about.truncate(about.floor_char_boundary(LONGEST_NAME));
        format!("{about}.{:x}", now.as_nanosecond() + i128::from(self.count))
    }
}

fn object(event: &NewEvent, namespace: &str, name: &str, now: Timestamp) -> serde_json::Value {
    let mut source = json!({ "component": event.component });
    if let Some(host) = &event.host {
        source["host"] = host.as_str().into();
    }
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": name, "namespace": namespace },
        "involvedObject": event.about,
        "type": if event.is_warning { "Warning" } else { "Normal" },
        "reason": event.reason, "message": event.message, "count": 1,
        "firstTimestamp": Time(now), "lastTimestamp": Time(now),
        "source": source, "reportingComponent": event.component,
        "reportingInstance": event.host.as_deref().unwrap_or_default(),
    })
}

/// Refers to an object.
pub(crate) fn about<K: Resource<DynamicType = ()>>(object: &K) -> ObjectReference {
    object.object_ref(&())
}
