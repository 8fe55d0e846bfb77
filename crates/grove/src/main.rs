//! Grove on the command line.

mod cli;
mod commands;
mod findings;
mod input;

use std::{io, process::ExitCode};

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(outcome) => outcome.into(),
        // Whoever reads us has read enough (`grove crds | head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("grove: {error}");
            cli::Outcome::Unusable.into()
        }
    }
}
