//! `grove sandbox`: makes simulated nodes and pods fail, and brings them back.
//!
//! `node` and `pod` are the commands; `simulated` makes sure that what is acted upon is simulated.

mod node;
mod pod;
mod simulated;
#[cfg(test)]
mod tests;

use std::io;

use clap::Subcommand;

use self::{node::NodeCommand, pod::PodCommand};
use crate::{
    cli::{Outcome, print},
    cluster::block_on,
    program::complain,
};

/// Make simulated nodes and pods fail, and bring them back.
#[derive(Subcommand)]
#[command(after_help = "Examples:\n  \
    grove sandbox node lose rack-0-node-0\n  \
    grove sandbox node return rack-0-node-0\n  \
    grove sandbox pod crash chat-0-router-0\n\n\
    Only nodes that Grove simulates, and pods on them, are touched: spec.providerID begins with sandbox://.\n\n\
    Exit codes: 0 success, 1 no such node or pod, or it is not simulated, 2 the cluster cannot be reached.")]
pub(crate) enum Sandbox {
    #[command(subcommand)]
    Node(NodeCommand),
    #[command(subcommand)]
    Pod(PodCommand),
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Done {
    /// It is done, and this follows.
    Said(String),
    /// It is done in part; what is not, and why.
    InPart(String),
    /// Nothing was written, for this reason.
    Refused(String),
}

impl Sandbox {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        let done = block_on(async {
            match self {
                Self::Node(command) => command.run().await,
                Self::Pod(command) => command.run().await,
            }
        })?;
        match done {
            Done::Said(text) => print(&format!("{text}\n")),
            Done::InPart(text) => print(&format!("{text}\n")).map(|_| Outcome::Findings),
            Done::Refused(why) => {
                complain(format_args!("{why}"));
                Ok(Outcome::Findings)
            }
        }
    }
}
