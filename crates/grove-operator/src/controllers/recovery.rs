//! Recovery: restarts parts of a set as a whole, one decision at a time. A restart is a note on every clique of its unit; each
//! clique then deletes its old pods by itself.
//!
//! It reads what cliques say of themselves and needs nothing of what the status of the set says: it goes on while that cannot be
//! written.

use futures::{StreamExt, stream};
use grove_api::{
    constants::{
        events::{children as reasons, restart_policy as by_policy},
        restarts,
    },
    wire::{PodCliqueSet, PodCliqueStatus},
};
use grove_plan::{
    recovery::{self, RecoveryPlan},
    restart::{Restart, Unit},
    restart_policy::Exhausted,
    status::{SetState, status_patch},
};
use grove_runtime::{EventKind, Failure, Outcome};
use tracing::info;

use super::{Grove, IN_FLIGHT, version};
use crate::{error::Error, key::Key};

impl Grove {
    pub(crate) async fn reconcile_recovery(&self, key: Key) -> Result<Outcome, Error> {
        let Some(set) = self.seen.sets.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        if set.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done);
        }
        if let Some(wait) = self.unobserved_wait(&set) {
            return Ok(Outcome::After(wait));
        }
        let children = self.children_of(&set);
        let observed = self.observe(&set, &children);
        match recovery::plan(&observed, self.node_loss.filter(|_| self.node_cache_is_current())) {
            RecoveryPlan::Wait(None) => Ok(Outcome::Done),
            RecoveryPlan::Wait(Some(next)) => Ok(Outcome::After(self.until(next))),
            RecoveryPlan::Finish(restarts) | RecoveryPlan::Restart(restarts) => {
                self.restart_all(&observed, &restarts).await
            }
            RecoveryPlan::Exhaust(units) => self.exhaust_all(&observed, &units).await,
        }
    }

    /// Restarts units. One that cannot be restarted keeps no other from it.
    async fn restart_all(&self, observed: &SetState<'_>, restarts: &[Restart]) -> Result<Outcome, Error> {
        let mut outcome = Ok(Outcome::Again);
        for restart in restarts {
            let set = observed.set;
            info!(set = ?Key::of(set), unit = %restart.unit, reason = restart.reason, "restarting");
            let result = self.note(observed, &restart.cliques, |old| restart.noted(old)).await;
            self.tell_of_restart(set, restart, result.as_ref().err());
            outcome = outcome.and_then(|again| result.map(|()| again));
        }
        outcome
    }

    /// Notes on every clique of these units that nothing restarts them any more.
    async fn exhaust_all(&self, observed: &SetState<'_>, units: &[Exhausted]) -> Result<Outcome, Error> {
        let mut outcome = Ok(Outcome::Again);
        for exhausted in units {
            let set = observed.set;
            info!(set = ?Key::of(set), unit = %exhausted.unit, "restart budget exhausted");
            let result = self.note(observed, &exhausted.cliques, |old| exhausted.noted(old)).await;
            // Told when all of them say so, whoever began it.
            if result.is_ok() {
                self.tell(set, EventKind::Warning, by_policy::EXHAUSTED, "Restart", exhausted.words.clone());
            }
            outcome = outcome.and_then(|again| result.map(|()| again));
        }
        outcome
    }

    /// Changes the status of these cliques.
    async fn note(
        &self,
        observed: &SetState<'_>,
        cliques: &[String],
        change: impl Fn(Option<&PodCliqueStatus>) -> PodCliqueStatus,
    ) -> Result<(), Error> {
        let mut patches = Vec::new();
        for clique in cliques.iter().filter_map(|it| observed.cliques.get(it.as_str())) {
            let clique = clique.clique;
            let old = clique.status.as_ref();
            patches.push((Key::of(clique), status_patch(old, &change(old), version(clique))));
        }
        let mut writes = stream::iter(patches)
            .map(|(key, patch)| self.patch_status(&self.seen.cliques.cache, None, key, patch))
            .buffer_unordered(IN_FLIGHT);
        let mut failed = None;
        while let Some(result) = writes.next().await {
            if let Err(error) = result {
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    fn tell_of_restart(&self, set: &PodCliqueSet, restart: &Restart, failed: Option<&Error>) {
        let (done, not_done) = match restart.unit {
            _ if restart.reason == restarts::RESTART_POLICY => {
                (by_policy::RESTARTED, by_policy::RESTART_FAILED)
            }
            Unit::SetReplica(_) => (reasons::SET_REPLICA_DELETED, reasons::SET_REPLICA_DELETE_FAILED),
            _ => (reasons::GROUP_REPLICA_DELETED, reasons::GROUP_REPLICA_DELETE_FAILED),
        };
        match failed {
            None => {
                self.metrics.pods.restarted(restart);
                let note = format!("{} is restarted ({}): {}", restart.unit, restart.reason, restart.words);
                self.tell(set, EventKind::Normal, done, "Restart", note);
            }
            // An expected failure says that the cache is behind: it is tried again.
            Some(error) if error.is_expected() => {}
            Some(error) => {
                let note = format!("{} cannot be restarted: {error}", restart.unit);
                self.tell(set, EventKind::Warning, not_done, "Restart", note);
            }
        }
    }
}
