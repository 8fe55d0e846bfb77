//! The scheduler backends as this cluster has them: probed, initialised, retried.
//!
//! `grove-probe` asks the cluster, `state` is what is known of each backend, `supervise` keeps it true; `report` says it in
//! SchedulerBackend objects, `metrics` counts. `tree` is a gang as schedulers see it, `fit` what a scheduler makes of a
//! set.

mod fit;
#[cfg(test)]
pub(crate) mod fixture;
mod metrics;
pub(crate) mod report;
mod state;
mod supervise;
mod tree;

pub(crate) use self::metrics::Operation;
pub use self::{fit::fit, metrics::BackendMetrics, tree::tree_of};
pub(crate) use self::{
    fit::passed_over,
    state::{Backends, Epochs, OwnTopology, Readiness, Ready},
    supervise::{Surroundings, supervise},
};
