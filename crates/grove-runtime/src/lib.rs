//! What kube's runtime lacks: informers with indexes and true deletions, work queue, leader election, transport, health, telemetry.

pub mod cache;
pub mod events;
mod guarded;
pub mod health;
pub mod informer;
mod jitter;
pub mod leader;
pub mod metrics;
#[cfg(test)]
mod mock;
mod process;
pub mod queue;
pub mod shutdown;
pub mod telemetry;
pub mod throttle;
pub mod transport;
pub mod version;
pub mod workers;
pub mod writer;

pub use cache::{Cache, Cached, Change, Index};
pub use events::{EventKind, Events};
pub use informer::{inform, inform_guarded};
pub use leader::{Election, Leadership, campaign};
pub use metrics::{EventMetrics, InformerMetrics, LeaderMetrics, QueueMetrics, RequestMetrics};
pub use queue::Queue;
pub use telemetry::Metrics;
pub use throttle::{Lane, Throttle};
pub use transport::{ConnectError, connect};
pub use workers::{Failure, Outcome, work};
pub use writer::{Delete, Deleted, Propagation, WriteError, Writer};
