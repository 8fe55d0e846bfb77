//! `grove plan`: what a PodCliqueSet would become, and whether its gangs fit.
//!
//! `sets` reads and validates the input, `schedulers` picks the backend that renders it, `objects` asks Grove's planners for
//! every object that would be created. `room` is the cluster that is described or read, and `fit` places the gangs on it.
//! `report` is what is shown; `text` prints it.

mod fit;
mod objects;
mod report;
mod room;
mod schedulers;
mod sets;
mod text;

use std::{io, path::PathBuf};

use clap::{Args, ValueEnum};
use grove_api::validation::Environment;
use grove_scheduler::Registry;

use self::{objects::Objects, report::Report, room::Room, schedulers::Schedulers, sets::Sets};
use crate::{
    cli::{Outcome, object_name, print},
    cluster::{Cluster, Reach, block_on},
    findings, input,
};

/// Show what a PodCliqueSet would create, and whether its gangs fit. Writes nothing.
///
/// Runs admission's validation first, then the operator's planners and the scheduler backend: gangs with their minima and
/// topology, PodCliques, pods, and the scheduler's objects. With --topology or --cluster, says where
/// each gang would go, base gangs first, or what it lacks.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove plan -f set.yaml\n  \
    grove plan -f set.yaml --topology zones=2,blocks=2,racks=2,hosts=4,gpus=8\n  \
    kubectl get nodes -o yaml > nodes.yaml; grove plan -f set.yaml --topology nodes.yaml\n  \
    grove plan -f set.yaml --cluster\n  \
    grove plan -f set.yaml --scheduler kai-scheduler -o yaml\n\n\
    Exit codes: 0 everything fits (or no nodes were given), 1 a gang does not fit or a set is invalid, 2 unusable \
    input, or the cluster cannot be reached.")]
pub(crate) struct Plan {
    /// File, folder, or - for standard input; repeatable. ClusterTopologyBindings in it are used.
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    files: Vec<String>,

    /// Nodes to place the gangs on: one line such as racks=2,hosts=4,gpus=8 (also zones, blocks, cpus, memory), or a
    /// file with these keys or with Node objects.
    #[arg(long, value_name = "SPEC|FILE", conflicts_with = "cluster")]
    topology: Option<String>,

    /// Place the gangs on the nodes of the cluster, beside the pods that run there. Reads nodes, pods and topologies.
    #[arg(long)]
    cluster: bool,

    /// Scheduler for pods that name none [default: that of --config, else default-scheduler].
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,

    /// Operator configuration to plan with.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Namespace of sets that name none [default: default].
    #[arg(short, long, value_parser = object_name)]
    namespace: Option<String>,

    /// Output format; JSON and YAML have every object.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,

    #[command(flatten)]
    reach: Reach,
}

/// How a plan is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object.
    Json,
    /// Likewise, as YAML.
    Yaml,
}

impl Plan {
    pub(crate) fn run(self, registry: &Registry) -> io::Result<Outcome> {
        block_on(self.answer(registry))
    }

    async fn answer(self, registry: &Registry) -> io::Result<Outcome> {
        let mut problems = findings::Report::default();
        let Some(mut schedulers) = Schedulers::new(registry, self.config.as_deref(), &mut problems)? else {
            return self.refuse(&problems);
        };
        let mut environment = schedulers.environment();
        let mut room = self.topology.as_deref().map(Room::described).transpose()?;
        if self.cluster {
            let cluster = self.reach.cluster().await?;
            room = Some(self.read(&cluster, &mut schedulers, &mut environment).await?);
        }
        if let Some(name) = &self.scheduler {
            schedulers.set_default(name)?;
        }
        // Without a configuration to say otherwise, nodes with levels are there to be used.
        environment.topology_aware = environment.topology_aware.or_else(|| room.is_some().then_some(true));
        let sources = input::read(&self.files)?;
        let namespace = self.namespace.as_deref().unwrap_or("default");
        let sets = Sets::read(&sources, environment, room.as_ref(), &mut schedulers, namespace);
        let sets = match sets {
            Ok(sets) => sets,
            Err(problems) => return self.refuse(&problems),
        };
        sets.warnings.print_aside()?;
        if sets.sets.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no PodCliqueSet in the input"));
        }
        let mut planned = Vec::new();
        for it in &sets.sets {
            planned.push(Objects::of(it).map_err(io::Error::other)?);
        }
        if let Some(room) = &mut room {
            room.prepare(&sets.sets);
        }
        let fits = room.as_ref().map(|room| fit::place_all(room, &planned)).transpose()?;
        let report = Report::new(&sets.sets, &planned, room.as_ref(), fits.as_deref());
        self.show(&report)?;
        Ok(if report.fits == Some(false) { Outcome::Findings } else { Outcome::Success })
    }

    async fn read(
        &self,
        cluster: &Cluster,
        schedulers: &mut Schedulers<'_>,
        environment: &mut Environment,
    ) -> io::Result<Room> {
        schedulers.look_at(cluster).await?;
        room::topologies(cluster, environment).await?;
        Room::of_cluster(cluster).await
    }

    /// The input cannot be planned.
    fn refuse(&self, problems: &findings::Report) -> io::Result<Outcome> {
        let format =
            if self.output == Output::Text { findings::Format::Text } else { findings::Format::Json };
        problems.print(format)
    }

    fn show(&self, report: &Report) -> io::Result<()> {
        let text = match self.output {
            Output::Text => text::report(report),
            Output::Json => {
                serde_json::to_string_pretty(report).map(|it| it + "\n").map_err(io::Error::other)?
            }
            Output::Yaml => serde_saphyr::to_string(report).map_err(io::Error::other)?,
        };
        print(&text).map(drop)
    }
}
