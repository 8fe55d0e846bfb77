//! `grove up`: a simulated cluster on this machine, and what happens in it.
//!
//! `sample` is the set that is applied, `background` starts a process of its own for `--detach`, `show` prints or draws, `advice` says what to try.
//! The cluster itself is in [`crate::local`].

mod advice;
mod background;
mod sample;
mod show;

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use grove_podgrouper::Hub;
use grove_runtime::{shutdown, telemetry};
use grove_sandbox::KubeletOptions;
use grove_scheduler::Registry;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::{
    advice::{STOP, shown},
    background::Waiting,
    sample::Sample,
    show::Show,
};
use crate::{
    cli::Outcome,
    described_topology::described_topology,
    follow::Follower,
    input,
    local::{Folder, Hold, LocalCluster, LocalOptions, apply_text, kubeconfig},
    program::complain,
};

/// Where the sample goes if it names no namespace.
const NAMESPACE: &str = "default";
const LOG: &str = "grove.log";
/// After this, a message says how to find out more; with --exit-when-ready the command fails.
const READY_TIMEOUT: Duration = Duration::from_mins(2);

/// Start a simulated cluster on this machine: API server, GPU nodes, gang scheduler, operator and pod grouper.
///
/// Needs no container runtime, no root and no network: everything runs in this process, and no container is started.
/// kubectl and client libraries use it like any cluster, through the kubeconfig that is printed. Ctrl-C stops it and
/// removes its files.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove up\n  \
    grove up --sample set.yaml --topology zones=2,blocks=2,racks=2,hosts=4,gpus=8\n  \
    grove up --empty --detach; grove down\n\n\
    Exit codes: 0 stopped, or ready with --exit-when-ready; 1 failed; 2 unusable input or arguments.")]
pub(crate) struct Up {
    /// Manifest with a PodCliqueSet to apply [default: a chat service with five roles].
    #[arg(long, value_name = "FILE", conflicts_with = "empty")]
    sample: Option<PathBuf>,

    /// Apply nothing.
    #[arg(long)]
    empty: bool,

    /// Simulated nodes: one line such as racks=2,hosts=4,gpus=8 (also zones, blocks, cpus, memory), or a file with these
    /// keys or with Node objects.
    #[arg(long, value_name = "SPEC|FILE", default_value = "zones=2,blocks=2,racks=2,hosts=2,gpus=8")]
    topology: String,

    /// How long simulated images take to be pulled, and containers to become ready.
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = crate::commands::operator::duration)]
    start_delay: Duration,

    /// How long a kubelet may be silent before its node is NotReady, and then how long before its pods are replaced.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = crate::commands::operator::duration)]
    node_grace: Duration,

    /// Port of the API server on 127.0.0.1 [default: a free one].
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Folder for the kubeconfig and the log [default: $XDG_STATE_HOME/grove/up].
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Print lines instead of drawing on the terminal.
    #[arg(long)]
    plain: bool,

    /// Run in the background; `grove down` stops it.
    #[arg(long, conflicts_with = "exit_when_ready")]
    detach: bool,

    /// This is the process of --detach, and standard input is the one that waits for it.
    #[arg(long, hide = true, conflicts_with_all = ["detach", "exit_when_ready"])]
    background: bool,

    /// Stop as soon as all pods of the sample are ready.
    #[arg(long, conflicts_with = "empty")]
    exit_when_ready: bool,
}

