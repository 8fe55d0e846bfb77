//! `make up-real`: a cluster, the operator and a sample, what happens to its pods, and a picture of where they are.
//!
//! Here is how it is started and ended. What is printed is in `front`, with `story` and `picture`, which know nothing of
//! this: nodes and pods come to them as `view` has them.

mod front;
mod held;
mod picture;
mod pods;
mod sample;
mod story;
mod view;

use std::{
    fs,
    io::IsTerminal,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use k8s_openapi::api::core::v1::Node;
use kube::{Api, Client, api::ListParams};
use tokio::signal::unix::{SignalKind, signal};

use self::{
    front::{Front, Next},
    held::Held,
    pods::Pods,
    sample::Sample,
    view::{NodeView, PodView},
};
use crate::{
    cluster::{Cluster, Gates, Options, Programs, Scheduler, Simulated, repository},
    nodes::{Hall, INIT_CONTAINER, InitContainers},
    objects,
    operator::{Operator, OperatorOptions},
};

/// Where the sample goes, and what `kubectl` asks about.
const NAMESPACE: &str = "default";
/// After this, whoever waits is told how to find out more.
const PATIENCE: Duration = Duration::from_mins(2);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);
/// The picture is drawn again when nothing has changed for so long.
const QUIET: Duration = Duration::from_secs(1);
/// How the operator runs, in words.
const OPERATOR: &str = "with its own service account and webhooks";
/// Where nobody says how wide it is.
const WIDTH: usize = 100;

/// How it is shown.
#[derive(Args, Clone, Debug)]
pub struct UpOptions {
    /// PodCliqueSet to apply.
    #[arg(long, default_value = "samples/12-chat.yaml")]
    sample: PathBuf,
    /// Racks of simulated nodes, four to a zone.
    #[arg(long, default_value_t = 8)]
    racks: usize,
    /// Nodes in each rack.
    #[arg(long, default_value_t = 2)]
    nodes: usize,
    /// GPUs in each node.
    #[arg(long, default_value_t = 8)]
    gpus: usize,
    /// Folder for its files.
    #[arg(long, default_value = "target/up-real")]
    folder: PathBuf,
}

type Printed = Front<anstream::AutoStream<std::io::Stdout>>;

/// Starts everything, shows it, and ends it when told to.
pub async fn run(options: UpOptions) -> Result<()> {
    let folder = std::path::absolute(&options.folder)?;
    let mut front = Front::new(anstream::stdout(), width());
    let Some(_held) = Held::take(&folder)? else {
        return Ok(front.already_up(&shown(&folder.join("admin.kubeconfig")))?);
    };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let told = async {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
    };
    tokio::pin!(told);
    // What was begun when it is told to stop ends with the reaper.
    let started = tokio::select! {
        started = Show::start(&options, &folder, &mut front) => Some(started?),
        () = &mut told => None,
    };
    if let Some(show) = started {
        let result = tokio::select! {
            result = show.go_on(&mut front) => result,
            error = async { show.cluster.until_one_ends().await } => Err(error),
            () = &mut told => Ok(()),
        };
        show.end().await?;
        result?;
        fs::remove_dir_all(&folder)?;
        front.ended()?;
    }
    Ok(())
}

/// What runs.
struct Show {
    cluster: Cluster,
    operator: Operator,
    init_containers: InitContainers,
    nodes: Vec<NodeView>,
    sample: Sample,
    next: Next,
    began: Instant,
}

