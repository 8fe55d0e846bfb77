//! The commands and their arguments.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use grove_podgrouper::Hub;
use grove_runtime::object_name::is_path_segment;
use grove_scheduler::Registry;

use crate::commands::{
    backends::Backends,
    bundle::Bundle,
    completions::Completions,
    config::ConfigCommand,
    crds::Crds,
    group::GroupCommand,
    manifests::{Manifests, chart::ChartCommand},
    operator::OperatorCommand,
    plan::Plan,
    pod_grouper::PodGrouperCommand,
    rollout::Rollout,
    status::Status,
    topology::Topology,
    validate::Validate,
    why::Why,
};
#[cfg(feature = "sandbox")]
use crate::commands::{down::Down, up::Up};
#[cfg(feature = "sandbox")]
use crate::commands::{sandbox::Sandbox, tour::TourCommand};

/// Manage and inspect Grove: gang-scheduled AI workloads on Kubernetes.
#[derive(Parser)]
#[command(name = "grove", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 success, 1 problems found, 2 unusable input or arguments.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "sandbox")]
    Up(Box<Up>),
    #[cfg(feature = "sandbox")]
    Down(Down),
    Validate(Validate),
    Plan(Box<Plan>),
    #[command(subcommand)]
    Config(ConfigCommand),
    Crds(Crds),
    Manifests(Box<Manifests>),
    #[command(hide = true)]
    Chart(ChartCommand),
    Operator(OperatorCommand),
    #[command(name = "podgrouper")]
    PodGrouper(PodGrouperCommand),
    #[command(subcommand)]
    Rollout(Rollout),
    Status(Status),
    Why(Why),
    Group(GroupCommand),
    Backends(Backends),
    Topology(Topology),
    Bundle(Bundle),
    #[cfg(feature = "sandbox")]
    Tour(TourCommand),
    #[cfg(feature = "sandbox")]
    #[command(subcommand)]
    Sandbox(Sandbox),
    Completions(Completions),
}

impl Cli {
    pub(crate) fn run(self, registry: &Registry, hub: Hub) -> io::Result<Outcome> {
        match self.command {
            #[cfg(feature = "sandbox")]
            Command::Up(command) => command.run(registry, &hub),
            #[cfg(feature = "sandbox")]
            Command::Down(command) => command.run(),
            Command::Validate(command) => command.run(registry),
            Command::Plan(command) => command.run(registry),
            Command::Config(command) => command.run(registry),
            Command::Crds(command) => command.run(),
            Command::Manifests(command) => command.run(registry, &hub),
            Command::Chart(command) => command.run(registry, &hub),
            Command::Operator(command) => command.run(registry),
            Command::PodGrouper(command) => command.run(registry, hub),
            Command::Rollout(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Why(command) => command.run(registry),
            Command::Group(command) => command.run(&hub),
            Command::Backends(command) => command.run(registry),
            Command::Topology(command) => command.run(),
            Command::Bundle(command) => command.run(registry),
            #[cfg(feature = "sandbox")]
            Command::Tour(command) => command.run(registry, &hub),
            #[cfg(feature = "sandbox")]
            Command::Sandbox(command) => command.run(),
            Command::Completions(command) => command.run(),
        }
    }
}

/// The name of an object or a namespace, as an argument: it becomes a part of a path.
pub(crate) fn object_name(text: &str) -> Result<String, String> {
    if is_path_segment(text) { Ok(text.to_owned()) } else { Err("is not a name of an object".to_owned()) }
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

/// Prints all that a command has to say.
pub(crate) fn print(text: &str) -> io::Result<Outcome> {
    // anstream drops the colours where nobody would see them, and obeys NO_COLOR.
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Outcome::Success)
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
