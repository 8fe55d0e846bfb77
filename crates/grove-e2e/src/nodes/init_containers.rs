//! Runs init containers of ours for real.
//!
//! kwok fakes containers, but start order is only shown if the program that waits really runs. The stages hold a pod with
//! an init container called `grove-initc` until its condition Initialized is True. Here that container's program is run
//! with its arguments, environment and downward API files, kept current while it runs, and its exit code is passed on.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, pin_mut};
use k8s_openapi::{
    api::core::v1::{Container, Pod},
    jiff::Timestamp,
};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        WatchStreamExt,
        watcher::{self, Event},
    },
};
use serde_json::json;

use super::pod_files;
use crate::cluster::{Cluster, Command, Reaper};

/// Name of the init container that is run.
pub const NAME: &str = "grove-initc";
/// How long a kubelet waits before it runs a failed init container again.
const RESTART: Duration = Duration::from_millis(500);

/// Runs init containers for as long as it lives.
pub struct InitContainers {
    /// None on a simulated cluster, whose kubelets run such containers themselves.
    task: Option<tokio::task::JoinHandle<()>>,
}

impl InitContainers {
    /// From now on, the image of [`NAME`] contains the program of that name that lies beside ours.
    pub fn start_ours(cluster: &Cluster) -> Result<Self> {
        let program = std::env::current_exe()?.with_file_name(NAME);
        ensure!(
            program.exists(),
            "{} is missing; build it as this one was built: cargo build --package {NAME}",
            program.display()
        );
        Ok(Self::start(cluster, &program))
    }

    /// From now on, `program` is what the image of [`NAME`] contains.
    pub fn start(cluster: &Cluster, program: &Path) -> Self {
        let runner = Runner {
            client: cluster.client.clone(),
            reaper: cluster.reaper(),
            program: program.to_owned(),
            folder: cluster.options.folder.join("init"),
            log: cluster.options.folder.join("log"),
        };
        Self { task: (!cluster.options.is_sandbox()).then(|| tokio::spawn(runner.watch())) }
    }
}

impl Drop for InitContainers {
    fn drop(&mut self) {
        self.task.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

#[derive(Clone)]
struct Runner {
    client: Client,
    reaper: Arc<Reaper>,
    program: PathBuf,
    folder: PathBuf,
    log: PathBuf,
}

/// A pod that waits, or has waited.
struct Waiting {
    /// Its newest state in which it waits.
    pod: Pod,
    /// Whether the API server was told, or is being told, that its container has succeeded. kwok may play the stage that creates a
    /// pod once more, from a state that is older than that, and thereby undo it: such a pod waits again.
    is_reported: bool,
}

/// By UID.
type Current = Arc<Mutex<BTreeMap<String, Waiting>>>;

impl Runner {
    async fn watch(self) {
        let current: Current = Arc::default();
        // Aborted with this task.
        let mut running = tokio::task::JoinSet::new();
        let events = watcher::watcher(Api::<Pod>::all(self.client.clone()), watcher::Config::default())
            .default_backoff();
        pin_mut!(events);
        while let Some(event) = events.next().await {
            let mut current_pods = current.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Ok(Event::Apply(pod) | Event::InitApply(pod)) if waits(&pod) => {
                    let uid = pod.uid().unwrap_or_default();
                    if let Err(error) = pod_files::write(&pod, &self.folder.join(&uid)) {
                        anstream::eprintln!("downward API files of {}: {error:#}", pod.name_any());
                    }
                    let before = current_pods.insert(uid.clone(), Waiting { pod, is_reported: false });
                    if before.is_none_or(|it| it.is_reported) {
                        let (runner, current) = (self.clone(), Arc::clone(&current));
                        running.spawn(async move { runner.run(&uid, &current).await });
                    }
                }
                Ok(Event::Delete(pod)) => drop(current_pods.remove(&pod.uid().unwrap_or_default())),
                _ => {}
            }
        }
    }

    /// Runs the container of one pod until it succeeds or the pod is gone.
    async fn run(&self, uid: &str, current: &Current) {
        let pod_now =
            || current.lock().unwrap_or_else(PoisonError::into_inner).get(uid).map(|it| it.pod.clone());
        let reported = |is_reported: bool| {
            let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
            current.get_mut(uid).into_iter().for_each(|it| it.is_reported = is_reported);
        };
        let mut restarts = 0;
        while let Some(pod) = pod_now() {
            let result = async {
                let container = init_container(&pod).context("no init container of ours")?;
                let code = self.reaper.complete(self.command(&pod, container)?).await?.unwrap_or(-1);
                // Before the report: what comes after it may undo it.
                reported(code == 0);
                self.report(&pod, container, code, restarts).await?;
                Ok::<i32, anyhow::Error>(code)
            };
            match result.await {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) => {
                    anstream::eprintln!("init container of {}: {error:#}", pod.name_any());
                    reported(false);
                }
            }
            restarts += 1;
            tokio::time::sleep(RESTART).await;
        }
    }

