//! Schedulers besides the stock one: what they need in the cluster, and how they are started.

use std::path::PathBuf;

use anyhow::{Result, bail};
use futures::FutureExt;
use serde_json::json;

use super::{Cluster, control_plane::Plane, reaper::Command};
use crate::objects;

/// A scheduler that scenarios run on. The stock one always runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Scheduler {
    /// Stock kube-scheduler.
    #[default]
    Kube,
    /// KAI.
    Kai,
    /// Volcano.
    Volcano,
}

impl Scheduler {
    /// As people and the build script call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kube => "kube",
            Self::Kai => "kai",
            Self::Volcano => "volcano",
        }
    }

    /// As pods call it.
    pub fn pod_name(self) -> &'static str {
        match self {
            Self::Kube => "default-scheduler",
            Self::Kai => "kai-scheduler",
            Self::Volcano => "volcano",
        }
    }

    /// The program that places pods.
    pub fn program(self) -> &'static str {
        match self {
            Self::Kube => "kube-scheduler",
            Self::Kai => "kai-scheduler",
            Self::Volcano => "volcano-scheduler",
        }
    }
}

const KAI: &str = include_str!("schedulers/kai.yaml");
const VOLCANO: &str = include_str!("schedulers/volcano.yaml");
const VOLCANO_CONFIGURATION: &str = include_str!("schedulers/volcano-scheduler.conf");

/// CRDs, namespaces and queues.
pub(super) async fn install(cluster: &Cluster) -> Result<()> {
    let (module, objects) = match cluster.options.scheduler {
        Scheduler::Kube => return Ok(()),
        Scheduler::Kai => ("kai", KAI),
        Scheduler::Volcano => ("volcano", VOLCANO),
    };
    let mut crds: Vec<PathBuf> = std::fs::read_dir(cluster.programs.folder(module).join("crds"))?
        .map(|it| it.map(|it| it.path()))
        .collect::<Result<_, _>>()?;
    crds.sort();
    for file in crds {
        objects::apply_text(&cluster.client, &std::fs::read_to_string(file)?, None).await?;
    }
    objects::until_crds_established(&cluster.client).await?;
    objects::apply_text(&cluster.client, objects, None).await?;
    std::fs::write(cluster.options.folder.join("volcano-scheduler.conf"), VOLCANO_CONFIGURATION)?;
    Ok(())
}

/// The programs of the chosen scheduler.
pub(super) fn commands(cluster: &Cluster, plane: &Plane) -> Vec<Command> {
    let ports = plane.ports.others;
    let local = |port: u16| format!("127.0.0.1:{port}");
    match cluster.options.scheduler {
        Scheduler::Kube => Vec::new(),
        Scheduler::Kai => {
            let program = |name: &str, arguments: &[String]| {
                let mut command = plane.command(name, cluster.programs.get("kai", name), arguments);
                command.environment.insert("KUBECONFIG".to_owned(), cluster.kubeconfig.display().to_string());
                command
            };
            vec![
                program(
                    "kai-scheduler",
                    &[
                        "--schedule-period=200ms".to_owned(),
                        format!("--listen-address={}", local(ports[0])),
                        format!("--plugin-server-port={}", ports[1]),
                    ],
                ),
                program(
                    "kai-binder",
                    &[
                        format!("--metrics-bind-address={}", local(ports[2])),
                        format!("--health-probe-bind-address={}", local(ports[3])),
                    ],
                ),
            ]
        }
        Scheduler::Volcano => {
            let kubeconfig = format!("--kubeconfig={}", cluster.kubeconfig.display());
            let program = |name: &str, arguments: &[&str]| {
                let mut all = vec![kubeconfig.clone(), "--leader-elect=false".to_owned()];
                all.extend(arguments.iter().map(|it| (*it).to_owned()));
                plane.command(name, cluster.programs.get("volcano", name), &all)
            };
            vec![
                program(
                    "volcano-scheduler",
                    &[
                        "--scheduler-conf=volcano-scheduler.conf",
                        "--schedule-period=200ms",
                        "--cache-dumper=false",
                    ],
                ),
                // It opens queues: without it the scheduler takes no pod of any queue.
                program(
                    "volcano-controller-manager",
                    &["--controllers=queue-controller,pg-controller,hypernode-controller"],
                ),
            ]
        }
    }
}

/// KAI's own pod grouper, which a cluster has beside KAI unless it was left out.
pub(super) fn companion(cluster: &Cluster, name: &str) -> Result<Command> {
    let Scheduler::Kai = cluster.options.scheduler else { bail!("only KAI has {name}") };
    let folder = cluster.options.folder.clone();
    let kubeconfig = cluster.kubeconfig.display().to_string();
    Ok(Command {
        name: name.to_owned(),
        program: cluster.programs.get("kai", name),
        arguments: ["--metrics-bind-address=0", "--health-probe-bind-address=0"].map(str::to_owned).into(),
        environment: [("KUBECONFIG".to_owned(), kubeconfig)].into(),
        log: cluster.log(name),
        folder,
    })
}

/// Waits until the scheduler takes pods.
pub(super) async fn until_open(cluster: &Cluster) -> Result<()> {
    if cluster.options.scheduler != Scheduler::Volcano {
        return Ok(());
    }
    let mut queue = json!({ "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue" });
    let queues = objects::api_for(&cluster.client, &mut queue, None).await?;
    let ask = || {
        async {
            let queue = queues.get_opt("default").await?;
            Ok(queue.is_some_and(|it| it.data["status"]["state"] == "Open"))
        }
        .boxed()
    };
    cluster.until("Volcano's queue is open", "volcano-controller-manager", ask).await
}
