//! Grove on the command line, for whatever schedulers and kinds of workloads a binary brings along.

mod amount;
mod cli;
mod cluster;
mod columns;
mod commands;
mod demand;
mod described_topology;
mod findings;
#[cfg(feature = "sandbox")]
pub mod follow;
mod input;
#[cfg(feature = "sandbox")]
mod local;
mod printer;
mod program;
#[cfg(feature = "sandbox")]
pub mod tour;
#[cfg(feature = "sandbox")]
pub mod view;

use std::{io, process::ExitCode};

use grove_podgrouper::Hub;
use grove_scheduler::Registry;

/// Does what the arguments of the process ask for, with these scheduler backends.
pub fn run(registry: &Registry) -> ExitCode {
    run_with(registry, Hub::builtin())
}

/// Likewise, with these plugins of the pod grouper.
pub fn run_with(registry: &Registry, hub: Hub) -> ExitCode {
    match program::arguments().run(registry, hub) {
        Ok(outcome) => outcome.into(),
        // Whoever reads us has read enough (`grove crds | head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            program::complain(format_args!("{error}"));
            cli::Outcome::Unusable.into()
        }
    }
}
