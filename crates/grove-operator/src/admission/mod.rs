//! Admission: what the API server asks before it stores an object.
//!
//! In the order data flows: `server` accepts connections, bounded by [`grove_runtime::listener`]; `intake` reads a review within
//! bounds, by its `weight`; `review` decodes it; `desk` gives it to one of `defaulting`, `validation` and `authorizer`, which are pure
//! functions of the request and of `knowledge`; `scaling` is about the replicas of cliques and groups; `scheduling` is what a
//! set's scheduler adds; `verdict` is the answer, and `metrics` counts it. No handler asks the API server; before a set is refused for a topology that
//! is in no cache, `intake` does (`live`), and the handler judges again.

mod authorizer;
mod defaulting;
mod desk;
mod intake;
mod knowledge;
mod live;
mod metrics;
mod review;
mod scaling;
mod scheduling;
mod server;
#[cfg(test)]
mod tests;
mod validation;
mod verdict;
mod weight;

pub(crate) use self::knowledge::Cluster;
pub use grove_runtime::listener::Limits;

pub use self::{
    authorizer::Authorizer,
    desk::Desk,
    knowledge::{Knowledge, Owner, Snapshot},
    live::{LiveTopology, Lookup},
    metrics::AdmissionMetrics,
    review::{Operation, Request},
    scaling::{Scaled, ScaledSet},
    scheduling::Scheduling,
    server::serve,
    verdict::Verdict,
};
