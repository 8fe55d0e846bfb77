//! The commands and their arguments.

use std::{io, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::commands::{
    completions::Completions, config::ConfigCommand, crds::Crds, manifests::Manifests,
    operator::OperatorCommand, status::Status, validate::Validate,
};

/// Grove runs AI systems made of many cooperating pods on Kubernetes.
#[derive(Parser)]
#[command(name = "grove", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 all is well, 1 something was found, 2 the input or arguments cannot be used."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Validate(Validate),
    #[command(subcommand)]
    Config(ConfigCommand),
    Crds(Crds),
    Manifests(Box<Manifests>),
    Operator(OperatorCommand),
    Status(Status),
    Completions(Completions),
}

impl Cli {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        match self.command {
            Command::Validate(command) => command.run(),
            Command::Config(command) => command.run(),
            Command::Crds(command) => command.run(),
            Command::Manifests(command) => command.run(),
            Command::Operator(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Completions(command) => command.run(),
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// All is well.
    Success,
    /// Something was found.
    Findings,
    /// The input cannot be used.
    Unusable,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Success => 0,
            Outcome::Findings => 1,
            Outcome::Unusable => 2,
        })
    }
}
