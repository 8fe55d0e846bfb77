//! Writes what is to be said of pods and PodGroups, if they do not say so already. What is newer replaces what waits.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_runtime::{Outcome, Queue, QueueKey, QueueMetrics, WriteError, Writer, work};
use k8s_openapi::{api::core::v1::PodCondition, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::scheduler::{
    Clock,
    observe::{
        Caches,
        group_view::{GroupKey, PodGroup},
        pod_view::{PodKey, PodView},
    },
};

/// Reports that are written at the same time.
const WORKERS: usize = 8;

const DEADLINE: Duration = Duration::from_secs(30);

const POD_SCHEDULED: &str = "PodScheduled";
const GROUP_SCHEDULED: &str = "PodGroupInitiallyScheduled";

/// Fits, but not now.
pub(crate) const UNSCHEDULABLE: &str = "Unschedulable";
/// Cannot be scheduled as it is.
pub(crate) const SCHEDULER_ERROR: &str = "SchedulerError";

/// What is to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// Of a pod that waits for a node.
    PodWaits {
        uid: String,
        reason: &'static str,
        message: String,
        /// The node that others make room on.
        nominated: Option<String>,
    },
    /// Of a PodGroup of which the minimum has no nodes.
    GroupWaits { reason: &'static str, message: String },
    /// Of a PodGroup of which the minimum is bound. It is never taken back.
    GroupScheduled,
}

/// What a report is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    Pod(PodKey),
    Group(GroupKey),
}

impl QueueKey for About {
    fn namespace(&self) -> &str {
        match self {
            Self::Pod(key) => &key.namespace,
            Self::Group(key) => &key.namespace,
        }
    }
}

/// Writes reports.
pub(crate) struct Reports {
    caches: Arc<Caches>,
    writer: Writer,
    clock: Clock,
    wanted: Mutex<BTreeMap<About, Report>>,
    queue: Queue<About>,
}

impl Reports {
    pub(crate) fn new(caches: Arc<Caches>, writer: Writer, clock: Clock) -> Self {
        let queue = Queue::new("report", &QueueMetrics::default());
        Self { caches, writer, clock, wanted: Mutex::default(), queue }
    }

    /// Says this, in place of what was to be said before.
    pub(crate) fn write(&self, about: About, report: Report) {
        self.wanted.lock().insert(about.clone(), report);
        self.queue.add(about);
    }

    /// Says nothing, if that is still possible.
    pub(crate) fn cancel(&self, about: &About) {
        self.wanted.lock().remove(about);
    }

    /// Works until it is dropped.
    pub(crate) async fn run(self: Arc<Self>) {
        let queue = self.queue.clone();
        work(queue, WORKERS, DEADLINE, move |about| Arc::clone(&self).write_one(about)).await;
    }

    async fn write_one(self: Arc<Self>, about: About) -> Result<Outcome, WriteError> {
        let Some(report) = self.wanted.lock().get(&about).cloned() else { return Ok(Outcome::Done) };
        let result = match &about {
            About::Pod(key) => self.write_pod(key, &report).await,
            About::Group(key) => self.write_group(key, &report).await,
        };
        match result {
            Err(error) if error.is_not_found() || error.is_refusal() => {
                tracing::debug!(%error, "what was to be said could not be written");
            }
            Err(error) => return Err(error),
            Ok(()) => {}
        }
        let mut wanted = self.wanted.lock();
        if wanted.get(&about) == Some(&report) {
            wanted.remove(&about);
        }
        Ok(Outcome::Done)
    }

    async fn write_pod(&self, key: &PodKey, report: &Report) -> Result<(), WriteError> {
        let Report::PodWaits { uid, reason, message, nominated } = report else { return Ok(()) };
        let Some(pod) = self.caches.pod(key).filter(|it| it.uid() == uid) else { return Ok(()) };
        if pod.node_name.is_some() || pod.is_terminating() || pod.is_gated {
            return Ok(());
        }
        let condition = pod_condition(&pod, POD_SCHEDULED, "False", reason, message, (self.clock)());
        let same = pod.condition(POD_SCHEDULED).is_some_and(|it| {
            (&it.status, &it.reason, &it.message)
                == (&condition.status, &condition.reason, &condition.message)
        });
        if same && pod.nominated == *nominated {
            return Ok(());
        }
        let patch = json!({
            "metadata": { "resourceVersion": pod.metadata.resource_version },
            "status": { "conditions": with_condition(&pod, condition), "nominatedNodeName": nominated },
        });
        let written = self.writer.patch_status::<PodView>(&key.namespace, &key.name, &patch).await?;
        self.caches.pods.written(written);
        Ok(())
    }

    async fn write_group(&self, key: &GroupKey, report: &Report) -> Result<(), WriteError> {
        let (status, reason, message) = match report {
            Report::GroupScheduled => ("True", "Scheduled", "all pods of the minimum are bound"),
            Report::GroupWaits { reason, message } => ("False", *reason, message.as_str()),
            Report::PodWaits { .. } => return Ok(()),
        };
        let Some(group) = self.caches.pod_groups.get(&key.namespace, &key.name) else { return Ok(()) };
        let conditions = &group.status.conditions;
        let now = conditions.iter().find(|it| it["type"] == GROUP_SCHEDULED);
        let differs =
            |it: &Value| (it["reason"] != reason) || (it["message"] != message) || it["status"] != status;
        if now.is_some_and(|it| it["status"] == "True" || !differs(it)) {
            return Ok(());
        }
        let changed_at = now.filter(|it| it["status"] == status).map(|it| it["lastTransitionTime"].clone());
        let changed_at = changed_at.unwrap_or_else(|| (self.clock)().to_string().into());
        let mut all: Vec<Value> =
            conditions.iter().filter(|it| it["type"] != GROUP_SCHEDULED).cloned().collect();
        all.push(json!({
            "type": GROUP_SCHEDULED, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": changed_at,
        }));
        let patch = json!({
            "metadata": { "resourceVersion": group.metadata.resource_version }, "status": { "conditions": all },
        });
        let written = self.writer.patch_status::<PodGroup>(&key.namespace, &key.name, &patch).await?;
        self.caches.pod_groups.written(written);
        Ok(())
    }
}

/// A condition that keeps the time of its last transition if there was none.
pub(super) fn pod_condition(
    pod: &PodView,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> PodCondition {
    let before = pod.condition(kind).filter(|it| it.status == status);
    let changed_at = before.and_then(|it| it.last_transition_time.clone()).unwrap_or(Time(now));
    PodCondition {
        type_: kind.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_transition_time: Some(changed_at),
        ..PodCondition::default()
    }
}

/// The conditions of a pod with this one in place of the one of its type.
pub(super) fn with_condition(pod: &PodView, condition: PodCondition) -> Vec<PodCondition> {
    let others = pod.conditions.iter().filter(|it| it.type_ != condition.type_);
    let mut all: Vec<PodCondition> = others.cloned().collect();
    all.push(condition);
    all
}
