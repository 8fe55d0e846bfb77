//! Grove's controllers: what they see, what they do, how they are wired. What they decide is in `grove-plan`.
//!
//! `seen` holds the caches; `wake` says which controller a change concerns; `controllers` have one module for each
//! kind, with observe, plan and act in this order; `start` puts them
//! together, `takeover` comes before it leads, and `process` makes a process of it. `admission` answers the API server's questions, with the certificate
//! that `certificates` keeps.

pub mod admission;
mod backends;
pub mod certificates;
mod controllers;
mod error;
mod init_image;
mod key;
mod kueue;
mod memory;
mod metrics;
mod process;
pub mod rights;
mod seen;
mod start;
mod takeover;
mod wake;

pub use grove_plan::{allotment::Caps, node_loss::Patience};

pub use self::{
    backends::{BackendMetrics, fit, tree_of},
    error::Error,
    key::Key,
    metrics::OperatorMetrics,
    process::{MINIMUM_KUBERNETES, Options, RunError, run, run_until},
    seen::PodView,
    start::{Concurrency, Operator, RECONCILES_END, Settings, WRITES_END},
};
