//! One pod from its binding to its end.

use std::{collections::BTreeMap, convert::Infallible, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::{Container, Pod, Probe};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, Preconditions},
};
use rustix::process::Signal;
use tokio::{
    sync::{Mutex, watch},
    time::{sleep, timeout},
};

use super::{
    Shared, container,
    container::{Plan, tool},
    probe::{Prober, until_failed},
    sandbox::Sandbox,
    status::{Exit, State, patch},
    volumes::Volumes,
};
use crate::cluster::{Command, Process, last_words};

/// Before a container is started again. A kubelet begins with ten seconds.
const RESTART: Duration = Duration::from_secs(1);
/// How long a pod may take to end where it does not say it itself.
const GRACE: u64 = 30;

/// How far the deletion of a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifecycle {
    /// It is not being deleted.
    Active,
    /// It is being deleted, with a grace period of so many seconds.
    Terminating(u64),
    /// It is gone from the API server.
    Deleted,
}

impl Lifecycle {
    /// As the API server has it.
    pub(super) fn of(pod: &Pod) -> Self {
        match (&pod.metadata.deletion_timestamp, pod.metadata.deletion_grace_period_seconds) {
            (None, _) => Self::Active,
            (Some(_), seconds) => {
                Self::Terminating(seconds.and_then(|it| u64::try_from(it).ok()).unwrap_or(GRACE))
            }
        }
    }
}

/// A pod that is run.
pub(super) struct RunningPod {
    shared: Arc<Shared>,
    pod: Pod,
    api: Api<Pod>,
    files: PathBuf,
    log: PathBuf,
    sandbox: Mutex<Option<Sandbox>>,
    /// Held while its process is being started.
    starting: Arc<Mutex<()>>,
}

impl RunningPod {
    pub(super) fn new(shared: Arc<Shared>, pod: Pod) -> Self {
        let api = Api::namespaced(shared.client.clone(), &pod.namespace().unwrap_or_default());
        let files = shared.folder.join(pod.uid().unwrap_or_default());
        let log = shared.log.join(format!("pod-{}.log", pod.name_any()));
        Self { shared, pod, api, files, log, sandbox: Mutex::new(None), starting: Arc::default() }
    }

    /// Runs its container, again and again, until the pod is to end.
    pub(super) async fn run(mut self, mut lifecycle: watch::Receiver<Lifecycle>) {
        let until_end = async {
            // The sender outlives this task.
            lifecycle.wait_for(|it| *it != Lifecycle::Active).await.map_or(Lifecycle::Deleted, |it| *it)
        };
        let end = tokio::select! {
            never = self.keep_running() => match never {},
            end = until_end => end,
        };
        self.terminate(end, lifecycle).await;
    }

    async fn keep_running(&mut self) -> Infallible {
        let (mut restarts, mut last) = (0, None);
        loop {
            match self.run_once(restarts, last.as_ref()).await {
                Ok(end) => {
                    restarts += 1;
                    let mut why = "back-off restarting failed container".to_owned();
                    if let Some(killed_for) = &end.killed_for {
                        why = format!("{killed_for}; {why}");
                    }
                    self.report(&State::Waiting("CrashLoopBackOff", why), restarts, Some(&end)).await;
                    last = Some(end);
                }
                Err(error) => {
                    let state = State::Waiting("CreateContainerError", format!("{error:#}"));
                    self.report(&state, restarts, last.as_ref()).await;
                }
            }
            sleep(RESTART).await;
        }
    }

    /// Runs its container to its end. An error: it cannot be started.
    async fn run_once(&mut self, restarts: i32, last: Option<&Exit>) -> Result<Exit> {
        let container = container::only(&self.pod)?.clone();
        let wanted = container.image.clone().unwrap_or_default();
        let image = self.shared.images.get(&wanted).cloned();
        let image = image.with_context(|| format!("there is no image {wanted:?}"))?;
        let network = self.join_network().await?;
        let plan = Plan::of(&self.pod, &image, self.shared.network.server())?;
        let volumes = self.files.join("volumes");
        Volumes { client: &self.shared.client, pod: &self.pod, folder: &volumes }.write().await?;
        std::fs::write(self.files.join("mounts"), plan.mounts(&volumes))?;
        let script = self.shared.folder.join("container.sh").display().to_string();
        let unshare = tool("unshare")?;
        let words = [network, unshare, "--mount".to_owned(), "sh".to_owned(), script];
        let command = Command {
            name: self.pod.name_any(),
            program: PathBuf::from(tool("nsenter")?),
            arguments: words.into_iter().chain(plan.words(&image, &self.files)?).collect(),
            environment: BTreeMap::new(),
            folder: self.files.clone(),
            log: self.log.clone(),
        };
        // Before the start: an error after it would leave the process running.
        let readiness = self.prober(container.readiness_probe.as_ref(), &container).await?;
        let liveness = self.prober(container.liveness_probe.as_ref(), &container).await?;
        let process = self.start(command).await?;
        let (code, killed_for) = tokio::select! {
            code = self.shared.reaper.ended(&process) => (code?, None),
            never = self.report_readiness(readiness, restarts, last) => match never {},
            why = until_failed(liveness) => (self.shared.reaper.end_by(&process, Signal::KILL).await?, Some(why)),
        };
        self.shared.running().remove(&self.pod.name_any());
        Ok(Exit { code, killed_for, message: last_words(&self.log) })
    }

