//! Init containers, one after the other.

use k8s_openapi::api::core::v1::{Container, ContainerStatus, PodSpec, PodStatus};

use super::{
    Lifecycle, Next, Step, back_off,
    conditions::{INITIALIZED, Said},
    containers::{self, CRASH_LOOP, state, terminated, waiting, waits_for},
    start_order::{self, Verdict},
    time,
};
use crate::clock::later;

impl Lifecycle<'_> {
    pub(super) fn initialize(&mut self, spec: &PodSpec) -> Step {
        for (at, container) in spec.init_containers.iter().flatten().enumerate() {
            let Some(known) = self.status.init_container_statuses.as_ref().and_then(|it| it.get(at)) else {
                return Step::Then(Next::Rest);
            };
            if let Some(step) = self.advance_init(spec, at, container, &known.clone()) {
                return step;
            }
        }
        self.set_condition(INITIALIZED, Said::yes());
        Step::Changed
    }

    /// The next step of one init container; nothing where it holds the pod no longer.
    fn advance_init(
        &mut self,
        spec: &PodSpec,
        at: usize,
        container: &Container,
        known: &ContainerStatus,
    ) -> Option<Step> {
        let is_sidecar = container.restart_policy.as_deref() == Some("Always");
        let now = self.input.now;
        let now_state = state(known);
        if let Some(ended) = now_state.terminated {
            return if ended.exit_code == 0 { None } else { Some(self.fail_init(spec, at, ended.exit_code)) };
        }
        if let Some(running) = now_state.running {
            if is_sidecar {
                return None;
            }
            let done_at = later(self.exact(running.started_at.as_ref()), self.input.behaviour.init_after);
            return Some(match start_order::verdict(self.input.pod, container) {
                Verdict::Waits => Step::Then(Next::Rest),
                Verdict::Fails => self.fail_init(spec, at, 1),
                Verdict::MayStart => self.end_init(at),
                Verdict::NotOurs => self.wait_until(done_at).unwrap_or_else(|| self.end_init(at)),
            });
        }
        if waits_for(known) == Some(CRASH_LOOP) {
            let ended = known.last_state.as_ref().and_then(|it| it.terminated.as_ref());
            let failures = u32::try_from(known.restart_count).unwrap_or_default().saturating_add(1);
            let again = later(self.exact(ended.and_then(|it| it.finished_at.as_ref())), back_off(failures));
            if let Some(wait) = self.wait_until(again) {
                return Some(wait);
            }
        }
        let is_restart = waits_for(known) == Some(CRASH_LOOP);
        let uid = self.input.pod.metadata.uid.clone().unwrap_or_default();
        if let Some(status) = self.init_mut(at) {
            status.restart_count += i32::from(is_restart);
            containers::start(status, &uid, time(now));
            status.ready = is_sidecar;
        }
        Some(Step::Changed)
    }

    fn end_init(&mut self, at: usize) -> Step {
        let now = time(self.input.now);
        if let Some(status) = self.init_mut(at) {
            status.state = Some(terminated(status, 0, now));
            status.ready = true;
            status.started = Some(false);
        }
        let said = Self::not_initialized(&self.status);
        self.set_condition(INITIALIZED, said);
        Step::Changed
    }

    /// One that fails is run again, unless the pod says that nothing is.
    fn fail_init(&mut self, spec: &PodSpec, at: usize, exit_code: i32) -> Step {
        let (now, pod) = (time(self.input.now), self.full_name());
        if spec.restart_policy.as_deref() == Some("Never") {
            if let Some(status) = self.init_mut(at) {
                status.state = Some(terminated(status, exit_code, now));
            }
            return self.end(Some(exit_code));
        }
        let mut failures = 1;
        let mut name = String::new();
        if let Some(status) = self.init_mut(at) {
            failures += u32::try_from(status.restart_count).unwrap_or_default();
            name.clone_from(&status.name);
            status.last_state = Some(terminated(status, exit_code, now));
            let delay = back_off(failures).as_secs();
            let message = format!("back-off {delay}s restarting failed container={name} pod={pod}");
            status.state = Some(waiting(CRASH_LOOP, Some(message)));
            status.ready = false;
            status.started = Some(false);
        }
        self.record(true, "BackOff", format!("Back-off restarting failed container {name} in pod {pod}"));
        Step::Changed
    }

    fn init_mut(&mut self, at: usize) -> Option<&mut ContainerStatus> {
        self.status.init_container_statuses.as_mut()?.get_mut(at)
    }

    pub(super) fn not_initialized(status: &PodStatus) -> Said {
        let open = status.init_container_statuses.iter().flatten().filter(|it| !it.ready);
        let names: Vec<&str> = open.map(|it| it.name.as_str()).collect();
        let message = format!("containers with incomplete status: [{}]", names.join(" "));
        Said::no("ContainersNotInitialized", message)
    }
}
