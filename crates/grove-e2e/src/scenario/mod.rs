//! Scenarios: what they are, what they may say, how they are run.

mod artefacts;
mod cleanup;
mod context;
mod eventually;
mod evidence;
mod queue;
mod report;
mod retry;
mod run;
mod skips;
mod states;
mod tier;
mod turn;
mod watch_log;
mod words;

use std::{future::Future, pin::Pin};

use anyhow::Result;

pub(crate) use self::{
    artefacts::Artefacts, context::DEADLINE, eventually::eventually, skips::reason as skip_reason,
    watch_log::Change,
};
pub use self::{
    context::Context,
    run::{Selection, run},
    states::{GangState, PodState},
    tier::runs_on_sandbox,
    watch_log::{WatchLog, Watched},
};
use crate::cluster::{Gates, Scheduler};

/// The future of a running scenario.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// One scenario of the table.
pub struct Scenario {
    /// Begins with its area: `api_`, `gang_`, `rig_`, …
    pub name: &'static str,
    /// The clusters it runs on, one after the other.
    pub on: &'static [(Scheduler, Gates)],
    /// Only in `make e2e-full`.
    pub full_only: bool,
    /// What it does.
    pub run: for<'a> fn(&'a mut Context) -> Running<'a>,
}

impl Scenario {
    /// A scenario that runs on the stock scheduler with all features.
    pub(crate) const fn on_kube(name: &'static str, run: for<'a> fn(&'a mut Context) -> Running<'a>) -> Self {
        Self { name, on: &[(Scheduler::Kube, Gates::All)], full_only: false, run }
    }
}

/// Ends a scenario that cannot be shown on this scheduler. Allowed only if `e2e/skips.txt` says so.
#[derive(Debug)]
pub struct Skip(pub String);

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skip {}