    fn command(&self, pod: &Pod, container: &Container) -> Result<Command> {
        let uid = pod.uid().unwrap_or_default();
        let environment = pod_files::environment(pod, container, &self.folder.join(&uid));
        let mut arguments: Vec<String> = container.command.clone().unwrap_or_default();
        // The image's entry point is the program; a command replaces it, and is then the program's own arguments here.
        arguments.extend(container.args.clone().unwrap_or_default());
        let mounts = pod_files::mounts(container, &self.folder.join(&uid));
        let arguments = arguments.iter().map(|it| pod_files::expand(it, &environment, &mounts)).collect();
        std::fs::create_dir_all(self.folder.join(&uid))?;
        Ok(Command {
            name: format!("{NAME} of {}", pod.name_any()),
            program: self.program.clone(),
            arguments,
            environment,
            folder: self.folder.join(&uid),
            log: self.log.join(format!(
                "init-{}-{}.log",
                pod.namespace().unwrap_or_default(),
                pod.name_any()
            )),
        })
    }

    /// Tells the API server what a kubelet would.
    async fn report(&self, pod: &Pod, container: &Container, code: i32, restarts: i32) -> Result<()> {
        let now = Timestamp::now().to_string();
        let done = code == 0;
        let terminated = json!({ "exitCode": code, "reason": if done { "Completed" } else { "Error" }, "finishedAt": now });
        let statuses: Vec<_> = pod
            .spec
            .iter()
            .flat_map(|it| it.init_containers.iter().flatten())
            .map(|it| {
                let ours = it.name == container.name;
                let state = if ours {
                    json!({ "terminated": terminated })
                } else {
                    json!({ "terminated": { "exitCode": 0, "reason": "Completed", "finishedAt": now } })
                };
                json!({
                    "name": it.name, "image": it.image, "imageID": "", "ready": done,
                    "restartCount": if ours { restarts } else { 0 }, "state": state,
                })
            })
            .collect();
        let mut status = json!({ "initContainerStatuses": statuses });
        if done {
            status["conditions"] =
                json!([{ "type": "Initialized", "status": "True", "lastTransitionTime": now }]);
        }
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
        let patch = json!({ "metadata": { "uid": pod.uid() }, "status": status });
        pods.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Strategic(&patch)).await?;
        Ok(())
    }
}

fn init_container(pod: &Pod) -> Option<&Container> {
    pod.spec.as_ref()?.init_containers.iter().flatten().find(|it| it.name == NAME)
}

/// Bound, created by the stages, not yet initialised.
fn waits(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let conditions = status.and_then(|it| it.conditions.as_ref());
    let initialised =
        conditions.into_iter().flatten().any(|it| it.type_ == "Initialized" && it.status == "True");
    init_container(pod).is_some()
        && pod.metadata.deletion_timestamp.is_none()
        && status.is_some_and(|it| it.pod_ip.is_some())
        && !initialised
}
