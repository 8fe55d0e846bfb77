//! Containers that run: they become ready, and end or crash when their annotations say so.

use std::time::Duration;

use k8s_openapi::api::core::v1::PodSpec;

use super::{
    Lifecycle, Next, Step, back_off,
    conditions::CONTAINERS_READY,
    containers::{self, CRASH_LOOP, terminated, waiting},
    pull::names,
    time,
};
use crate::clock::later;

/// Containers that ran for so long begin with the first back-off again.
const RESET: Duration = Duration::from_mins(10);
/// A restart takes a moment.
const SHORTEST_RESTART: Duration = Duration::from_millis(100);

impl Lifecycle<'_> {
    pub(super) fn run(&mut self, spec: &PodSpec) -> Step {
        let behaviour = self.input.behaviour;
        if behaviour.crash.is_some() && !self.memory.has_crashed {
            self.memory.has_crashed = true;
            return self.crash(spec);
        }
        let started = self.exact(self.started_at());
        let ready_at = later(started, behaviour.ready_after);
        // The next change of the status overwrites the exact time of the start: a ready pod stays ready.
        let was_ready = self.status.container_statuses.iter().flatten().all(|it| it.ready);
        let is_ready = !behaviour.never_ready && (was_ready || self.input.now >= ready_at);
        if self.set_ready(spec, is_ready) {
            return Step::Changed;
        }
        if !is_ready && !behaviour.never_ready {
            return Step::Then(Next::Wait(ready_at));
        }
        let ready = self.condition(CONTAINERS_READY).and_then(|it| it.last_transition_time.as_ref());
        let since = if is_ready { self.exact(ready) } else { started };
        // Annotations that came later count from then.
        let since = self.memory.delays_changed.map_or(since, |it| it.max(since));
        let delays = [behaviour.crash_after, behaviour.fail_after, behaviour.complete_after];
        let Some(delay) = delays.into_iter().flatten().next() else { return Step::Then(Next::Rest) };
        if let Some(wait) = self.wait_until(later(since, delay)) {
            return wait;
        }
        if behaviour.crash_after.is_some() {
            self.crash(spec)
        } else if behaviour.fail_after.is_some() {
            self.end(Some(behaviour.exit_code.unwrap_or(1)))
        } else {
            self.end(None)
        }
    }

    /// The containers end by themselves, and are restarted if the pod says so.
    fn crash(&mut self, spec: &PodSpec) -> Step {
        let exit_code = self.input.behaviour.exit_code.unwrap_or(1);
        let failed = (exit_code != 0).then_some(exit_code);
        match spec.restart_policy.as_deref() {
            Some("Never") => return self.end(failed),
            Some("OnFailure") if failed.is_none() => return self.end(None),
            _ => {}
        }
        let ran_well = self.input.now >= later(self.exact(self.started_at()), RESET);
        self.memory.crashes = if ran_well { 1 } else { self.memory.crashes.saturating_add(1) };
        let (now, pod, delay) = (time(self.input.now), self.full_name(), self.restart_delay());
        for container in self.status.container_statuses.iter_mut().flatten() {
            container.last_state = Some(terminated(container, exit_code, now.clone()));
            let message =
                format!("back-off {delay:?} restarting failed container={} pod={pod}", container.name);
            container.state = Some(waiting(CRASH_LOOP, Some(message)));
            container.started = Some(false);
        }
        self.set_ready(spec, false);
        self.record(true, "BackOff", format!("Back-off restarting failed {} in pod {pod}", names(spec)));
        Step::Changed
    }

    /// Containers that crashed start again after their back-off.
    pub(super) fn restart(&mut self) -> Step {
        let ended = self.first().and_then(|it| {
            let last = it.state.as_ref().filter(|it| it.terminated.is_some()).or(it.last_state.as_ref());
            last?.terminated.as_ref()?.finished_at.as_ref()
        });
        if let Some(wait) = self.wait_until(later(self.exact(ended), self.restart_delay())) {
            return wait;
        }
        let (now, uid) = (time(self.input.now), self.input.pod.metadata.uid.clone().unwrap_or_default());
        for container in self.status.container_statuses.iter_mut().flatten() {
            container.restart_count = container.restart_count.saturating_add(1);
            containers::start(container, &uid, now.clone());
        }
        self.status.phase = Some("Running".to_owned());
        Step::Changed
    }

    fn restart_delay(&self) -> Duration {
        // A kubelet that was restarted knows the restarts from the status.
        let restarts = self.first().map_or(0, |it| u32::try_from(it.restart_count).unwrap_or_default());
        let crashes = if self.memory.crashes == 0 { restarts.saturating_add(1) } else { self.memory.crashes };
        let delay = self.input.behaviour.restart_after.unwrap_or_else(|| back_off(crashes));
        delay.max(SHORTEST_RESTART)
    }
}
