//! `grove operator`: the operator itself.

use std::{io, path::PathBuf, sync::Arc};

use clap::Args;
use grove_operator::{Concurrency, Operator, Schedulers, Settings};

use crate::{
    cli::Outcome,
    commands::config::load_configuration,
    findings::{Format, Report},
    input,
};

/// Run the operator.
#[derive(Args)]
#[command(after_help = "Example:\n  grove operator --config operator.yaml")]
pub(crate) struct OperatorCommand {
    /// The operator's configuration.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,

    /// How to reach the cluster; default: KUBECONFIG, ~/.kube/config, or the pod's own account.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

impl OperatorCommand {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        let mut report = Report::default();
        let Some(loaded) = load_configuration(&input::read_file(&self.config)?, &mut report) else {
            report.print(Format::default())?;
            return Ok(Outcome::Unusable);
        };
        tracing_subscriber::fmt().with_writer(std::io::stderr).init();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async move {
            let mut config = kube::Config::infer().await.map_err(io::Error::other)?;
            config.default_retry = false;
            let client = kube::Client::try_from(config).map_err(io::Error::other)?;
            let c = &loaded.config.controllers;
            let settings = Settings {
                concurrency: Concurrency {
                    sets: c.pod_clique_set.concurrent_syncs as usize,
                    groups: c.pod_clique_scaling_group.concurrent_syncs as usize,
                    cliques: c.pod_clique.concurrent_syncs as usize,
                    gangs: c.pod_gang.concurrent_syncs as usize,
                },
                schedulers: Schedulers::new(&loaded.profiles),
                topology_aware: loaded.config.topology_aware(),
                clock: k8s_openapi::jiff::Timestamp::now,
            };
            let stop = tokio_util::sync::CancellationToken::new();
            let writer = grove_runtime::Writer::new(client.clone(), "grove-operator");
            let events = grove_runtime::Events::start(&writer, "grove-operator".into(), "x".into(), stop.clone());
            let operator = Arc::new(Operator::new(client, events, settings, &Default::default(), &Default::default()));
            let w = Arc::clone(&operator);
            let s = stop.clone();
            tokio::spawn(async move { w.watch(s).await });
            operator.work(stop).await;
            Ok(Outcome::Success)
        })
    }
}
