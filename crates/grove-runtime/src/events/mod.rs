//! Kubernetes Events, off the hot path: whoever publishes one never waits and never fails.
//!
//! Decides which Events are worth posting: not the same one again within ten minutes, and none at the price of waiting. Namespaces
//! take turns, so that a tenant with thousands of Events silences no other one.

mod repeats;
#[cfg(test)]
mod tests;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::channel::{Receiver, Sender, channel};
use crate::metrics::EventMetrics;
use crate::throttle::Lane;
use crate::writer::Writer;
use repeats::Repeats;

/// How many Events may wait to be posted.
const WAITING: usize = 1_024;

/// Longest note that the API admits, in bytes.
const LONGEST_NOTE: usize = 1_024;

/// Room for a regarding object's name in the name of an Event, which ends in a time and has 253 characters at most.
const LONGEST_PREFIX: usize = 230;

/// Whether somebody should worry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// For information.
    Normal,
    /// Something did not work.
    Warning,
}

/// Publishes Events. Clones share one task that posts them.
#[derive(Clone, Debug)]
pub struct Events {
    queue: Option<Sender<Story>>,
    metrics: EventMetrics,
}

/// What happened to what.
#[derive(Debug)]
struct Story {
    regarding: ObjectReference,
    kind: EventKind,
    reason: &'static str,
    action: &'static str,
    note: String,
}

impl Events {
    /// Starts to post Events until `stop` is cancelled.
    pub fn start(
        writer: &Writer,
        reporting_controller: String,
        reporting_instance: String,
        stop: CancellationToken,
    ) -> Self {
        Self::start_with_metrics(
            writer,
            reporting_controller,
            reporting_instance,
            stop,
            EventMetrics::default(),
        )
    }

    /// Like [`start`](Self::start), and counts.
    pub fn start_with_metrics(
        writer: &Writer,
        reporting_controller: String,
        reporting_instance: String,
        stop: CancellationToken,
        metrics: EventMetrics,
    ) -> Self {
        let (queue, stories) = channel(WAITING);
        let publisher = Publisher {
            writer: writer.in_lane(Lane::Event),
            reporting_controller,
            reporting_instance,
            repeats: Repeats::default(),
            metrics: metrics.clone(),
        };
        tokio::spawn(async move { stop.run_until_cancelled(publisher.run(stories)).await });
        Self { queue: Some(queue), metrics }
    }

    /// Publishes nothing, for tests.
    pub fn none() -> Self {
        Self { queue: None, metrics: EventMetrics::default() }
    }

    /// Tells that `action` on `regarding` had a result. Returns at once; an Event too many is dropped and counted.
    pub fn publish(
        &self,
        regarding: ObjectReference,
        kind: EventKind,
        reason: &'static str,
        action: &'static str,
        note: String,
    ) {
        let Some(queue) = &self.queue else { return };
        let namespace = regarding.namespace.clone().unwrap_or_default();
        let story = Story { regarding, kind, reason, action, note: cut(note, LONGEST_NOTE) };
        if !queue.send(&namespace, story) {
            self.metrics.dropped.inc();
        }
    }
}

/// The task behind [`Events`].
struct Publisher {
    writer: Writer,
    reporting_controller: String,
    reporting_instance: String,
    repeats: Repeats,
    metrics: EventMetrics,
}

impl Publisher {
    async fn run(mut self, mut stories: Receiver<Story>) {
        while let Some(story) = stories.recv().await {
            let print = Repeats::print(story.regarding.uid.as_deref(), story.reason, &story.note);
            if self.repeats.is_repeat(print) {
                continue;
            }
            let namespace = story.regarding.namespace.clone().unwrap_or_else(|| "default".to_owned());
            let event = self.event(story, &namespace, Timestamp::now());
            match self.writer.create::<Event>(&namespace, &event).await {
                Ok(_) => {
                    self.repeats.posted(print);
                    self.metrics.posted.inc();
                }
                Err(error) => {
                    self.metrics.failed.inc();
                    debug!(%error, "event was not posted");
                }
            }
        }
    }

    fn event(&self, story: Story, namespace: &str, now: Timestamp) -> Event {
        let about = cut(story.regarding.name.clone().unwrap_or_default(), LONGEST_PREFIX);
        Event {
            metadata: ObjectMeta {
                // The name that client-go gives its Events.
                name: Some(format!("{about}.{:x}", now.as_nanosecond())),
                namespace: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            },
            event_time: Some(MicroTime(now)),
            type_: Some(match story.kind {
                EventKind::Normal => "Normal".to_owned(),
                EventKind::Warning => "Warning".to_owned(),
            }),
            reason: Some(story.reason.to_owned()),
            action: Some(story.action.to_owned()),
            note: Some(story.note),
            regarding: Some(story.regarding),
            reporting_controller: Some(self.reporting_controller.clone()),
            reporting_instance: Some(self.reporting_instance.clone()),
            ..Event::default()
        }
    }
}

/// At most `bytes` of `text`, never half a character.
fn cut(mut text: String, bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes));
    text
}
