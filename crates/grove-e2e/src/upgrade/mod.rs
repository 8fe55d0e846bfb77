//! `make upgrade FROM=COMMIT`: another build of the operator is exchanged for this one and back while 1,000 pods run. No pod may
//! notice; what is written is told. Then the same for objects as upstream Grove leaves them.

mod build;
mod fleet;
mod report;
mod step;
mod upstream;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use self::build::Build;
use crate::{
    cluster::{Cluster, Gates, Options, Programs, Scheduler, Simulated},
    nodes::Hall,
    operator::{Operator, OperatorOptions},
};

/// What to exchange.
#[derive(Clone, Debug, clap::Args)]
pub struct UpgradeOptions {
    /// The commit whose operator was there before; its sources are built in a folder of their own.
    #[arg(long)]
    pub from: String,
    /// Replicas of the set; each has 40 pods in four gangs.
    #[arg(long, default_value_t = 25)]
    pub replicas: usize,
    /// Where builds of other commits are kept, and the cluster's files while it runs.
    #[arg(long, default_value = "target/upgrade")]
    pub folder: PathBuf,
}

/// Who made what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// The operator that was there before.
    Before,
    /// Upstream Grove, as far as its objects differ from ours.
    Upstream,
}

/// Runs both, each on a cluster of its own. Whether no pod noticed.
pub async fn run(options: UpgradeOptions) -> Result<bool> {
    let folder = std::path::absolute(&options.folder)?;
    let before = Build::of_commit(&folder, &options.from).await?;
    let here = Build::here()?;
    let mut is_well = true;
    for made in [Made::Before, Made::Upstream] {
        is_well &= on_cluster(&folder.join("cluster"), options.replicas, made, &before, &here).await?;
    }
    Ok(is_well)
}

async fn on_cluster(
    folder: &Path,
    replicas: usize,
    made: Made,
    before: &Build,
    here: &Build,
) -> Result<bool> {
    let programs = Programs::find(Scheduler::Kube.name()).await?;
    let options = Options {
        folder: folder.to_owned(),
        gates: Gates::All,
        scheduler: Scheduler::Kube,
        simulated: Simulated::Nodes,
    };
    let cluster = Cluster::start(options, programs).await?;
    let exchanged = exchange(&cluster, replicas, made, before, here).await;
    let stopped = cluster.stop().await;
    // Where it failed, the logs stay.
    let is_well = exchanged.with_context(|| format!("all logs: less {}/log/*.log", folder.display()))?;
    stopped?;
    if is_well {
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(is_well)
}

async fn exchange(
    cluster: &Cluster,
    replicas: usize,
    made: Made,
    before: &Build,
    here: &Build,
) -> Result<bool> {
    let first = if made == Made::Before { before } else { here };
    first.install(&cluster.client).await?;
    Hall::racks(25).nodes(4).gpus(0).create(&cluster.client, Scheduler::Kube).await?;
    // Pods of upstream are in no group of the scheduler.
    let plain = OperatorOptions { gang_scheduling: false, ..OperatorOptions::on(Scheduler::Kube) };
    let options = if made == Made::Before { OperatorOptions::default() } else { plain };
    let mut operator = Operator::start(cluster, step::options(first, options)).await?;
    fleet::create(cluster, replicas).await?;
    step::until_quiet(&mut cluster.tail()?).await?;
    operator.stop().await?;
    match made {
        Made::Before => anstream::println!("\n{}, made by {}", fleet::words(replicas), before.name),
        Made::Upstream => {
            upstream::rewrite(&cluster.client).await?;
            anstream::println!("\n{}, in the shape of upstream Grove", fleet::words(replicas));
        }
    }
    let pods = fleet::uids(&cluster.client).await?;
    let mut is_well = true;
    for (number, build) in [here, before].into_iter().enumerate() {
        let writes = step::run(cluster, build, number).await?;
        let after = fleet::uids(&cluster.client).await?;
        is_well &= report::tell(&build.name, &writes, &pods, &after);
    }
    Ok(is_well)
}
