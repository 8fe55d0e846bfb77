//! Schedulers besides the stock one: what they need in the cluster, and how they are started.

use std::path::PathBuf;

use anyhow::Result;

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
    Ok(())
}

/// The programs of the chosen scheduler.
pub(super) fn commands(cluster: &Cluster, plane: &Plane) -> Vec<Command> {
    let [a, b, c, d, e, f] = plane.ports.others;
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
                        format!("--listen-address={}", local(a)),
                        format!("--plugin-server-port={b}"),
                    ],
                ),
                program(
                    "kai-binder",
                    &[
                        format!("--metrics-bind-address={}", local(c)),
                        format!("--health-probe-bind-address={}", local(d)),
                    ],
                ),
            ]
        }
        Scheduler::Volcano => {
            let configuration = cluster.options.folder.join("volcano-scheduler.conf");
            // Written here, because only this scheduler reads it; a failure shows when it starts.
            let _ = std::fs::write(&configuration, VOLCANO_CONFIGURATION);
            let arguments = [
                format!("--kubeconfig={}", cluster.kubeconfig.display()),
                "--leader-elect=false".to_owned(),
                format!("--scheduler-conf={}", configuration.display()),
                "--schedule-period=200ms".to_owned(),
                format!("--listen-address={}", local(e)),
                format!("--healthz-address={}", local(f)),
            ];
            vec![plane.command(
                "volcano-scheduler",
                cluster.programs.get("volcano", "volcano-scheduler"),
                &arguments,
            )]
        }
    }
}
