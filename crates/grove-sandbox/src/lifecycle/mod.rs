//! What a pod does on its node: from bound to deleted. Pure: the time and the pod come in, the new status and the next time to look
//! come out.
//!
//! The stage of a pod is its status, so that a kubelet that was restarted goes on where the last one was. [`Memory`] only makes it
//! more exact: a status has whole seconds.
//!
//! ```text
//! bound → accept → initialize → pull → start → run ─┬→ succeeded, failed
//!                                        ↑          └→ crashed ─┐
//!                                        └──── restart ←────────┘        deletionTimestamp: terminate → deleted
//! ```

mod accept;
mod conditions;
mod containers;
mod downward_api;
mod end;
mod initialize;
mod pull;
mod run;
mod start_order;
mod terminate;
#[cfg(test)]
mod tests;

use std::time::Duration;

use k8s_openapi::{
    api::core::v1::{Pod, PodSpec, PodStatus},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};

use crate::{annotations::Behaviour, clock::later};

/// More stages than a pod can pass through at one time.
const MAX_STEPS: usize = 100;
/// First and longest back-off of a container that crashed, and of an image that cannot be pulled.
const BACK_OFF: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(5));

/// A pod and what is around it.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The pod as it is stored.
    pub pod: &'a Pod,
    /// What it does, and when.
    pub behaviour: &'a Behaviour,
    /// The address of its node.
    pub host_address: &'a str,
    /// For a pod that has none yet.
    pub pod_address: &'a str,
    /// The time on the node.
    pub now: Timestamp,
}

/// What a kubelet knows of a pod besides the pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Exact time of the last change of its status by us.
    last_change: Option<Timestamp>,
    /// Attempts to pull the image that failed, and the time of the last one.
    failed_pulls: u32,
    last_pull: Option<Timestamp>,
    /// Crashes in a row.
    crashes: u32,
    /// The delays that count from Ready, and since when they are these.
    delays: Option<[Option<Duration>; 3]>,
    delays_changed: Option<Timestamp>,
    is_stopping: bool,
    /// The crash that was asked for has happened, and the annotation is still there.
    has_crashed: bool,
}

/// An Event about a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodEvent {
    /// Its type is `Warning`, and not `Normal`.
    pub is_warning: bool,
    /// Its reason.
    pub reason: &'static str,
    /// What happened.
    pub message: String,
}

/// When to look at a pod again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// When it changes.
    Rest,
    /// At this time.
    Wait(Timestamp),
    /// Its containers have ended: it is to be deleted.
    Delete,
}

/// What is to be done about a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The status that the pod should have.
    pub status: PodStatus,
    /// What to hand in the next time.
    pub memory: Memory,
    /// The Events to record.
    pub events: Vec<PodEvent>,
    /// When to plan again.
    pub next: Next,
    /// The annotation that asked for a crash has done its work.
    pub has_crashed: bool,
}

/// What became of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Changed,
    Then(Next),
}

/// Plans all that happens to the pod at this time.
pub fn plan(input: Input<'_>, memory: Memory) -> Plan {
    let status = input.pod.status.clone().unwrap_or_default();
    let mut pod = Lifecycle { input, status, memory, events: Vec::new() };
    pod.note_delays();
    // Where the steps run out, there are more in a moment.
    let mut next = Next::Wait(later(input.now, Duration::from_secs(1)));
    if let Some(spec) = input.pod.spec.as_ref() {
        for _ in 0..MAX_STEPS {
            match pod.step(spec) {
                Step::Changed => pod.memory.last_change = Some(input.now),
                Step::Then(then) => {
                    next = then;
                    break;
                }
            }
        }
    }
    let has_crashed = pod.memory.has_crashed;
    if input.pod.status.as_ref() != Some(&pod.status) {
        pod.status.observed_generation = input.pod.metadata.generation;
    }
    Plan { status: pod.status, memory: pod.memory, events: pod.events, next, has_crashed }
}

/// A pod whose status is being advanced.
struct Lifecycle<'a> {
    input: Input<'a>,
    status: PodStatus,
    memory: Memory,
    events: Vec<PodEvent>,
}

impl Lifecycle<'_> {
    fn step(&mut self, spec: &PodSpec) -> Step {
        if self.input.pod.metadata.deletion_timestamp.is_some() {
            return self.terminate(spec);
        }
        if self.is_over() || spec.containers.is_empty() {
            return Step::Then(Next::Rest);
        }
        if self.status.start_time.is_none() || !self.has_all_containers(spec) {
            return self.accept(spec);
        }
        let deadline = self.deadline(spec);
        if deadline.is_some_and(|it| self.input.now >= it) {
            return self.exceed_deadline();
        }
        let step = if !self.is_initialized() {
            self.initialize(spec)
        } else if self.is_running() {
            self.run(spec)
        } else if self.is_in_back_off() {
            self.restart()
        } else {
            self.pull(spec)
        };
        match (step, deadline) {
            (Step::Then(Next::Rest), Some(at)) => Step::Then(Next::Wait(at)),
            (Step::Then(Next::Wait(then)), Some(at)) => Step::Then(Next::Wait(then.min(at))),
            _ => step,
        }
    }

    /// Waits until `then`; nothing where it has passed.
    fn wait_until(&self, then: Timestamp) -> Option<Step> {
        (self.input.now < then).then_some(Step::Then(Next::Wait(then)))
    }

    /// A time of the status as exactly as it is known: it is the last one that was written, or has whole seconds.
    fn exact(&self, time: Option<&Time>) -> Timestamp {
        let Some(Time(time)) = time else { return self.input.now };
        self.memory.last_change.filter(|it| it.as_second() == time.as_second()).unwrap_or(*time)
    }

    /// Delays that are changed on a running pod count from the change.
    fn note_delays(&mut self) {
        let behaviour = self.input.behaviour;
        let delays = [behaviour.crash_after, behaviour.fail_after, behaviour.complete_after];
        if self.memory.delays.is_some_and(|it| it != delays) {
            self.memory.delays_changed = Some(self.input.now);
        }
        self.memory.delays = Some(delays);
        self.memory.has_crashed &= behaviour.crash.is_some();
    }

    fn record(&mut self, is_warning: bool, reason: &'static str, message: String) {
        self.events.push(PodEvent { is_warning, reason, message });
    }

    /// The pod's namespace, name and UID as kubelets write them.
    fn full_name(&self) -> String {
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        let metadata = &self.input.pod.metadata;
        format!("{}_{}({})", text(&metadata.name), text(&metadata.namespace), text(&metadata.uid))
    }
}

/// How long to wait after so many failures in a row.
fn back_off(failures: u32) -> Duration {
    BACK_OFF.0.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(BACK_OFF.1)
}

/// A time that is written.
#[expect(clippy::unnecessary_wraps, reason = "every time in a status is optional")]
fn time(now: Timestamp) -> Option<Time> {
    Some(Time(now))
}
