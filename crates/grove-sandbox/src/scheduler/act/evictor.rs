//! Deletes pods that make room for others, and says so on them before.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_runtime::{Delete, Deleted, Outcome, Queue, QueueMetrics, WriteError, Writer, work};
use parking_lot::Mutex;
use serde_json::json;

use super::reports::{pod_condition, with_condition};
use crate::scheduler::{
    Clock,
    observe::{
        Caches,
        pod_view::{PodKey, PodView},
    },
};

const WORKERS: usize = 16;

const DEADLINE: Duration = Duration::from_secs(30);

const DISRUPTION_TARGET: &str = "DisruptionTarget";
const REASON: &str = "PreemptionByScheduler";

/// A pod that is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Eviction {
    pub(crate) pod: PodKey,
    pub(crate) uid: String,
    /// Says who needs the room.
    pub(crate) message: String,
}

/// Deletes pods.
pub(crate) struct Evictor {
    caches: Arc<Caches>,
    writer: Writer,
    clock: Clock,
    jobs: Mutex<BTreeMap<PodKey, Eviction>>,
    queue: Queue<PodKey>,
}

impl Evictor {
    pub(crate) fn new(caches: Arc<Caches>, writer: Writer, clock: Clock) -> Self {
        let queue = Queue::new("evict", &QueueMetrics::default());
        Self { caches, writer, clock, jobs: Mutex::default(), queue }
    }

    pub(crate) fn evict(&self, evictions: Vec<Eviction>) {
        for eviction in evictions {
            let key = eviction.pod.clone();
            self.jobs.lock().insert(key.clone(), eviction);
            self.queue.add(key);
        }
    }

    /// Works until it is dropped.
    pub(crate) async fn run(self: Arc<Self>) {
        let queue = self.queue.clone();
        work(queue, WORKERS, DEADLINE, move |key| Arc::clone(&self).evict_one(key)).await;
    }

    async fn evict_one(self: Arc<Self>, key: PodKey) -> Result<Outcome, WriteError> {
        let Some(eviction) = self.jobs.lock().get(&key).cloned() else { return Ok(Outcome::Done) };
        if let Some(pod) = self.caches.pod(&key).filter(|it| it.uid() == eviction.uid) {
            self.mark(&pod, &eviction).await?;
            let deleted = self
                .writer
                .delete::<PodView>(&key.namespace, &key.name, &eviction.uid, Delete::default())
                .await?;
            match deleted {
                Deleted::Gone => self.caches.pods.gone(&key.namespace, &key.name, &eviction.uid),
                Deleted::Accepted(pod) => drop(self.caches.pods.written(pod)),
            }
        }
        let mut jobs = self.jobs.lock();
        if jobs.get(&key) == Some(&eviction) {
            jobs.remove(&key);
        }
        Ok(Outcome::Done)
    }

    async fn mark(&self, pod: &PodView, eviction: &Eviction) -> Result<(), WriteError> {
        let now = (self.clock)();
        let condition = pod_condition(pod, DISRUPTION_TARGET, "True", REASON, &eviction.message, now);
        if pod.condition(DISRUPTION_TARGET).is_some_and(|it| it.message == condition.message) {
            return Ok(());
        }
        let patch = json!({
            "metadata": { "resourceVersion": pod.metadata.resource_version },
            "status": { "conditions": with_condition(pod, condition) },
        });
        match self.writer.patch_status::<PodView>(pod.namespace(), pod.name(), &patch).await {
            Ok(written) => drop(self.caches.pods.written(written)),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
