//! Pods that are deleted: their containers get the time that the annotations say, and then the pod goes.

use k8s_openapi::{
    api::core::v1::PodSpec,
    jiff::{SignedDuration, Timestamp},
};

use super::{Lifecycle, Next, Step, pull::names};
use crate::{annotations::Termination, clock::later};

impl Lifecycle<'_> {
    pub(super) fn terminate(&mut self, spec: &PodSpec) -> Step {
        let metadata = &self.input.pod.metadata;
        let is_held = metadata.finalizers.as_ref().is_some_and(|it| !it.is_empty());
        if self.is_over() || !self.is_running() {
            // Deleted without grace already: it stays for those who hold it.
            let is_told = is_held && metadata.deletion_grace_period_seconds == Some(0);
            return Step::Then(if is_told { Next::Rest } else { Next::Delete });
        }
        if !self.memory.is_stopping {
            self.memory.is_stopping = true;
            self.record(false, "Killing", format!("Stopping {}", names(spec)));
        }
        let (requested, end) = self.grace_period();
        let stops_at = match self.input.behaviour.termination {
            Termination::AtOnce => requested,
            Termination::After(delay) => later(requested, delay),
            Termination::Grace => end,
        };
        let has_grace = metadata.deletion_grace_period_seconds != Some(0);
        if let Some(wait) = self.wait_until(stops_at).filter(|_| has_grace) {
            return wait;
        }
        // Who looks at a pod that is held sees that nothing runs any more.
        if is_held { self.end(None) } else { Step::Then(Next::Delete) }
    }

    /// When the deletion was asked for, and when its grace ends.
    fn grace_period(&self) -> (Timestamp, Timestamp) {
        let metadata = &self.input.pod.metadata;
        let end = metadata.deletion_timestamp.as_ref().map_or(self.input.now, |it| it.0);
        let grace = metadata.deletion_grace_period_seconds.unwrap_or_default().max(0);
        let grace = SignedDuration::from_secs(grace);
        (end.checked_sub(grace).unwrap_or(end), end)
    }
}
