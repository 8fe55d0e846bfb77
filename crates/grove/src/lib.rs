//! Grove on the command line, for whatever schedulers a binary brings along.

mod amount;
mod cli;
mod cluster;
mod columns;
mod commands;
mod findings;
mod input;
mod printer;

use std::{io, process::ExitCode};

use clap::Parser;
use grove_scheduler::Registry;

/// Does what the arguments of the process ask for, with these scheduler backends.
pub fn run(registry: &Registry) -> ExitCode {
    match cli::Cli::parse().run(registry) {
        Ok(outcome) => outcome.into(),
        // Whoever reads us has read enough (`grove crds | head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("grove: {error}");
            cli::Outcome::Unusable.into()
        }
    }
}
