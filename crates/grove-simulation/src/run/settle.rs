//! The end of a run: the cluster comes to rest, within a limit.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::{Instant, timeout};

use super::Stage;
use crate::rules::{Broken, Rule};

/// Without writes for this long the cluster is at rest.
pub(super) const QUIET: Duration = Duration::from_mins(10);
/// By then it has to be.
pub(super) const PATIENCE: Duration = Duration::from_hours(4);
/// How many of the most frequent writes a violation names.
const TOLD: usize = 5;

impl Stage {
    /// Waits until there are no more writes.
    pub(super) async fn settle(&mut self) -> Result<(), Broken> {
        let end = Instant::now() + PATIENCE;
        let mut last = self.cluster.server.store().write_count();
        loop {
            let store = self.cluster.server.store();
            let before = store.write_count();
            let changed = tokio::select! {
                biased;
                () = self.watchdog.alarm.notified() => true,
                changed = timeout(QUIET, store.changed_since(store.revision())) => changed.is_ok(),
            };
            self.wait(Duration::ZERO).await?;
            if !changed && self.cluster.server.store().write_count() == before {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(self.restless(last));
            }
            // A violation names the writes of the last hour.
            if Instant::now() + Duration::from_hours(1) < end {
                last = before;
            }
        }
    }

    /// Who still writes, and what is not as it should be.
    fn restless(&self, since: u64) -> Broken {
        let mut writes: BTreeMap<String, usize> = BTreeMap::new();
        for it in self.cluster.server.store().writes_since(since) {
            let part = it.subresource.map(|it| format!("/{it}")).unwrap_or_default();
            let words = format!("{} {} {} {}{part} ({})", it.manager, it.verb, it.resource, it.name, it.code);
            *writes.entry(words).or_default() += 1;
        }
        let mut writes: Vec<(String, usize)> = writes.into_iter().collect();
        writes.sort_by_key(|it| std::cmp::Reverse(it.1));
        let told: Vec<String> =
            writes.iter().take(TOLD).map(|(words, count)| format!("{count} times {words}")).collect();
        let state = match self.at_rest() {
            Ok(()) => "everything is as it should be".to_owned(),
            Err(broken) => format!("{} is not settled: {}", broken.rule, broken.words),
        };
        let told = told.join(", ");
        Rule::Rest
            .broken(format!("there are still writes after {PATIENCE:?} without troubles: {told}; {state}"))
    }

    /// Virtual time goes on.
    pub(super) fn goes_on(&self) -> Result<(), Broken> {
        if !self.watchdog.has_barked() {
            return Ok(());
        }
        let at = crate::clock::elapsed();
        let unsettled = self.at_rest().err().map(|it| it.words).unwrap_or_default();
        Err(Rule::Livelock
            .broken(format!("the run took too long and stands at {at:.0?} of its time; {unsettled}")))
    }
}
