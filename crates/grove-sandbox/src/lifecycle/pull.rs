//! Images are pulled, or are not; then the containers start.

use std::time::Duration;

use k8s_openapi::{api::core::v1::PodSpec, jiff::Timestamp};

use super::{
    Lifecycle, Next, Step, back_off,
    conditions::INITIALIZED,
    containers::{self, waiting, waits_for},
    time,
};
use crate::{annotations::PullFailures, clock::later};

const ERROR: &str = "ErrImagePull";
const BACK_OFF: &str = "ImagePullBackOff";
/// How long the error itself is shown, before the back-off is.
const ERROR_SHOWN: Duration = Duration::from_secs(2);

impl Lifecycle<'_> {
    pub(super) fn pull(&mut self, spec: &PodSpec) -> Step {
        let reason = self.first().and_then(waits_for).unwrap_or_default().to_owned();
        if [ERROR, BACK_OFF].contains(&reason.as_str()) {
            return self.retry_pull(spec, &reason);
        }
        // After init containers, the last of them is the beginning.
        let begin = if spec.init_containers.iter().flatten().next().is_some() {
            self.condition(INITIALIZED).and_then(|it| it.last_transition_time.as_ref())
        } else {
            self.status.start_time.as_ref()
        };
        let pulled_at = later(self.exact(begin), self.input.behaviour.pull_after);
        if let Some(wait) = self.wait_until(pulled_at) {
            return wait;
        }
        if self.next_pull_fails() { self.fail_pull() } else { self.start(spec) }
    }

    fn next_pull_fails(&self) -> bool {
        match self.input.behaviour.pull_failures {
            PullFailures::Never => false,
            PullFailures::First(count) => self.memory.failed_pulls < count,
            PullFailures::Always => true,
        }
    }

    fn fail_pull(&mut self) -> Step {
        self.note_failed_pull(self.input.now);
        let image = self.image();
        self.set_waiting(ERROR, &format!("failed to pull image \"{image}\""));
        self.record(true, "Failed", format!("Failed to pull image \"{image}\": ErrImagePull"));
        Step::Changed
    }

    fn retry_pull(&mut self, spec: &PodSpec, reason: &str) -> Step {
        if self.memory.last_pull.is_none() {
            // A kubelet that was restarted does not know of earlier attempts.
            self.note_failed_pull(self.input.now);
        }
        let failed_at = self.memory.last_pull.unwrap_or(self.input.now);
        if self.input.behaviour.pull_failures == PullFailures::Never {
            return self.start(spec);
        }
        if reason == ERROR {
            if let Some(wait) = self.wait_until(later(failed_at, ERROR_SHOWN)) {
                return wait;
            }
            let message = format!("Back-off pulling image \"{}\"", self.image());
            self.set_waiting(BACK_OFF, &message);
            self.record(true, "BackOff", message);
            return Step::Changed;
        }
        if self.input.behaviour.pull_failures == PullFailures::Always {
            // It fails until the annotation changes: there is nothing to try.
            return Step::Then(Next::Rest);
        }
        let again = later(failed_at, back_off(self.memory.failed_pulls));
        if let Some(wait) = self.wait_until(again) {
            return wait;
        }
        if self.next_pull_fails() {
            self.note_failed_pull(self.input.now);
            return Step::Then(Next::Wait(later(self.input.now, back_off(self.memory.failed_pulls))));
        }
        self.start(spec)
    }

    fn note_failed_pull(&mut self, now: Timestamp) {
        self.memory.failed_pulls = self.memory.failed_pulls.saturating_add(1);
        self.memory.last_pull = Some(now);
    }

    /// All containers start.
    fn start(&mut self, spec: &PodSpec) -> Step {
        let (now, uid) = (time(self.input.now), self.input.pod.metadata.uid.clone().unwrap_or_default());
        for container in self.status.container_statuses.iter_mut().flatten() {
            containers::start(container, &uid, now.clone());
        }
        self.status.phase = Some("Running".to_owned());
        let pulled = self.input.behaviour.pull_after;
        let image = self.image();
        let message = if pulled.is_zero() {
            format!("Container image \"{image}\" already present on machine")
        } else {
            format!("Successfully pulled image \"{image}\" in {pulled:?}")
        };
        self.record(false, "Pulled", message);
        self.record(false, "Started", format!("Started {}", names(spec)));
        Step::Changed
    }

    fn image(&self) -> String {
        self.first().map(|it| it.image.clone()).unwrap_or_default()
    }

    fn set_waiting(&mut self, reason: &str, message: &str) {
        for container in self.status.container_statuses.iter_mut().flatten() {
            container.state = Some(waiting(reason, Some(message.to_owned())));
        }
    }
}

/// The containers of a pod for an Event: one for all of them.
pub(super) fn names(spec: &PodSpec) -> String {
    let names: Vec<&str> = spec.containers.iter().map(|it| it.name.as_str()).collect();
    match names.as_slice() {
        [one] => format!("container {one}"),
        all => format!("containers {}", all.join(", ")),
    }
}
