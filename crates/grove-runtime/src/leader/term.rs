//! The life of a process under leader election: it follows, leads for a term, and follows again.

#[cfg(test)]
mod tests;

use kube::Client;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{BadTiming, Election, Fence, campaign};
use crate::metrics::LeaderMetrics;

/// One time as the leader. Work goes on until it [ends](Term::ended).
#[derive(Clone, Debug, Default)]
pub struct Term {
    stop: CancellationToken,
    lost: CancellationToken,
}

impl Term {
    /// A term without an election, which lasts until `stop`.
    pub fn until(stop: CancellationToken) -> Self {
        Self { stop, lost: CancellationToken::new() }
    }

    /// Waits until work has to end.
    pub async fn ended(&self) {
        tokio::select! {
            biased;
            () = self.lost.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Runs `work` until the term ends; `None` if it ends first.
    pub async fn run<F: Future>(&self, work: F) -> Option<F::Output> {
        tokio::select! {
            biased;
            () = self.ended() => None,
            done = work => Some(done),
        }
    }

    /// Cancelled when another process may lead: what is under way has to be dropped. A term that merely ends finishes it.
    pub fn lost(&self) -> &CancellationToken {
        &self.lost
    }
}

/// How the work of a term ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// No write is under way: another process may lead at once.
    Idle,
    /// A write has no answer yet and may still be carried out: nothing is released, and the lease runs out.
    WritesUnderWay,
}

/// Follows and leads in turn until `stop`; without an election it leads all the time. `work` is called for each term, and
/// has to return when the term ends. Writes of `work` go through a client behind `fence`.
///
/// A term ends early when the lease has another holder, or cannot be renewed in time because the API server does not
/// answer. The process follows then, keeps its caches and serves admission, and contends again. When it stops, the lease is
/// released after the last write; where one has no answer yet, the lease runs out instead.
pub async fn lead<W, F>(
    client: Client,
    election: Option<Election>,
    fence: &Fence,
    metrics: &LeaderMetrics,
    stop: &CancellationToken,
    work: W,
) -> Result<(), BadTiming>
where
    W: Fn(Term) -> F,
    F: Future<Output = Handover>,
{
    let Some(election) = election else {
        fence.open();
        work(Term::until(stop.clone())).await;
        return Ok(());
    };
    metrics.leads(&election.name, false);
    while let Some(leadership) = campaign(client.clone(), &election, fence, stop).await? {
        metrics.leads(&election.name, true);
        let term = Term { stop: stop.clone(), lost: leadership.lost() };
        let ended = work(term.clone()).await;
        metrics.leads(&election.name, false);
        if term.lost().is_cancelled() {
            continue;
        }
        match ended {
            Handover::Idle => leadership.release().await,
            Handover::WritesUnderWay => {
                warn!("the lease is not released, because a write is still under way");
            }
        }
        break;
    }
    Ok(())
}
