//! What happens to a pod on its node: the lifecycle of the sandbox, with delays and failures that this run decides.

use std::time::Duration;

use grove_apiserver::Object;
use grove_sandbox::{
    annotations::{Behaviour, Termination},
    lifecycle::{Input, Memory, Next, plan},
    status_patch,
};
use k8s_openapi::{api::core::v1::Pod, jiff::Timestamp};
use serde::Deserialize;
use tokio::time::Instant;

use super::{
    Hall, PODS,
    hall::{Act, STAGE, Stage},
    text,
};
use crate::{clock, plan::BAD_IMAGE, random::Random};

/// Addresses, which nobody looks at.
const HOST: &str = "192.0.2.1";
const ADDRESS: &str = "198.51.100.1";
/// Longest time until a kubelet looks at a pod that changed.
const LATENCY: Duration = Duration::from_secs(1);
/// A container whose image is broken crashes before any run is over.
const NEVER: Duration = Duration::from_hours(24 * 365);

/// What a kubelet knows of a pod.
pub(super) struct Known {
    pub(super) name: String,
    pub(super) stage: Stage,
    behaviour: Behaviour,
    memory: Memory,
    /// When it looks at the pod next.
    planned: Option<Instant>,
}

impl Known {
    pub(super) fn new(pod: &Object, random: &mut Random) -> Self {
        let is_broken = text(pod, "/spec/containers/0/image") == BAD_IMAGE;
        let behaviour = Behaviour {
            pull_after: random.time(STAGE),
            ready_after: random.time(STAGE),
            termination: Termination::After(random.time(STAGE)),
            never_ready: is_broken,
            crash: is_broken.then(String::new),
            restart_after: is_broken.then_some(NEVER),
            ..Behaviour::default()
        };
        let (name, memory) = (pod.name().to_owned(), Memory::default());
        Self { name, stage: Stage::Still, behaviour, memory, planned: None }
    }
}

impl Hall {
    /// The kubelet looks at a pod after this time, if it does not do so before.
    fn look_after(&self, uid: &str, time: Duration) {
        let mut state = self.state.lock();
        let at = Instant::now() + time;
        let Some(known) = state.pods.get_mut(uid) else { return };
        if known.planned.is_none_or(|it| it > at) {
            known.planned = Some(at);
            state.agenda.after(time, Act::Look(uid.to_owned(), at));
        }
    }

    /// The kubelet looks at a pod soon: it has changed, or its node is back.
    pub(super) fn look_soon(&self, uid: &str) {
        let time = self.state.lock().random.time(LATENCY);
        self.look_after(uid, time);
    }

    /// Whether this is the look that was planned last.
    pub(super) fn is_planned(&self, uid: &str, at: Instant) -> bool {
        let mut state = self.state.lock();
        let known = state.pods.get_mut(uid).filter(|it| it.planned == Some(at));
        known.is_some_and(|it| it.planned.take().is_some())
    }

    /// Does what the lifecycle says of a pod whose kubelet is alive.
    pub(super) fn live(&self, pod: &Object) {
        let Ok(typed) = Pod::deserialize(pod.value()) else { return };
        let status = {
            let mut state = self.state.lock();
            let Some(known) = state.pods.get_mut(pod.uid()) else { return };
            let input = Input {
                pod: &typed,
                behaviour: &known.behaviour,
                host_address: HOST,
                pod_address: ADDRESS,
                now: clock::now(),
            };
            let plan = plan(input, std::mem::take(&mut known.memory));
            known.memory = plan.memory;
            if plan.has_crashed {
                known.behaviour.crash = None;
            }
            drop(state);
            match plan.next {
                Next::Rest => {}
                Next::Wait(at) => self.look_after(pod.uid(), until(at)),
                Next::Delete => self.cluster.delete("kubelet", PODS, pod.name(), Some(0)),
            }
            plan.status
        };
        if typed.status.as_ref() != Some(&status)
            && let Ok(patch) = status_patch(None, typed.status.as_ref(), &status)
        {
            self.cluster.patch("kubelet", PODS, pod.name(), patch);
        }
    }

    /// A pod behaves in another way from now on.
    fn change(&self, pod: &Object, change: impl FnOnce(&mut Behaviour)) {
        if let Some(known) = self.state.lock().pods.get_mut(pod.uid()) {
            change(&mut known.behaviour);
        }
        if self.stage(pod) == Stage::Placed {
            self.live(pod);
        }
    }

    /// A pod ends for good, as soon as it is ready.
    pub(crate) fn fail(&self, pod: &Object) {
        self.change(pod, |it| it.fail_after = Some(Duration::ZERO));
    }

    /// A container ends with an error, and comes back later.
    pub(crate) fn crash(&self, pod: &Object, back: Duration) {
        self.change(pod, |it| {
            it.crash = Some(String::new());
            it.restart_after = Some(it.restart_after.map_or(back, |it| it.max(back)));
        });
    }

    /// A container that runs fails its probe for a while.
    pub(crate) fn unready(&self, pod: &Object, back: Duration) {
        self.state.lock().agenda.after(back, Act::Recover(pod.uid().to_owned()));
        self.change(pod, |it| it.never_ready = true);
    }

    /// Its probe succeeds again.
    pub(super) fn recover(&self, pod: &Object) {
        self.change(pod, |it| it.never_ready = false);
    }
}

fn until(at: Timestamp) -> Duration {
    // Not less than a moment, so that rounding does not keep time from going on.
    Duration::try_from(clock::now().duration_until(at)).unwrap_or_default().max(Duration::from_millis(1))
}