    /// Starts the process of the container. Not cancelled once begun, or the process would be lost track of.
    async fn start(&self, command: Command) -> Result<Process> {
        let held = Arc::clone(&self.starting).lock_owned().await;
        let (shared, name) = (Arc::clone(&self.shared), self.pod.name_any());
        let starting = tokio::spawn(async move {
            let process = shared.reaper.spawn(command).await?;
            shared.running().insert(name, process.clone());
            drop(held);
            Ok(process)
        });
        starting.await?
    }

    /// The argument of `nsenter` for the pod's network, which is made with the first container.
    async fn join_network(&mut self) -> Result<String> {
        let mut sandbox = self.sandbox.lock().await;
        if sandbox.is_none() {
            std::fs::create_dir_all(&self.files)?;
            let (shared, files) = (&self.shared, &self.files);
            let opened = shared.network.open(Arc::clone(&shared.reaper), &shared.folder, files).await?;
            let status = self.pod.status.get_or_insert_default();
            status.pod_ip = Some(opened.address.to_string());
            *sandbox = Some(opened);
        }
        let process = sandbox.as_ref().map(|it| it.process.pid).context("no network")?;
        Ok(format!("--net=/proc/{process}/ns/net"))
    }

    async fn prober(&self, probe: Option<&Probe>, of: &Container) -> Result<Option<Prober>> {
        let address = self.sandbox.lock().await.as_ref().map(|it| it.address).context("no network")?;
        probe.map(|it| Prober::of(it, of, address)).transpose()
    }

    /// Reports whether the container is ready whenever that changes.
    async fn report_readiness(
        &self,
        prober: Option<Prober>,
        restarts: i32,
        last: Option<&Exit>,
    ) -> Infallible {
        let Some(prober) = prober else {
            self.report(&State::Ready, restarts, last).await;
            return std::future::pending().await;
        };
        let mut reported = State::Unready("not probed yet".to_owned());
        self.report(&reported, restarts, last).await;
        let mut failures = 0;
        sleep(prober.delay).await;
        loop {
            let now = match prober.ask().await {
                Ok(()) => {
                    failures = 0;
                    State::Ready
                }
                Err(error) => {
                    failures += 1;
                    State::Unready(format!("Readiness probe failed: {error:#}"))
                }
            };
            let counts = now == State::Ready || reported != State::Ready || failures >= prober.failures;
            if now != reported && counts {
                self.report(&now, restarts, last).await;
                reported = now;
            }
            sleep(prober.period).await;
        }
    }

    async fn report(&self, state: &State, restarts: i32, last: Option<&Exit>) {
        let address = self.sandbox.lock().await.as_ref().map(|it| it.address);
        let patch = Patch::Strategic(patch(&self.pod, address, state, restarts, last));
        let name = self.pod.name_any();
        match self.api.patch_status(&name, &PatchParams::default(), &patch).await {
            Ok(_) => {}
            // It may be gone, or another one of its name be there.
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => {}
            Err(error) => anstream::eprintln!("status of pod {name}: {error:#}"),
        }
    }

    /// Ends the container as a kubelet does, then the network, and deletes the pod.
    async fn terminate(self, end: Lifecycle, mut lifecycle: watch::Receiver<Lifecycle>) {
        let started = self.starting.lock().await;
        let process = self.shared.running().remove(&self.pod.name_any());
        drop(started);
        if let Some(process) = process {
            let seconds = if let Lifecycle::Terminating(seconds) = end { seconds } else { 0 };
            let graceful = async {
                let hook =
                    container::only(&self.pod).ok().and_then(|it| it.lifecycle.as_ref()?.pre_stop.as_ref());
                let pause =
                    hook.and_then(|it| it.sleep.as_ref()).and_then(|it| u64::try_from(it.seconds).ok());
                sleep(Duration::from_secs(pause.unwrap_or_default())).await;
                self.shared.reaper.end_by(&process, Signal::TERM).await
            };
            let in_time = async {
                tokio::select! {
                    ended = timeout(Duration::from_secs(seconds), graceful) => ended.is_ok(),
                    // It was deleted by force.
                    _ = lifecycle.wait_for(|it| *it == Lifecycle::Deleted) => false,
                }
            };
            if !in_time.await {
                drop(self.shared.reaper.end_by(&process, Signal::KILL).await);
            }
        }
        if let Some(sandbox) = self.sandbox.lock().await.take() {
            drop(self.shared.reaper.end_by(&sandbox.process, Signal::KILL).await);
        }
        let same = Preconditions { uid: self.pod.uid(), resource_version: None };
        let at_once = DeleteParams::default().grace_period(0).preconditions(same);
        match self.api.delete(&self.pod.name_any(), &at_once).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => {}
            Err(error) => anstream::eprintln!("pod {}: {error:#}", self.pod.name_any()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deleted_pod_has_the_time_that_it_was_given() {
        let lifecycle = |metadata: serde_json::Value| {
            Lifecycle::of(
                &serde_json::from_value(json!({ "metadata": metadata, "spec": { "containers": [] } }))
                    .unwrap(),
            )
        };
        let deleted = "2026-01-01T00:00:00Z";
        assert_eq!(lifecycle(json!({})), Lifecycle::Active);
        assert_eq!(
            lifecycle(json!({ "deletionTimestamp": deleted, "deletionGracePeriodSeconds": 7 })),
            Lifecycle::Terminating(7)
        );
        assert_eq!(lifecycle(json!({ "deletionTimestamp": deleted })), Lifecycle::Terminating(GRACE));
    }
}
