//! `grove why`: why gangs are not placed, and what would help.
//!
//! `read` asks a cluster; `facts` is the answer. `report` makes of it what is shown: `cause` says why a gang waits and
//! `advice` what would help, where `words` reads what schedulers say, `obstacle` what keeps pods off `nodes` and `room` what
//! capacity would help; `text` prints it. What is not Grove's own has a way of its own: `workload`.

mod advice;
mod cause;
mod facts;
#[cfg(test)]
pub(super) mod fixture;
mod nodes;
mod obstacle;
mod read;
mod refusals;
mod report;
mod room;
mod text;
mod words;
mod workload;

use std::{io, str::FromStr};

use clap::Args;
use grove_scheduler::Registry;
use serde::Serialize;

use self::{read::Answer, report::Report};
use crate::{
    cli::{Outcome, object_name, print},
    cluster::{Cluster, Reach, block_on},
    commands::kinds::{Kind, did_you_mean},
    findings::Format,
    program::complain,
};

/// Explain why gangs, pods and workloads are not scheduled, and how to fix it.
///
/// Uses what the operator, the pod grouper and the scheduler reported, and node capacity where you may read it. Read-only.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove why chat\n  \
    grove why gang/chat-0\n  \
    grove why pcsg/chat-0-decode\n  \
    grove why pod/chat-0-decode-x7k2p -o json\n  \
    grove why job/train\n  \
    grove why pytorchjobs.kubeflow.org/bert\n\n\
    Exit codes: 0 success, 1 no such object, 2 the cluster cannot be reached.")]
pub(crate) struct Why {
    /// Name of a PodCliqueSet, or KIND/NAME: pcs/, pcsg/, pclq/, gang/ (podgang/, pg/), pod/, or any workload with its kind
    /// as in kubectl, such as job/.
    #[arg(value_name = "NAME")]
    target: Target,

    /// Namespace [default: the context's].
    #[arg(short, long, value_parser = object_name)]
    namespace: Option<String>,

    /// Output format; JSON is complete, text shows problems first.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,

    #[command(flatten)]
    reach: Reach,
}

/// What is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Set(String),
    Group(String),
    Clique(String),
    Gang(String),
    Pod(String),
    /// Anything else that may have pods: its kind as the user wrote it, and its name.
    Other(String, String),
}

impl FromStr for Target {
    type Err = String;

    /// The kinds as kubectl takes them. `pg` is a PodGang, whatever else a cluster may call so.
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = text.split_once('/').unwrap_or(("pcs", text));
        if kind.is_empty() {
            return Err("the kind is missing".to_owned());
        }
        if name.is_empty() {
            return Err("the name is missing".to_owned());
        }
        if name.contains('/') {
            return Err("it is not KIND/NAME".to_owned());
        }
        let name = object_name(name)?;
        Ok(match Kind::of(kind) {
            Some(Kind::Set) => Self::Set(name),
            Some(Kind::Group) => Self::Group(name),
            Some(Kind::Clique) => Self::Clique(name),
            Some(Kind::Gang) => Self::Gang(name),
            Some(Kind::Pod) => Self::Pod(name),
            None => Self::Other(kind.to_owned(), name),
        })
    }
}

impl Target {
    fn kind(&self) -> &str {
        match self {
            Self::Set(_) => Kind::Set.name(),
            Self::Group(_) => Kind::Group.name(),
            Self::Clique(_) => Kind::Clique.name(),
            Self::Gang(_) => Kind::Gang.name(),
            Self::Pod(_) => Kind::Pod.name(),
            Self::Other(kind, _) => kind,
        }
    }

    /// A name that the user may have meant.
    async fn similar(&self, cluster: &Cluster, namespace: &str) -> Option<String> {
        let (kind, name) = match self {
            Self::Set(name) => (Kind::Set, name),
            Self::Group(name) => (Kind::Group, name),
            Self::Clique(name) => (Kind::Clique, name),
            Self::Gang(name) => (Kind::Gang, name),
            Self::Pod(name) => (Kind::Pod, name),
            Self::Other(kind, name) => return workload::similar(cluster, namespace, (kind, name)).await,
        };
        kind.similar(&cluster.client, namespace, name).await
    }

    fn name(&self) -> &str {
        match self {
            Self::Set(name)
            | Self::Group(name)
            | Self::Clique(name)
            | Self::Gang(name)
            | Self::Pod(name)
            | Self::Other(_, name) => name,
        }
    }
}

impl Why {
    pub(crate) fn run(self, registry: &Registry) -> io::Result<Outcome> {
        block_on(self.answer(registry))
    }

    async fn answer(self, registry: &Registry) -> io::Result<Outcome> {
        let cluster = self.reach.cluster().await?;
        let namespace = self.namespace.clone().unwrap_or_else(|| cluster.namespace.clone());
        if let Some(text) = told(&cluster, &namespace, registry, &self.target, self.output).await? {
            return print(&text);
        }
        let (kind, name) = (self.target.kind(), self.target.name());
        let hint = did_you_mean(self.target.similar(&cluster, &namespace).await.as_deref());
        complain(format_args!("no {kind} {name:?} in namespace {namespace:?}{hint}"));
        Ok(Outcome::Findings)
    }
}

/// All that there is to say; `None` where there is no such object.
async fn told(
    cluster: &Cluster,
    namespace: &str,
    registry: &Registry,
    target: &Target,
    output: Format,
) -> io::Result<Option<String>> {
    if let Target::Other(kind, name) = target {
        return workload::object(cluster, namespace, registry, (kind, name), output).await;
    }
    match read::read(cluster, namespace, registry, target).await? {
        Answer::Missing => Ok(None),
        Answer::Foreign(pod) => workload::pod(cluster, namespace, registry, &pod, output).await.map(Some),
        Answer::Gangs(facts) => {
            let report = Report::of(&facts);
            shown(&report, output, || text::report(&report)).map(Some)
        }
    }
}

/// For people, or for machines.
fn shown(report: &impl Serialize, output: Format, text: impl FnOnce() -> String) -> io::Result<String> {
    match output {
        Format::Json => {
            serde_json::to_string_pretty(report).map(|it| format!("{it}\n")).map_err(io::Error::other)
        }
        Format::Text => Ok(text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_about() {
        let rows = [
            ("chat", Ok(Target::Set("chat".to_owned()))),
            ("pcs/chat", Ok(Target::Set("chat".to_owned()))),
            ("podgang/chat-0", Ok(Target::Gang("chat-0".to_owned()))),
            ("pg/chat-0", Ok(Target::Gang("chat-0".to_owned()))),
            ("gang/chat-0", Ok(Target::Gang("chat-0".to_owned()))),
            ("pcsg/chat-0-d", Ok(Target::Group("chat-0-d".to_owned()))),
            ("pclq/chat-0-a", Ok(Target::Clique("chat-0-a".to_owned()))),
            ("pod/chat-0-a-x", Ok(Target::Pod("chat-0-a-x".to_owned()))),
            ("pod/", Err("the name is missing".to_owned())),
            ("", Err("the name is missing".to_owned())),
            ("/a", Err("the kind is missing".to_owned())),
            ("job/a/b", Err("it is not KIND/NAME".to_owned())),
            ("job/a", Ok(Target::Other("job".to_owned(), "a".to_owned()))),
            ("jobs.batch/a", Ok(Target::Other("jobs.batch".to_owned(), "a".to_owned()))),
        ];
        for (text, want) in rows {
            assert_eq!(text.parse::<Target>(), want, "{text}");
        }
    }
}
