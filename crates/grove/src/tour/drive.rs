//! Runs a tour against a cluster.

use std::{fmt::Display, future::Future, time::Duration};

use tokio::time::{Instant, timeout};

use super::{
    machine::{Next, Said, Tour},
    script::Action,
    watched::Watched,
};

/// A cluster that a tour can be given in.
pub trait Cluster {
    /// Why something could not be done.
    type Error: Display;

    /// What is known now.
    fn watched(&self) -> Watched;

    /// Does something. It need not wait for what follows from it.
    fn act(&mut self, action: &Action) -> impl Future<Output = Result<(), Self::Error>>;

    /// Resolves when something that is watched has changed since the last call.
    fn changed(&mut self) -> impl Future<Output = ()>;
}

/// How a tour ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All steps were shown.
    Complete,
    /// A step took too long: what was waited for.
    TimedOut(String),
    /// An action failed, for this reason.
    Failed(String),
}

/// Gives the tour; `say` prints. Between what is said and what is done next, `pause` leaves time to read.
pub async fn drive<C: Cluster>(
    cluster: &mut C,
    mut tour: Tour,
    pause: Duration,
    mut say: impl FnMut(&Said),
) -> Ended {
    let start = Instant::now();
    loop {
        match tour.next(&cluster.watched(), start.elapsed()) {
            Next::Say(said) => {
                say(&said);
                if !matches!(said, Said::Title { .. }) {
                    tokio::time::sleep(pause).await;
                }
            }
            Next::Act(action) => {
                if let Err(error) = cluster.act(&action).await {
                    return Ended::Failed(error.to_string());
                }
            }
            Next::Wait(left) => drop(timeout(left, cluster.changed()).await),
            Next::Done => return Ended::Complete,
            Next::TimedOut(awaited) => return Ended::TimedOut(awaited),
        }
    }
}

#[cfg(test)]
mod tests;
