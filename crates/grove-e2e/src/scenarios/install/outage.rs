//! Users who write sets all the time, and for how long they are refused.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use grove_api::wire::PodCliqueSet;
use kube::{Api, api::PostParams};
use tokio::{
    sync::oneshot::{self, error::TryRecvError},
    task::JoinHandle,
    time::sleep,
};

use super::life::LARGE;
use crate::{scenario::Context, scenarios::operator::stage};

/// Between two sets.
const PAUSE: Duration = Duration::from_millis(20);
/// Longer than any outage that is allowed.
const LONGEST: Duration = Duration::from_mins(1);

/// What users saw.
#[derive(Clone, Debug, Default)]
pub(super) struct Outage {
    /// Sets that were written.
    pub(super) count: usize,
    /// Of these, refused.
    pub(super) refused: usize,
    /// The longest time in which all were refused: from the first that was until the next that was not.
    pub(super) longest: Duration,
    /// Since when all are refused.
    since: Option<Instant>,
    /// The words of the last refusal.
    words: String,
}

impl Outage {
    fn note(&mut self, began: Instant, ended: Instant, refusal: Option<String>) {
        self.count += 1;
        let since = match refusal {
            Some(words) => {
                (self.refused, self.words) = (self.refused + 1, words);
                Some(*self.since.get_or_insert(began))
            }
            None => self.since.take(),
        };
        self.longest = self.longest.max(since.map_or(Duration::ZERO, |it| ended - it));
    }
}

impl std::fmt::Display for Outage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} sets refused, for {:.1?} at most", self.refused, self.count, self.longest)?;
        if self.refused > 0 { write!(f, ", last: {}", self.words) } else { Ok(()) }
    }
}

/// A user's set of 1,000 pods, to be created by a dry run, which admission answers as any other request.
pub(super) fn users_set(context: &Context) -> Result<PodCliqueSet> {
    let mut set = stage::set(LARGE)?;
    set.metadata.name = Some("user".to_owned());
    // Defaulting has put it into another one.
    set.metadata.namespace = Some(context.namespace.clone());
    Ok(set)
}

/// Creates one set after the other, by dry runs.
pub(super) struct Users {
    stop: oneshot::Sender<()>,
    writing: JoinHandle<Outage>,
}

impl Users {
    /// From now on. The first set has to be admitted: what is refused later is an outage.
    pub(super) async fn start(context: &Context) -> Result<Self> {
        let sets: Api<PodCliqueSet> = Api::namespaced(context.client(), &context.namespace);
        let (set, dry) = (users_set(context)?, PostParams { dry_run: true, ..PostParams::default() });
        sets.create(&dry, &set).await.context("before the outage")?;
        let (stop, mut stopped) = oneshot::channel();
        let writing = tokio::spawn(async move {
            let mut outage = Outage::default();
            // An outage that lasts until the end of the disruption is measured to its own end, or until it is too long.
            while stopped.try_recv() == Err(TryRecvError::Empty)
                || outage.since.is_some_and(|it| it.elapsed() < LONGEST)
            {
                let began = Instant::now();
                let refusal = sets.create(&dry, &set).await.err().map(|it| it.to_string());
                outage.note(began, Instant::now(), refusal);
                sleep(PAUSE).await;
            }
            outage
        });
        Ok(Self { stop, writing })
    }

    /// What they saw until now.
    pub(super) async fn stop(self) -> Result<Outage> {
        // The receiver is gone if it has ended already.
        let _ = self.stop.send(());
        self.writing.await.context("it panicked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_lasts_until_the_next_set_is_admitted() {
        let (start, mut outage) = (Instant::now(), Outage::default());
        let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
        let no = || Some("no".to_owned());
        outage.note(at(0), at(10), None);
        assert_eq!(outage.longest, Duration::ZERO);
        outage.note(at(100), at(110), no());
        outage.note(at(200), at(210), no());
        outage.note(at(300), at(400), None);
        outage.note(at(500), at(510), None);
        assert_eq!((outage.count, outage.refused), (5, 2));
        assert_eq!(outage.longest, Duration::from_millis(300));
        outage.note(at(600), at(610), no());
        assert_eq!(outage.longest, Duration::from_millis(300));
    }
}