impl Up {
    pub(crate) fn run(self, registry: &Registry, hub: &Hub) -> io::Result<Outcome> {
        let nodes = described_topology(&self.topology)?;
        let sample = match (&self.sample, self.empty) {
            (_, true) => None,
            (None, false) => Some(Sample::builtin()?),
            (Some(file), false) => Some(Sample::of(input::read_file(file)?)?),
        };
        let path = std::path::absolute(Folder::chosen(self.folder.clone())?)?;
        if self.detach {
            return background::start(&path, &self.background_arguments(&path));
        }
        let folder = match Folder::hold(&path)? {
            Hold::Taken(folder) => folder,
            Hold::Held => return Ok(already_running(&path)),
        };
        let waiting = if self.background { Some(Waiting::redirect(&path)?) } else { None };
        let log = fs::File::create(path.join(LOG))?;
        telemetry::init_file(telemetry::Level::Info, log).map_err(io::Error::other)?;
        let options = LocalOptions {
            nodes,
            kubelets: KubeletOptions {
                pull_after: self.start_delay,
                ready_after: self.start_delay,
                ..KubeletOptions::default()
            },
            node_grace: self.node_grace,
            port: self.port,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let outcome = runtime.block_on(self.serve(registry, hub, folder, options, sample, waiting));
        // What still runs ends with the process.
        runtime.shutdown_background();
        outcome
    }

    /// What the process in the background is started with.
    fn background_arguments(&self, folder: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![
            "--background".into(),
            "--plain".into(),
            "--folder".into(),
            folder.into(),
            format!("--topology={}", self.topology).into(),
            format!("--start-delay={}ms", self.start_delay.as_millis()).into(),
            format!("--node-grace={}ms", self.node_grace.as_millis()).into(),
            format!("--port={}", self.port).into(),
        ];
        if let Some(sample) = &self.sample {
            arguments.extend(["--sample".into(), sample.into()]);
        }
        if self.empty {
            arguments.push("--empty".into());
        }
        arguments
    }

    async fn serve(
        &self,
        registry: &Registry,
        hub: &Hub,
        folder: Folder,
        options: LocalOptions,
        sample: Option<Sample>,
        waiting: Option<Waiting>,
    ) -> io::Result<Outcome> {
        let (stop, ready) = (shutdown::on_signal()?, CancellationToken::new());
        if let Some(waiting) = waiting {
            tokio::spawn(waiting.attend(ready.clone(), stop.clone()));
        }
        // What is drawn is gone at the end; a script needs the reason of a failure.
        let is_plain = self.plain || self.exit_when_ready;
        let mut show = Show::new(Instant::now(), is_plain, stop.clone());
        let mut progress = |text: &str| show.say(text);
        let starting = LocalCluster::start(registry, hub, folder, options, &mut progress);
        let Some(started) = stop.run_until_cancelled(starting).await else {
            return show.close().await.map(|()| Outcome::Success);
        };
        let cluster = started?;
        let served = tokio::select! {
            served = self.show(&cluster, sample.as_ref(), &mut show, &ready) => served,
            error = cluster.failed() => Err(error),
            () = stop.cancelled() => Ok(Outcome::Success),
        };
        let printed = show.close().await;
        cluster.stop().await?;
        printed?;
        if matches!(served, Ok(Outcome::Success)) && !self.exit_when_ready {
            anstream::println!("\nStopped.");
        }
        served
    }

    /// Applies the sample and shows what happens until the user quits.
    async fn show(
        &self,
        cluster: &LocalCluster,
        sample: Option<&Sample>,
        show: &mut Show,
        ready: &CancellationToken,
    ) -> io::Result<Outcome> {
        let (client, folder) = (cluster.client(), cluster.folder());
        let advice = advice::prepare(folder, sample)?;
        if let Some(sample) = sample {
            for namespace in &sample.namespaces {
                let namespace =
                    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
                apply_text(client, &namespace.to_string(), "").await?;
            }
            apply_text(client, &sample.text, NAMESPACE).await?;
            show.say(&format!("PodCliqueSet {} applied, from {}", sample.set, sample.source));
        }
        let mut follower = Follower::start(client.clone(), None);
        show.open("grove up", &advice)?;
        let mut awaited = sample;
        if awaited.is_none() {
            started(&advice, show, ready);
        }
        let late = tokio::time::sleep(READY_TIMEOUT);
        tokio::pin!(late);
        loop {
            tokio::select! {
                () = follower.changed() => {
                    let snapshot = follower.snapshot();
                    show.update(&snapshot);
                    if !awaited.is_some_and(|it| it.is_ready(&snapshot)) {
                        continue;
                    }
                    show.picture();
                    if self.exit_when_ready {
                        return Ok(Outcome::Success);
                    }
                }
                () = &mut late, if awaited.is_some() => {
                    let set = awaited.map_or("", |it| &it.set);
                    show.say(&format!("not all pods are ready yet; `grove status {set}` shows what they wait for"));
                    if self.exit_when_ready {
                        return Ok(Outcome::Findings);
                    }
                }
                quit = show.quit() => return quit.map(|()| Outcome::Success),
            }
            awaited = None;
            started(&advice, show, ready);
        }
    }
}

/// The start is over: says what to try.
fn started(advice: &[String], show: &mut Show, ready: &CancellationToken) {
    show.advise(&[advice, &[STOP.to_owned()]].concat());
    ready.cancel();
}

/// The second of two is refused, and says where the first one is.
fn already_running(folder: &Path) -> Outcome {
    complain(format_args!(
        "a cluster is running in {}; stop it with: grove down --folder {}\nkubeconfig: {}",
        shown(folder),
        shown(folder),
        shown(&kubeconfig(folder))
    ));
    Outcome::Findings
}
