//! Plays kubelet for our own pods: what is shipped is run as it is rendered.
//!
//! Pods of the operator's namespace are not faked by kwok. Here their one container is run as a process, from the files of its image:
//! with the command, environment, volumes, token, user and read-only root that its manifest says, as the first process of its own
//! namespace and with a network of its own, whose address the pod's status has. Probes decide on its readiness.
//!
//! Not enforced: limits of resources, seccomp, dropped capabilities (users other than root have none), NetworkPolicies. Needs root.

mod container;
mod image;
mod pod;
mod probe;
mod sandbox;
mod status;
mod volumes;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt, pin_mut};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event},
    },
};
use rustix::process::Signal;
use tokio::{
    sync::watch,
    task::{JoinHandle, JoinSet},
};

pub use self::image::Image;
use self::{
    pod::{Lifecycle, RunningPod},
    sandbox::Network,
};
use crate::{
    cluster::{Cluster, Process, Reaper},
    operator::account::NAMESPACE,
};

/// The scripts; they are written to the folder with the files of pods.
const SCRIPTS: [(&str, &str); 2] =
    [("sandbox.sh", include_str!("sandbox.sh")), ("container.sh", include_str!("container.sh"))];

/// What all pods have in common.
struct Shared {
    client: Client,
    reaper: Arc<Reaper>,
    /// By what manifests call them.
    images: BTreeMap<String, Image>,
    network: Network,
    folder: PathBuf,
    log: PathBuf,
    /// By the name of the pod.
    running: Mutex<BTreeMap<String, Process>>,
}

impl Shared {
    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Process>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the pods of the operator's namespace until it is dropped. The processes of pods end with the cluster.
pub struct PodRunner {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for PodRunner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl PodRunner {
    /// Starts watching pods. `images` are all images that can be pulled.
    pub fn start(cluster: &Cluster, images: BTreeMap<String, Image>) -> Result<Self> {
        ensure!(rustix::process::geteuid().is_root(), "only root can make namespaces for pods");
        let folder = cluster.options.folder.join("pods");
        std::fs::create_dir_all(&folder)?;
        for (name, text) in SCRIPTS {
            std::fs::write(folder.join(name), text)?;
        }
        let shared = Arc::new(Shared {
            client: cluster.client.clone(),
            reaper: cluster.reaper(),
            images,
            network: Network::new(cluster)?,
            log: cluster.options.folder.join("log"),
            folder,
            running: Mutex::default(),
        });
        Ok(Self { task: tokio::spawn(watch_pods(Arc::clone(&shared))), shared })
    }

    /// Kills the container of a pod with SIGKILL. It is restarted, as by a kubelet.
    pub async fn kill(&self, pod: &str) -> Result<()> {
        let process = self.shared.running().get(pod).cloned();
        let process = process.with_context(|| format!("pod {pod} does not run"))?;
        self.shared.reaper.end_by(&process, Signal::KILL).await?;
        Ok(())
    }

    /// The process of a pod, for measuring and looking at it.
    pub fn pid(&self, pod: &str) -> Option<u32> {
        self.shared.running().get(pod).map(|it| it.pid)
    }
}

async fn watch_pods(shared: Arc<Shared>) {
    let mut lifecycles: BTreeMap<String, watch::Sender<Lifecycle>> = BTreeMap::new();
    let mut listed = BTreeSet::new();
    // Aborted with this task.
    let mut pods = JoinSet::new();
    let api: Api<Pod> = Api::namespaced(shared.client.clone(), NAMESPACE);
    let events = watcher::watcher(api, watcher::Config::default()).default_backoff();
    pin_mut!(events);
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => listed.clear(),
            Ok(Event::Apply(pod) | Event::InitApply(pod)) => {
                let uid = pod.uid().unwrap_or_default();
                listed.insert(uid.clone());
                let (lifecycle, is_bound) =
                    (Lifecycle::of(&pod), pod.spec.as_ref().is_some_and(|it| it.node_name.is_some()));
                match lifecycles.get(&uid) {
                    Some(sender) => {
                        sender.send_if_modified(|it| std::mem::replace(it, lifecycle) != lifecycle);
                    }
                    None if is_bound => {
                        let (sender, receiver) = watch::channel(lifecycle);
                        lifecycles.insert(uid, sender);
                        pods.spawn(RunningPod::new(Arc::clone(&shared), pod).run(receiver));
                    }
                    None => {}
                }
            }
            Ok(Event::InitDone) => {
                // Pods deleted while the watch was interrupted.
                let gone = |(uid, sender): (&String, &watch::Sender<Lifecycle>)| {
                    if !listed.contains(uid) {
                        sender.send_replace(Lifecycle::Deleted);
                    }
                };
                lifecycles.iter().for_each(gone);
            }
            Ok(Event::Delete(pod)) => {
                if let Some(sender) = lifecycles.get(&pod.uid().unwrap_or_default()) {
                    sender.send_replace(Lifecycle::Deleted);
                }
            }
            // It is tried again.
            Err(_) => {}
        }
    }
}
