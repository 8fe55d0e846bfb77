//! `grove completions`: scripts for shells.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::{Cli, Outcome};

/// Print a completion script for a shell.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  grove completions bash > /etc/bash_completion.d/grove\n  source <(grove completions zsh)"
)]
pub(crate) struct Completions {
    /// Shell to generate the script for.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "grove", &mut script);
        io::stdout().write_all(&script)?;
        Ok(Outcome::Success)
    }
}
