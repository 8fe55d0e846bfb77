//! The harness on the command line; `make up-real`, `make cluster-up`, `make cluster-down` and `make e2e` call it.

use std::{collections::BTreeSet, path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use grove_e2e::{
    bench::{self, BenchOptions},
    cluster::{self, Cluster, Detached, Gates, Options, Programs, Scheduler, Simulated},
    nodes::Hall,
    scenario::{self, Selection},
    scenarios,
    up::{self, UpOptions},
    upgrade::{self, UpgradeOptions},
};

/// A real Kubernetes control plane on loopback, and scenarios that run on it.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a cluster with simulated GPU racks and the operator, apply a sample and show where its pods run.
    Up(UpOptions),
    /// Start a cluster with simulated GPU racks and print how to use it.
    Cluster {
        /// Scheduler to run in addition to kube-scheduler.
        #[arg(long, value_enum, default_value_t)]
        scheduler: Scheduler,
        /// Feature gates of the control plane.
        #[arg(long, value_enum, default_value_t)]
        gates: Gates,
        /// Racks of simulated nodes.
        #[arg(long, default_value_t = 8)]
        racks: usize,
        /// Nodes in each rack.
        #[arg(long, default_value_t = 4)]
        nodes: usize,
        /// GPUs in each node.
        #[arg(long, default_value_t = 8)]
        gpus: usize,
        /// Folder for its files.
        #[arg(long, default_value = "target/cluster")]
        folder: PathBuf,
        /// Return when it is up; `down` stops it.
        #[arg(long)]
        detach: bool,
    },
    /// Stop the cluster that `cluster --detach` started.
    Down {
        /// Folder with its files.
        #[arg(long, default_value = "target/cluster")]
        folder: PathBuf,
    },
    /// Run scenarios.
    Run {
        /// Only scenarios whose name contains this.
        #[arg(long, default_value = "")]
        only: String,
        /// Only on these schedulers.
        #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Scheduler::Kube, Scheduler::Kai, Scheduler::Volcano])]
        schedulers: Vec<Scheduler>,
        /// Run the full matrix of schedulers and feature gates.
        #[arg(long)]
        full: bool,
        /// Clusters that run at the same time.
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
        clusters: u8,
        /// With --full: the page on which a run without failures is noted.
        #[arg(long, requires = "full")]
        record: Option<PathBuf>,
        /// Run failed scenarios again up to N times, on fresh clusters; those that pass then are listed as unstable.
        /// Where more than three failed, none is run again.
        #[arg(long, value_name = "N", default_value_t = 0)]
        retry: u8,
        /// Run what can be run on simulated clusters, each in one process, instead of real ones.
        #[arg(long, conflicts_with_all = ["full", "compat"])]
        sandbox: bool,
        /// Run scenarios on other projects' files, from the folder CORPUS.
        #[arg(long)]
        compat: bool,
        /// Folder for the files of running clusters and the logs of failed scenarios.
        #[arg(long, default_value = "target/e2e")]
        folder: PathBuf,
    },
    /// Measure the operator against a loop that only writes.
    Bench(BenchOptions),
    /// Upgrade and downgrade the operator under running pods and check that none is disturbed.
    Upgrade(UpgradeOptions),
    /// Serves a simulated cluster; internal.
    #[command(hide = true)]
    Sandbox {
        /// Folder with its certificates.
        #[arg(long)]
        folder: PathBuf,
        /// Port of the API server.
        #[arg(long)]
        port: u16,
        /// Without the scheduler.
        #[arg(long)]
        no_scheduler: bool,
    },
    /// Holds processes for another harness; internal.
    #[command(hide = true)]
    Reaper,
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let result = match command {
        Command::Reaper => cluster::reap().map(|()| true),
        other => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(Into::into)
            .and_then(|runtime| runtime.block_on(run(other))),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            anstream::eprintln!("grove-e2e: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn run(command: Command) -> Result<bool> {
    match command {
        Command::Up(options) => up::run(options).await.map(|()| true),
        Command::Cluster { scheduler, gates, racks, nodes, gpus, folder, detach } => {
            let folder = std::path::absolute(folder)?;
            if let Some(there) = cluster::detached(&folder) {
                anstream::println!("a cluster is up already");
                how_to(&there);
                return Ok(true);
            }
            if detach {
                // Built in the foreground, where its progress is seen.
                Programs::find(scheduler.name()).await?;
                let value = |it: Option<clap::builder::PossibleValue>| {
                    it.map(|it| it.get_name().to_owned()).unwrap_or_default()
                };
                let arguments = [
                    "cluster".to_owned(),
                    format!("--scheduler={}", value(scheduler.to_possible_value())),
                    format!("--gates={}", value(gates.to_possible_value())),
                    format!("--racks={racks}"),
                    format!("--nodes={nodes}"),
                    format!("--gpus={gpus}"),
                    format!("--folder={}", folder.display()),
                ];
                how_to(&Detached::launch(&folder, &arguments).await?);
                return Ok(true);
            }
            let programs = Programs::find(scheduler.name()).await?;
            let kubectl = programs.get("kubernetes", "kubectl");
            let cluster = Cluster::start(
                Options { folder: folder.clone(), gates, scheduler, simulated: Simulated::Nodes },
                programs,
            )
            .await?;
            Hall::racks(racks).nodes(nodes).gpus(gpus).create(&cluster.client, scheduler).await?;
            Detached::here(&folder, cluster.kubeconfig.clone(), kubectl)?;
            if let Some(here) = cluster::detached(&folder) {
                how_to(&here);
            }
            until_told_to_stop().await?;
            cluster.stop().await?;
            Ok(true)
        }
        Command::Down { folder } => {
            match cluster::detached(&std::path::absolute(folder)?) {
                Some(there) => there.stop().await?,
                None => anstream::println!("no cluster is up"),
            }
            Ok(true)
        }
        Command::Run { only, schedulers, full, sandbox, compat, folder, clusters, record, retry } => {
            let schedulers: BTreeSet<Scheduler> = schedulers.into_iter().collect();
            let whole = full && only.is_empty() && !compat && schedulers.len() == 3;
            let (folder, clusters) = (std::path::absolute(folder)?, usize::from(clusters));
            let selection =
                Selection { only, schedulers, full, sandbox, folder, clusters, whole, record, retry };
            scenario::run(if compat { scenarios::COMPAT } else { scenarios::ALL }, &selection).await
        }
        Command::Bench(options) => bench::run(options).await.map(|()| true),
        Command::Upgrade(options) => upgrade::run(options).await,
        Command::Sandbox { folder, port, no_scheduler } => {
            cluster::serve_sandbox(&folder, port, !no_scheduler, until_told_to_stop()).await.map(|()| true)
        }
        Command::Reaper => Ok(true),
    }
}

/// The three commands a person would type next.
fn how_to(cluster: &Detached) {
    let (kubeconfig, kubectl) = (cluster.kubeconfig.display(), cluster.kubectl.display());
    anstream::println!("kubeconfig: {kubeconfig}");
    anstream::println!("  export KUBECONFIG={kubeconfig}");
    anstream::println!("  {kubectl} get nodes -L topology.kubernetes.io/zone,topology.kubernetes.io/rack");
    anstream::println!("  make cluster-down");
}

async fn until_told_to_stop() -> Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result?,
        _ = terminate.recv() => {}
    }
    Ok(())
}