impl Show {
    async fn start(options: &UpOptions, folder: &Path, front: &mut Printed) -> Result<Self> {
        let file = repository().join(&options.sample);
        let sample = Sample::read(&file)?;
        let here = std::env::current_exe()?;
        let init_container = here.with_file_name(INIT_CONTAINER);
        ensure!(
            init_container.exists(),
            "{} is missing; build it as this one was built: cargo build --package {INIT_CONTAINER}",
            init_container.display()
        );
        let programs = Programs::find(Scheduler::Kube.name()).await?;
        let began = Instant::now();
        let kubectl = programs.get("kubernetes", "kubectl");
        let (gates, scheduler) = (Gates::All, Scheduler::Kube);
        let cluster = Cluster::start(
            Options { folder: folder.to_owned(), gates, scheduler, simulated: Simulated::Nodes },
            programs,
        )
        .await?;
        let client = cluster.client.clone();
        Hall::racks(options.racks).nodes(options.nodes).gpus(options.gpus).create(&client, scheduler).await?;
        let nodes = nodes(&client).await?;
        let version = client.apiserver_version().await?.git_version;
        front.cluster(&version, &nodes, began.elapsed())?;

        objects::install_crds(&client).await?;
        let webhooks = OperatorOptions { webhooks: true, ..OperatorOptions::default() };
        let operator = Operator::start(&cluster, webhooks).await?;
        front.operator(OPERATOR, began.elapsed())?;
        let init_containers = InitContainers::start(&cluster, &init_container);

        let next = Next {
            kubeconfig: shown(&cluster.kubeconfig),
            environment: shown(&environment(
                folder,
                &cluster.kubeconfig,
                &[&kubectl, &here.with_file_name("grove")],
            )?),
            set: sample.name.clone(),
            group: sample.group.clone(),
        };
        apply(&client, &sample.text).await.with_context(|| options.sample.display().to_string())?;
        front.applied(&sample.name, &options.sample.display().to_string(), sample.pods, began.elapsed())?;
        Ok(Self { cluster, operator, init_containers, nodes, sample, next, began })
    }

    /// Tells what happens until all is ready, draws it, and draws it again whenever it has changed.
    async fn go_on(&self, front: &mut Printed) -> Result<()> {
        let mut pods = Pods::follow(self.cluster.client.clone(), NAMESPACE);
        let telling = async {
            while !front.story(&pods.next().await, self.began.elapsed())? {}
            Ok::<(), anyhow::Error>(())
        };
        match tokio::time::timeout(PATIENCE, telling).await {
            Ok(told) => told?,
            Err(_) => front.late(&self.sample.name, self.began.elapsed())?,
        }
        front.picture(&self.nodes, &pods.now())?;
        front.next(&self.next)?;
        loop {
            let mut now: Vec<PodView> = pods.next().await;
            while let Ok(newer) = tokio::time::timeout(QUIET, pods.next()).await {
                now = newer;
            }
            front.picture(&self.nodes, &now)?;
        }
    }

    async fn end(mut self) -> Result<()> {
        drop(self.init_containers);
        // One that ended by itself has said why.
        let stopped = self.operator.stop().await;
        drop(self.operator);
        self.cluster.stop().await?;
        stopped
    }
}

/// Applies the sample. The API server takes a moment to know the certificate of the webhooks: it learns of it by a watch.
async fn apply(client: &Client, text: &str) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        let Err(error) = objects::apply_text(client, text, Some(NAMESPACE)).await else { return Ok(()) };
        let said = match error.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(status)) => status.message.clone(),
            _ => return Err(error),
        };
        ensure!(said.contains("failed calling webhook") && Instant::now() < end, "{said}");
        tokio::time::sleep(PAUSE).await;
    }
}

async fn nodes(client: &Client) -> Result<Vec<NodeView>> {
    let list = Api::<Node>::all(client.clone()).list(&ListParams::default()).await?;
    Ok(list.items.iter().map(NodeView::of).collect())
}

/// A file that a shell can read, and a folder with the programs that a person needs.
fn environment(folder: &Path, kubeconfig: &Path, programs: &[&Path]) -> Result<PathBuf> {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin)?;
    for program in programs {
        symlink(program, bin.join(program.file_name().context("a program without a name")?))?;
    }
    let file = folder.join("env");
    let text =
        format!("export KUBECONFIG='{}'\nexport PATH='{}':\"$PATH\"\n", kubeconfig.display(), bin.display());
    fs::write(&file, text)?;
    Ok(file)
}

/// A path as a person would type it.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

fn width() -> usize {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok()).flatten();
    size.map(|it| usize::from(it.ws_col)).filter(|it| *it > 0).unwrap_or(WIDTH)
}
