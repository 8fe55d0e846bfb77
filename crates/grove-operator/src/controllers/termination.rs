//! Restarts of a part of a set as a whole, one decision at a time: notes them on its cliques. Each clique then deletes its
//! old pods by itself.

use std::time::Duration;

use futures::{StreamExt, stream};
use grove_api::{
    constants::{
        events::{children as reasons, restart_policy as by_policy},
        restarts,
    },
    wire::{PodCliqueSet, PodCliqueStatus},
};
use grove_plan::{
    restart::{self, Restart, Unit},
    status::{SetReport, status_patch},
    termination::{self, TerminationPlan},
};
use grove_runtime::{EventKind, Failure};
use tracing::info;

use super::{Grove, IN_FLIGHT, version};
use crate::{error::Error, key::Key};

impl Grove {
    /// Restarts what failed, and what has been below its minimum for too long. When to look again, where nothing changes.
    pub(super) async fn terminate(&self, report: &SetReport<'_>) -> Result<Option<Duration>, Error> {
        let begun = restart::unfinished(&report.cliques);
        for restart in &begun {
            self.restart(report, restart).await?;
        }
        // What was just noted is looked at anew before anything else is decided.
        if !begun.is_empty() {
            return Ok(None);
        }
        // It knows the cause and restarts no more than that concerns, so it comes first.
        let by_policy = self.restart_by_policy(report).await?;
        let plan = if by_policy.restarts.is_empty() {
            termination::plan(report)
        } else {
            TerminationPlan::default()
        };
        for restart in &plan.restarts {
            self.restart(report, restart).await?;
        }
        let next = [plan.next, by_policy.next].into_iter().flatten().min().map(|it| self.until(it));
        // One restart at a time: what was just noted is looked at anew first.
        if !plan.restarts.is_empty() || !by_policy.restarts.is_empty() {
            return Ok(next);
        }
        Ok(next.into_iter().chain(self.place_anew(report).await?).min())
    }

    /// Notes a restart on every clique of its unit.
    pub(super) async fn restart(&self, report: &SetReport<'_>, restart: &Restart) -> Result<(), Error> {
        let set = report.set;
        info!(set = ?Key::of(set), unit = %restart.unit, reason = restart.reason, "restarting");
        let result = self.note(report, &restart.cliques, |old| restart.noted(old)).await;
        self.tell_of_restart(set, restart, result.as_ref().err());
        result
    }

    /// Changes the status of these cliques.
    pub(super) async fn note(
        &self,
        report: &SetReport<'_>,
        cliques: &[String],
        change: impl Fn(Option<&PodCliqueStatus>) -> PodCliqueStatus,
    ) -> Result<(), Error> {
        let mut patches = Vec::new();
        for clique in cliques.iter().filter_map(|it| report.cliques.get(it.as_str())) {
            let clique = clique.clique;
            let old = clique.status.as_ref();
            patches.push((Key::of(clique), status_patch(old, &change(old), version(clique))));
        }
        let mut writes = stream::iter(patches)
            .map(|(key, patch)| async move {
                let noted = self.writer.patch_status(&key.namespace, &key.name, &patch).await?;
                self.seen.cliques.cache.written(noted);
                Ok::<(), Error>(())
            })
            .buffer_unordered(IN_FLIGHT);
        let mut failed = None;
        while let Some(result) = writes.next().await {
            if let Err(error) = result {
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(()), Err)
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
