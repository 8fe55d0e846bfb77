//! `grove topology`: where nodes are, what is free there, and which gangs sit there; and what a topology could be.
//!
//! `read` asks a cluster; `facts` is the answer. `view` makes of it what is shown: `tree` grows the domains, `seats` says
//! where gangs are, `demand` what pods take; `text` prints it. `detect` proposes a topology from the labels of nodes.

mod detect;
mod facts;
#[cfg(test)]
mod fixture;
mod known;
mod naming;
mod natural;
mod nesting;
mod read;
mod seats;
mod text;
mod tree;
mod view;

use std::io;

use clap::{Args, Subcommand};

use self::{
    detect::Detect,
    facts::Facts,
    view::{Depth, View, position},
};
use crate::{
    cli::{Outcome, print},
    cluster::{Cluster, Reach, block_on},
    findings::Format,
    program,
};

/// Show topology levels and domains, their free capacity, and the gangs placed there.
///
/// Reads ClusterTopologyBindings, Kueue Topologies, nodes, pods and PodGangs. Free capacity is what nodes offer minus what
/// their pods request; cordoned and NotReady nodes have none. A gang is shown in the narrowest domain that contains all of
/// its pods. Read-only.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    grove topology\n  \
    grove topology cluster --depth host\n  \
    grove topology -o json\n  \
    grove topology detect\n\n\
    Exit codes: 0 success, 1 no such topology, or none at all, 2 the cluster cannot be reached, or no topology has \
    the level.")]
pub(crate) struct Topology {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    show: Show,
}

#[derive(Subcommand)]
enum Command {
    Detect(Detect),
}

#[derive(Args)]
struct Show {
    /// Name of a ClusterTopologyBinding or a Kueue Topology [default: all].
    name: Option<String>,

    /// Narrowest level to show, by domain or node label [default: text: the narrowest with at most 64 domains; JSON: all].
    #[arg(long, value_name = "LEVEL")]
    depth: Option<String>,

    /// Resource to show.
    #[arg(long, value_name = "NAME", default_value = RESOURCE)]
    resource: String,

    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,

    #[command(flatten)]
    reach: Reach,
}

/// What is counted unless something else is asked for.
const RESOURCE: &str = "nvidia.com/gpu";

/// What is said, where.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    stdout: String,
    stderr: String,
    outcome: Outcome,
}

impl Topology {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        let answer = block_on(async {
            match self.command {
                Some(Command::Detect(detect)) => detect.answer(&detect.reach.cluster().await?).await,
                None => self.show.answer(&self.show.reach.cluster().await?).await,
            }
        })?;
        anstream::eprint!("{}", answer.stderr);
        print(&answer.stdout)?;
        Ok(answer.outcome)
    }
}

impl Show {
    async fn answer(&self, cluster: &Cluster) -> io::Result<Answer> {
        let facts = read::read(cluster, self.name.as_deref(), &self.resource).await?;
        let depth = self.depth(&facts)?;
        let view = View::of(&facts, &self.resource, depth);
        let stdout = match self.output {
            Format::Json => {
                serde_json::to_string_pretty(&view).map(|it| format!("{it}\n")).map_err(io::Error::other)?
            }
            Format::Text => text::view(&view),
        };
        if !facts.topologies.is_empty() {
            return Ok(Answer { stdout, stderr: String::new(), outcome: Outcome::Success });
        }
        let missing = match &self.name {
            Some(name) => format!("no topology {name:?}; `grove topology` lists all"),
            None => text::NONE.to_owned(),
        };
        Ok(Answer { stdout, stderr: format!("{}: {missing}\n", program::name()), outcome: Outcome::Findings })
    }

    /// How far to go down. A level that no topology has is a mistake.
    fn depth(&self, facts: &Facts) -> io::Result<Depth<'_>> {
        let Some(level) = &self.depth else {
            return Ok(if self.output == Format::Json { Depth::All } else { Depth::Readable });
        };
        if facts.topologies.is_empty() || facts.topologies.iter().any(|it| position(it, level).is_some()) {
            return Ok(Depth::Level(level));
        }
        let levels = |it: &facts::Topology| {
            let domains: Vec<&str> = it.levels.iter().map(|it| it.domain.as_str()).collect();
            format!("{} has {}", it.name, domains.join(", "))
        };
        let known: Vec<String> = facts.topologies.iter().map(levels).collect();
        Err(io::Error::other(format!("--depth: no level {level:?}; {}", known.join("; "))))
    }
}

#[cfg(test)]
mod tests;
