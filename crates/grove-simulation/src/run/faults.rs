//! What each fault does to a run.

use std::time::Duration;

use tokio::time::Instant;

use super::{FRESH, RETRIES, Stage};
use crate::{
    clock,
    connection::longest_trip,
    past::Past,
    plan::{Fault, LONGEST_STALL, OUTAGE, OVERLAP, Plan, SILENCE},
    random::choose,
    rules::{Broken, Rule},
};

/// How long operators are down that are restarted while the API server is.
const RESTART: Duration = Duration::from_mins(1);
/// How long a node that was read counts as lost.
const CONFIRMED: Duration = Duration::from_secs(10);
/// How long the operator may go by what it cannot know to be taken back.
const UNNOTICED: Duration = Duration::from_mins(30);

impl Stage {
    /// Another operator is started, and the one that runs goes on for a while.
    pub(super) fn overlap(&mut self, time: Duration, stale: bool) -> Result<(), Broken> {
        let Some(former) = self.operator.take() else { return Ok(()) };
        if stale {
            self.lines.hold_watches_of(self.processes, time);
        }
        self.former.push((Instant::now() + time, former));
        self.start().map_err(|error| Rule::Convergence.broken(error.to_string()))
    }

    /// Ends former operators whose time has come. What they sent still arrives.
    pub(super) fn end_former(&mut self) {
        let before = self.former.len();
        self.former.retain(|(end, _)| *end > Instant::now());
        if self.former.len() < before {
            self.referee.tell(|| "OPERATOR that overlapped dies".to_owned());
        }
    }

    /// The API server is down. Operators are restarted meanwhile, twice.
    pub(super) async fn outage(&mut self) -> Result<(), Broken> {
        let end = Instant::now() + OUTAGE;
        self.lines.take_down(OUTAGE);
        self.hall.pause(end);
        self.autoscaler.pause(true);
        self.referee.operator_died();
        for _ in 0..2 {
            self.kill(RESTART);
            self.wait(OUTAGE / 2).await?;
        }
        self.wait(end.saturating_duration_since(Instant::now())).await?;
        self.autoscaler.pause(false);
        if self.operator.is_some() {
            self.referee.operator_started(self.processes);
        }
        Ok(())
    }

    /// The last changes are taken back.
    pub(super) fn restore(&self, changes: u64, noticed: bool) {
        self.referee.look();
        let jumps = self.cluster.server.restore(changes, noticed);
        self.referee.jump(&jumps);
        self.hall.look_again();
    }

    pub(super) fn delete_backend_object(&self, pick: u64) {
        let objects = self.cluster.backend_objects();
        if let Some((kind, object)) = choose(pick, &objects) {
            self.user.delete(kind, object.name());
        }
    }

    /// All faults end.
    pub(super) fn end_faults(&mut self) {
        self.former.clear();
        clock::set_wrong(0);
    }
}

/// What the referee has to know of a plan.
pub(super) fn past(plan: &Plan) -> Past {
    let mut past = Past::new(staleness(plan), longest_trip(&plan.weather), plan.lost_after);
    past.limited = plan.quota.is_some();
    past.has_backend = plan.backend.is_some();
    past.overlaps = plan.has(Fault::Overlap);
    past.skew = plan.skew();
    // Before it acts because of a node, the operator has to read it.
    past.node_staleness = usual_staleness(plan) + CONFIRMED;
    past
}

/// How old may be what the operator goes by.
fn staleness(plan: &Plan) -> Duration {
    let mut time = usual_staleness(plan);
    if plan.has(Fault::Overlap) {
        time += OVERLAP;
    }
    if plan.has(Fault::Silence) || plan.has(Fault::SilentNodes) {
        time += SILENCE + RETRIES;
    }
    if plan.has(Fault::RestoreUnnoticed) {
        time += UNNOTICED;
    }
    time
}

fn usual_staleness(plan: &Plan) -> Duration {
    let weather = &plan.weather;
    let mut time = FRESH + weather.lag + longest_trip(weather) * 2;
    if plan.has_stalls() {
        time += LONGEST_STALL;
    }
    if weather.is_rough() || plan.has(Fault::Outage) || plan.has(Fault::Restore) {
        time += RETRIES;
    }
    time
}
