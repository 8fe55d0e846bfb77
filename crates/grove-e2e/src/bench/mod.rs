//! `make bench-cluster`: how fast this control plane on this machine takes 1,000 pods in gangs from a client that does
//! nothing but write, and from the operator. No operator can be faster than the first; ours is held against it.

mod bare_loop;
mod figures;
mod ground;
mod machine;
mod managed;
mod pod_watch;
mod progress;
mod replica;
mod report;
mod write_count;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use self::{figures::Figures, machine::Machine};
use crate::cluster::{Cluster, Gates, Options, Programs, Scheduler, Simulated};

/// What a simulated node takes at most.
const PODS_PER_NODE: usize = 110;
/// The hall has racks of this size.
const NODES_PER_RACK: usize = 4;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct BenchOptions {
    /// Pods in all; a gang has two.
    #[arg(long, default_value_t = 1000)]
    pub pods: usize,
    /// Requests at the same time.
    #[arg(long, default_value_t = 32)]
    pub tasks: usize,
    /// When gangs are let go.
    #[arg(long, value_enum, default_value_t)]
    pub order: Order,
    /// Simulated nodes, in racks of four.
    #[arg(long, default_value_t = 100)]
    pub nodes: usize,
    /// The backends that the operator is measured with, one after the other.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Backend::Plain])]
    pub backends: Vec<Backend>,
    /// Where `cluster.json` goes, and the cluster's files while it runs.
    #[arg(long, default_value = "target/bench")]
    pub folder: PathBuf,
}

/// What the operator tells a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Backend {
    /// Nothing: pods of the stock scheduler, as the bare loop has them.
    Plain,
    /// The stock scheduler's groups.
    Kube,
    /// KAI's.
    Kai,
    /// Volcano's.
    Volcano,
}

impl Backend {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Kube => "kube",
            Self::Kai => "kai",
            Self::Volcano => "volcano",
        }
    }

    fn scheduler(self) -> Scheduler {
        match self {
            Self::Plain | Self::Kube => Scheduler::Kube,
            Self::Kai => Scheduler::Kai,
            Self::Volcano => Scheduler::Volcano,
        }
    }
}

/// The order of the writes; their number is the same. It decides when the last pod is created, and hardly when the last
/// is ready.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// All gangs when all pods are there: creating has the machine to itself. The loop of the facts did so.
    #[default]
    Phases,
    /// Each gang when its pods are there: binding takes the machine from creating the others.
    Gangs,
}

impl BenchOptions {
    fn gangs(&self) -> usize {
        self.pods / replica::PODS
    }

    fn check(&self) -> Result<()> {
        let pods = replica::PODS;
        ensure!(self.pods > 0 && self.pods.is_multiple_of(pods), "--pods must be a multiple of {pods}");
        ensure!(self.tasks > 0, "--tasks must be at least 1");
        ensure!(
            self.nodes > 0 && self.nodes.is_multiple_of(NODES_PER_RACK),
            "--nodes must be a multiple of {NODES_PER_RACK}"
        );
        ensure!(
            self.pods <= self.nodes * PODS_PER_NODE,
            "{} nodes take no more than {} pods",
            self.nodes,
            self.nodes * PODS_PER_NODE
        );
        Ok(())
    }
}

/// Measures both, each on a cluster of its own, prints a table and writes it down.
pub async fn run(options: BenchOptions) -> Result<()> {
    options.check()?;
    let folder = std::path::absolute(&options.folder)?;
    let file = folder.join("cluster.json");
    let bare = on_cluster(&folder, &options, Writer::Bare).await?;
    figures::save(&file, "bare", &bare)?;
    let mut measured = Vec::new();
    for backend in &options.backends {
        let figures = on_cluster(&folder, &options, Writer::Operator(*backend)).await?;
        figures::save(&file, backend.name(), &figures)?;
        measured.push((backend.name(), figures));
    }
    let operators = measured.iter().map(|(name, figures)| (*name, figures));
    let columns: Vec<(&str, &Figures)> = std::iter::once(("bare", &bare)).chain(operators).collect();
    anstream::println!("{}", report::table(&columns));
    for (name, figures) in &measured {
        anstream::println!("{name}:\n{}", report::goals(&bare, figures));
    }
    anstream::println!("written to {}", file.display());
    Ok(())
}

/// Who writes.
#[derive(Clone, Copy, Debug)]
enum Writer {
    Bare,
    Operator(Backend),
}

impl Writer {
    fn scheduler(self) -> Scheduler {
        match self {
            Self::Bare => Scheduler::Kube,
            Self::Operator(backend) => backend.scheduler(),
        }
    }
}

async fn on_cluster(folder: &Path, options: &BenchOptions, writer: Writer) -> Result<Figures> {
    let cluster_folder = folder.join("cluster");
    let scheduler = writer.scheduler();
    let programs = Programs::find(scheduler.name()).await?;
    let machine = Machine::now();
    // All features on, as users of the stock scheduler have them: plain pods do not pay for them.
    let cluster_options =
        Options { folder: cluster_folder.clone(), gates: Gates::All, scheduler, simulated: Simulated::Nodes };
    let cluster = Cluster::start(cluster_options, programs).await?;
    let measured = measure(&cluster, options, machine, writer).await;
    let stopped = cluster.stop().await;
    // Where it failed, the logs stay.
    let figures =
        measured.with_context(|| format!("all logs: less {}/log/*.log", cluster_folder.display()))?;
    stopped?;
    let _ = std::fs::remove_dir_all(&cluster_folder);
    Ok(figures)
}

async fn measure(
    cluster: &Cluster,
    options: &BenchOptions,
    machine: Machine,
    writer: Writer,
) -> Result<Figures> {
    ground::prepare(cluster, options.nodes, writer.scheduler()).await?;
    eprintln!("{writer:?}:");
    match writer {
        Writer::Bare => bare_loop::measure(cluster, options, machine).await,
        Writer::Operator(backend) => managed::measure(cluster, options, machine, backend).await,
    }
}
