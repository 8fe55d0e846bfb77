//! `grove operator`: the operator itself.

use std::{io, path::PathBuf, time::Duration};

use clap::Args;
use grove_api::wire::{DurationError, GoDuration};
use grove_operator::{Options, RunError, certificates::Lifetimes};
use grove_scheduler::Registry;

use crate::{
    cli::Outcome,
    commands::config::load_configuration,
    findings::{Format, Report},
    input,
    program::complain,
};

/// Threads that work. Nearly all time is spent waiting for the API server; more threads would cost memory.
const THREADS: usize = 2;

/// Run the operator.
#[derive(Args)]
#[command(after_help = "Example:\n  grove operator --config operator.yaml\n\n\
    Exit codes: 0 stopped by SIGTERM or Ctrl-C, 1 failed, 2 invalid configuration.")]
pub(crate) struct OperatorCommand {
    /// Operator configuration file; check it with `grove config check`.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,

    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, or the pod's service account].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Default topology for sets that name none; overrides the configuration.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    default_topology_name: String,

    /// How long the certificate of admission lives that the operator makes, for tests.
    #[arg(long, value_name = "DURATION", hide = true, value_parser = duration)]
    certificate_lifetime: Option<Duration>,

    /// Likewise for its authority.
    #[arg(long, value_name = "DURATION", hide = true, value_parser = duration)]
    authority_lifetime: Option<Duration>,
}

impl OperatorCommand {
    pub(crate) fn run(self, registry: &Registry) -> io::Result<Outcome> {
        let mut report = Report::default();
        let source = input::read_file(&self.config)?;
        let Some(mut loaded) = load_configuration(&source, registry, &mut report) else {
            report.print(Format::default())?;
            return Ok(Outcome::Unusable);
        };
        loaded.config = loaded.config.with_default_topology(&self.default_topology_name);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
        let usual = Lifetimes::default();
        let options = Options {
            kubeconfig: self.kubeconfig,
            lifetimes: Lifetimes {
                leaf: self.certificate_lifetime.unwrap_or(usual.leaf),
                authority: self.authority_lifetime.unwrap_or(usual.authority),
            },
        };
        let Err(error) = runtime.block_on(grove_operator::run(registry, loaded, options)) else {
            return Ok(Outcome::Success);
        };
        complain(format_args!("{error}"));
        Ok(match error {
            RunError::Unusable(_) => Outcome::Unusable,
            RunError::Failed(_) => Outcome::Findings,
        })
    }
}

pub(crate) fn duration(text: &str) -> Result<Duration, DurationError> {
    GoDuration::from(text).to_std()
}
