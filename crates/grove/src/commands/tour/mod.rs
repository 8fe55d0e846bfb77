//! `grove tour`: shows on a simulated cluster what Grove does, step by step.
//!
//! The steps are in [`crate::tour`]; here a local cluster is started for them, and what is said and what happens is printed: `text`.

mod text;

use std::{
    io,
    pin::pin,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use clap::Args;
use futures::future::{Either, select};
use grove_placement::topology;
use grove_podgrouper::Hub;
use grove_sandbox::KubeletOptions;
use grove_scheduler::Registry;
use kube::Client;
use tokio_util::sync::CancellationToken;

use self::text::Text;
use crate::{
    cli::{Outcome, print},
    commands::operator::duration,
    follow::{Events, Follower},
    local::{Folder, Hold, LocalCluster, LocalOptions},
    program::complain,
    tour::{Ended, LiveCluster, Step, TOPOLOGY, Tour, drive, steps},
};

/// Name of its folder, beside that of `grove up`: both can run at the same time.
const FOLDER: &str = "tour";
/// Pulling an image, and becoming ready: long enough to be seen.
const START_DELAY: Duration = Duration::from_millis(200);
/// Long enough to be seen, too.
const NODE_GRACE: Duration = Duration::from_secs(2);

/// See gang scheduling, topology, node loss, scaling and an update on a simulated cluster, in under a minute.
///
/// Starts a cluster in this process, with simulated nodes and without containers, and removes it at the end. Nothing else is
/// touched: no kubeconfig is read.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove tour\n  \
    grove tour --pause 10s\n\n\
    Exit codes: 0 complete, or ended by Ctrl-C, 1 a step failed or took too long, 2 the cluster cannot be started.")]
pub(crate) struct TourCommand {
    /// Time to read each text.
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = duration)]
    pause: Duration,
}

impl TourCommand {
    pub(crate) fn run(&self, registry: &Registry, hub: &Hub) -> io::Result<Outcome> {
        let path = Folder::default_path()?.with_file_name(FOLDER);
        let folder = match Folder::hold(&path)? {
            Hold::Taken(folder) => folder,
            Hold::Held => {
                complain(format_args!("a tour is running already, in {}", path.display()));
                return Ok(Outcome::Findings);
            }
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let outcome = runtime.block_on(self.tour(registry, hub, folder));
        // What still runs ends with the process.
        runtime.shutdown_background();
        outcome
    }

    async fn tour(&self, registry: &Registry, hub: &Hub, folder: Folder) -> io::Result<Outcome> {
        let stop = grove_runtime::shutdown::on_signal()?;
        let output = Output::new(stop.clone());
        let nodes = topology::parse(TOPOLOGY).map_err(io::Error::other)?;
        let kubelets =
            KubeletOptions { pull_after: START_DELAY, ready_after: START_DELAY, ..KubeletOptions::default() };
        let options = LocalOptions { nodes, kubelets, node_grace: NODE_GRACE, port: 0 };
        let mut progress = |sentence: &str| output.print(&Text::progress(sentence));
        let starting = LocalCluster::start(registry, hub, folder, options, &mut progress);
        let Some(cluster) = stop.run_until_cancelled(starting).await else { return output.end() };
        let cluster = cluster?;
        output.print(&Text::look_around(&cluster.folder().kubeconfig()));
        let ended = {
            let touring = pin!(show(cluster.client().clone(), steps(), self.pause, &output));
            let failed = pin!(cluster.failed());
            match stop.run_until_cancelled(select(touring, failed)).await {
                None => None,
                Some(Either::Left((ended, _))) => Some(ended),
                Some(Either::Right((error, _))) => Some(Err(error.to_string())),
            }
        };
        cluster.stop().await?;
        let outcome = output.end()?;
        match ended {
            None => Ok(outcome),
            Some(Ok(())) => print(&Text::end()),
            Some(Err(why)) => {
                complain(format_args!("{why}"));
                Ok(Outcome::Findings)
            }
        }
    }
}

/// Goes through the steps. `Err` says why it came to no good end.
async fn show(client: Client, steps: Vec<Step>, pause: Duration, output: &Output) -> Result<(), String> {
    let start = Instant::now();
    let follower = Follower::start(client.clone(), Some(client.default_namespace()));
    let mut cluster = LiveCluster::new(client, follower.clone());
    let mut following = follower.clone();
    let following = pin!(async {
        let mut events = Events::default();
        loop {
            following.changed().await;
            for line in events.update(&following.snapshot(), start.elapsed()) {
                output.print(&Text::event(&line));
            }
        }
    });
    let touring =
        pin!(drive(&mut cluster, Tour::new(steps), pause, |said| output.print(&output.text.said(said))));
    // The first one is asked first: what happened is printed before its explanation.
    let ended = match select(following, touring).await {
        Either::Left((never, _)) => never,
        Either::Right((ended, _)) => ended,
    };
    match ended {
        Ended::Complete => Ok(()),
        Ended::Failed(why) => Err(format!("the tour failed: {why}")),
        Ended::TimedOut(awaited) => {
            let problem = follower.problem().map(|it| format!("; the cluster cannot be watched: {it}"));
            Err(format!("the tour took too long to wait until {awaited}{}", problem.unwrap_or_default()))
        }
    }
}

/// Prints, and stops the tour where nothing can be printed any more.
struct Output {
    text: Text,
    stop: CancellationToken,
    error: Mutex<Option<io::Error>>,
}

impl Output {
    fn new(stop: CancellationToken) -> Self {
        Self { text: Text::of_terminal(), stop, error: Mutex::default() }
    }

    fn print(&self, text: &str) {
        if let Err(error) = print(text) {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.stop.cancel();
        }
    }

    /// Why nothing could be printed.
    fn end(&self) -> io::Result<Outcome> {
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(Outcome::Success), Err)
    }
}

#[cfg(test)]
mod tests;
