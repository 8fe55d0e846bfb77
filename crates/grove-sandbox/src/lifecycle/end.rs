//! Pods that end for good.

use std::time::Duration;

use k8s_openapi::{api::core::v1::PodSpec, jiff::Timestamp};

use super::{
    Lifecycle, Step,
    conditions::{CONTAINERS_READY, INITIALIZED, READY, Said},
    containers::{state, terminated},
    time,
};
use crate::clock::later;

impl Lifecycle<'_> {
    pub(super) fn is_over(&self) -> bool {
        matches!(self.status.phase.as_deref(), Some("Succeeded" | "Failed"))
    }

    /// The pod succeeds, or fails with this exit code.
    pub(super) fn end(&mut self, failure: Option<i32>) -> Step {
        let (phase, reason) = match failure {
            None => ("Succeeded", "PodCompleted"),
            Some(_) => ("Failed", "PodFailed"),
        };
        self.status.phase = Some(phase.to_owned());
        let (now, exit_code) = (time(self.input.now), failure.unwrap_or_default());
        let has_started = self.is_initialized();
        for container in self.status.container_statuses.iter_mut().flatten().filter(|_| has_started) {
            container.state = Some(terminated(container, exit_code, now.clone()));
            container.ready = false;
            container.started = Some(false);
        }
        // Sidecars end with the pod.
        for container in self.status.init_container_statuses.iter_mut().flatten() {
            if state(container).running.is_some() {
                container.state = Some(terminated(container, 0, now.clone()));
                container.started = Some(false);
            }
        }
        self.set_condition(READY, Said::no(reason, None));
        self.set_condition(CONTAINERS_READY, Said::no(reason, None));
        if failure.is_none() {
            self.set_condition(INITIALIZED, Said { reason: Some("PodCompleted"), ..Said::yes() });
        }
        Step::Changed
    }

    /// When the pod has run for too long.
    pub(super) fn deadline(&self, spec: &PodSpec) -> Option<Timestamp> {
        let seconds = u64::try_from(spec.active_deadline_seconds?).ok()?;
        Some(later(self.exact(self.status.start_time.as_ref()), Duration::from_secs(seconds)))
    }

    pub(super) fn exceed_deadline(&mut self) -> Step {
        self.end(Some(137));
        self.status.reason = Some("DeadlineExceeded".to_owned());
        let message = "Pod was active on the node longer than the specified deadline".to_owned();
        self.status.message = Some(message.clone());
        self.record(false, "DeadlineExceeded", message);
        Step::Changed
    }
}
