//! What an operator needs besides kube's client: it watches, decides when to work, and writes. Knows no kind of Grove.
//!
//! * What is known: [`cache`] (reads our own writes, has indexes, tells listeners) filled by [`informer`].
//! * When to work: [`queue`] served by [`workers`].
//! * How to write: [`writer`], [`applier`] (whole sets of objects for an owner) and [`events`], through [`throttle`] and [`transport`].
//! * How to ask where nobody answers at once: [`patience`].
//! * What of a user's words may stand in a path: [`object_name`].
//! * The process around it: [`leader`], [`listener`] (with [`bearer`] and [`fair_semaphore`]) for [`health`], [`metrics`] and [`profiles`], [`telemetry`], [`version`], [`shutdown`].
//!
//! Clocks are tokio's, so that tests can pause them. Nothing here sleeps in order to wait for something else.

pub mod applier;
pub mod bearer;
pub mod cache;
pub mod events;
pub mod fair_semaphore;
mod guarded;
pub mod health;
pub mod informer;
mod jitter;
pub mod leader;
pub mod listener;
pub mod metrics;
#[cfg(test)]
mod mock;
pub mod object_name;
pub mod patience;
mod process;
pub mod profiles;
pub mod queue;
mod round_robin;
mod scrape;
pub mod shutdown;
pub mod telemetry;
pub mod throttle;
pub mod transport;
mod unfinished;
pub mod version;
pub mod workers;
pub mod writer;

pub use applier::{Applied, Applier, ApplyError, Changed, Owner, Rendered, differ_in_status_only};
pub use cache::{Cache, Cached, Change, Index, Stored, Undecodable};
pub use events::{EventKind, Events};
pub use informer::{History, inform, inform_guarded};
pub use jitter::seed_delays;
pub use leader::{Election, Fence, Handover, Term, lead};
pub use metrics::{EventMetrics, InformerMetrics, LeaderMetrics, QueueMetrics, RequestMetrics};
pub use patience::patiently;
pub use queue::{Queue, QueueKey, Switch};
pub use telemetry::Metrics;
pub use throttle::{Lane, Throttle, ThrottleMetrics};
pub use transport::{ConnectError, cluster_config, connect};
pub use workers::{Failure, Outcome, work};
pub use writer::{Delete, Deleted, OwnedWrites, Propagation, Revision, WriteError, Writer};
