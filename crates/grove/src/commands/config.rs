//! `grove config`: the operator's configuration file.

use std::{io, path::PathBuf};

use clap::{Args, Subcommand};
use grove_api::{
    config::{self, Loaded},
    manifest,
};
use grove_scheduler::Registry;

use crate::{
    cli::Outcome,
    findings::{Format, Report},
    input::{self, Source},
};

/// Check operator configurations.
#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    Check(Check),
}

/// Check an operator configuration offline.
#[derive(Args)]
#[command(after_help = "Example:\n  grove config check operator.yaml")]
pub(crate) struct Check {
    /// Configuration file.
    file: PathBuf,

    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

impl ConfigCommand {
    pub(crate) fn run(self, registry: &Registry) -> io::Result<Outcome> {
        let Self::Check(command) = self;
        let mut report = Report::default();
        load_configuration(&input::read_file(&command.file)?, registry, &mut report);
        report.print(command.output)
    }
}

/// Reads a configuration; what is wrong or deprecated in it goes to `report`.
pub(crate) fn load_configuration(
    source: &Source,
    registry: &Registry,
    report: &mut Report,
) -> Option<Loaded> {
    let mut documents = match manifest::parse(&source.text) {
        Ok(documents) => documents,
        Err(error) => {
            report.unreadable(source, &error);
            return None;
        }
    };
    if documents.len() != 1 {
        let message = format!("the file has {} documents; an operator configuration is one", documents.len());
        report.unreadable(source, &manifest::ParseError { line: None, message });
        return None;
    }
    let document = documents.remove(0);
    report.checked += 1;
    match registry.with_known(|known| config::load(&document.value, known)) {
        Ok(loaded) => {
            report.warnings(source, &document, loaded.warnings.clone());
            Some(loaded)
        }
        Err(errors) => {
            report.errors(source, &document, errors);
            None
        }
    }
}
