//! How long one reconcile begins writes.
//!
//! A set of thousands of PodCliques, or a gang of thousands of pods, would keep a worker until the deadline of a reconcile, and a
//! few of them all workers of a controller. So a reconcile begins writes for some seconds, and is queued again behind others.

use std::time::Duration;

use grove_runtime::Outcome;
use tokio::time::Instant;

use super::SOON;

/// How long one reconcile begins writes.
const SLICE: Duration = Duration::from_secs(5);

/// The time of one reconcile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    begun: Instant,
}

/// How much of what was asked for was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    All,
    /// Time was up, or the operator stops.
    Some,
}

impl Progress {
    pub(super) fn is_all(self) -> bool {
        self == Self::All
    }
}

impl Slice {
    /// Begins now.
    pub(super) fn begin() -> Self {
        Self { begun: Instant::now() }
    }

    /// Whether nothing more may be begun.
    pub(super) fn is_over(self) -> bool {
        self.begun.elapsed() >= SLICE
    }

    /// The rest is begun by a later reconcile, behind those that wait. No failure: the delay does not grow.
    pub(super) fn again() -> Outcome {
        Outcome::After(SOON)
    }
}
