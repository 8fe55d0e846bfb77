//! How long gangs take: from the creation of a PodGang until it is complete, scheduled and ready for the first time.
//!
//! It is read from the statuses that are written anyway. A status remembers when its gang was scheduled and ready last, so that a
//! gang which loses its place and finds another is not counted again, also not by another process.

use std::time::Duration;

use grove_api::{
    constants::conditions::pod_gang as names,
    wire::{Condition, PodCliqueSet, PodGang, PodGangStatus},
};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, histogram::Histogram},
    registry::Registry,
};

use super::{Grove, metrics::known};

/// What a gang waits for, as its conditions say.
const REASONS: &[&str] = &[
    names::PODS_NOT_CREATED,
    names::WAITING_FOR_SCHEDULER,
    names::WAITING_FOR_BASE,
    names::WAITING_FOR_OTHERS,
    names::UNSCHEDULABLE,
    names::BACKEND_NOT_READY,
    names::BACKEND_FAILED,
    names::TOPOLOGY_NOT_FOUND,
    names::TOPOLOGY_LEVELS_UNAVAILABLE,
    names::NOT_HONOURED,
    names::PODS_NOT_READY,
    names::NOT_SCHEDULED,
];
/// The reason of what never was not so.
const NONE: &str = "None";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    backend: &'static str,
    reason: &'static str,
    stage: &'static str,
}

/// Metrics of the lives of gangs. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct GangMetrics {
    stages: Family<Labels, Histogram>,
}

impl Default for GangMetrics {
    fn default() -> Self {
        Self { stages: Family::new_with_constructor(stage) }
    }
}

/// From one second, which is as exact as times of creation are, to a day in a queue.
fn stage() -> Histogram {
    Histogram::new([
        1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 10_800.0, 43_200.0,
        86_400.0,
    ])
}

impl GangMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "grove_podgang_stage_duration_seconds",
            "Time from the creation of a PodGang until it was complete, scheduled or ready for the first time, by backend and by \
             what it waited for last",
            metrics.stages.clone(),
        );
        metrics
    }
}

impl Grove {
    /// Counts what a gang has reached with a status that was written.
    pub(super) fn count_stages(&self, set: &PodCliqueSet, gang: &PodGang, new: &PodGangStatus) {
        let Some(created) = gang.metadata.creation_timestamp.as_ref() else { return };
        // Nothing where the clock of the API server is ahead of ours.
        let took = Duration::try_from(self.now().duration_since(created.0)).unwrap_or_default();
        for (stage, reason) in reached(gang.status.as_ref(), new) {
            let backend = self.backend_label(set, gang);
            let labels = Labels { backend, reason, stage };
            self.metrics.gangs.stages.get_or_create(&labels).observe(took.as_secs_f64());
        }
    }
}

/// Stages that a gang reached for the first time, and what it waited for before.
fn reached(old: Option<&PodGangStatus>, new: &PodGangStatus) -> Vec<(&'static str, &'static str)> {
    let was_scheduled = old.is_some_and(|it| it.last_scheduled.is_some());
    let was_ready = old.is_some_and(|it| it.last_ready.is_some());
    let stages = [
        ("complete", names::INITIALIZED, false),
        ("scheduled", names::SCHEDULED, was_scheduled),
        ("ready", names::READY, was_ready),
    ];
    let mut reached = Vec::new();
    for (stage, type_, before) in stages {
        let said = old.and_then(|it| find(it, type_));
        let is_first = !before && said.is_none_or(|it| it.status != "True");
        if is_first && find(new, type_).is_some_and(|it| it.status == "True") {
            reached.push((stage, said.map_or(NONE, |it| known(REASONS, &it.reason))));
        }
    }
    reached
}

fn find<'a>(status: &'a PodGangStatus, type_: &str) -> Option<&'a Condition> {
    status.conditions.iter().find(|it| it.type_ == type_)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const TIME: &str = "2027-01-15T08:00:00Z";

    fn status(conditions: &[(&str, &str, &str)]) -> Value {
        let conditions: Vec<Value> = conditions
            .iter()
            .map(|(type_, status, reason)| {
                json!({
                    "type": type_, "status": status, "reason": reason, "message": "", "lastTransitionTime": TIME,
                })
            })
            .collect();
        json!({ "phase": "Pending", "conditions": conditions })
    }

    fn between(old: &Value, new: &Value) -> Vec<(&'static str, &'static str)> {
        let old: Option<PodGangStatus> = serde_json::from_value(old.clone()).unwrap();
        reached(old.as_ref(), &serde_json::from_value(new.clone()).unwrap())
    }

    #[test]
    fn a_stage_counts_when_it_is_reached_first() {
        let waiting = status(&[
            ("Initialized", "False", "PodsNotCreated"),
            ("Scheduled", "False", "PodsNotCreated"),
            ("Ready", "False", "NotScheduled"),
        ]);
        let complete = status(&[
            ("Initialized", "True", "AllPodsCreated"),
            ("Scheduled", "False", "Unschedulable"),
            ("Ready", "False", "NotScheduled"),
        ]);
        let mut running = status(&[
            ("Initialized", "True", "AllPodsCreated"),
            ("Scheduled", "True", "MinimumBound"),
            ("Ready", "True", "MinimumReady"),
        ]);
        running["lastScheduled"] = TIME.into();
        running["lastReady"] = TIME.into();
        assert!(between(&Value::Null, &waiting).is_empty());
        assert_eq!(between(&waiting, &complete), [("complete", "PodsNotCreated")]);
        assert_eq!(between(&complete, &running), [("scheduled", "Unschedulable"), ("ready", "NotScheduled")]);
        assert!(between(&running, &running).is_empty());
        let at_once = between(&Value::Null, &running);
        assert_eq!(at_once, [("complete", "None"), ("scheduled", "None"), ("ready", "None")]);
        // It lost its place, and has another.
        let mut lost = complete;
        lost["lastScheduled"] = TIME.into();
        lost["lastReady"] = TIME.into();
        assert!(between(&lost, &running).is_empty());
    }

    #[test]
    fn a_reason_that_somebody_wrote_is_no_label() {
        let old = status(&[("Scheduled", "False", "x7k2p")]);
        let new = status(&[("Scheduled", "True", "MinimumBound")]);
        assert_eq!(between(&old, &new), [("scheduled", "Other")]);
    }
}
