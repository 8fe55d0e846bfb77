//! `grove why`: why gangs are not placed, and what would help.
//!
//! `read` asks a cluster; `facts` is the answer. `report` makes of it what is shown: `cause` says why a gang waits and
//! `advice` what would help, where `words` reads what schedulers say, `obstacle` what keeps pods off `nodes` and `room` what
//! capacity would help; `text` prints it. What is not Grove's own has a way of its own: `workload`.

mod advice;
mod cause;
mod facts;
#[cfg(test)]
mod fixture;
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
    cli::{Outcome, print},
    cluster::{Cluster, Reach, block_on},
    findings::Format,
};

/// Explain why gangs, pods and workloads are not scheduled, and how to fix it.
///
/// Uses what the operator, the pod grouper and the scheduler reported, and node capacity where you may read it. Read-only.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove why chat\n  \
    grove why podgang/chat-0\n  \
    grove why pod/chat-0-decode-x7k2p -o json\n  \
    grove why job/train\n  \
    grove why pytorchjobs.kubeflow.org/bert\n\n\
    Exit codes: 0 success, 1 no such object, 2 the cluster cannot be reached.")]
pub(crate) struct Why {
    /// Name of a PodCliqueSet, or podgang/NAME, pod/NAME, job/NAME, or KIND/NAME of any workload, with KIND as in kubectl.
    #[arg(value_name = "NAME")]
    target: Target,

    /// Namespace [default: the context's].
    #[arg(short, long)]
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
        let name = name.to_owned();
        Ok(match kind {
            "pcs" | "podcliqueset" | "podcliquesets" => Self::Set(name),
            "pg" | "podgang" | "podgangs" => Self::Gang(name),
            "po" | "pod" | "pods" => Self::Pod(name),
            other => Self::Other(other.to_owned(), name),
        })
    }
}

impl Target {
    fn kind(&self) -> &str {
        match self {
            Self::Set(_) => "PodCliqueSet",
            Self::Gang(_) => "PodGang",
            Self::Pod(_) => "pod",
            Self::Other(kind, _) => kind,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Set(name) | Self::Gang(name) | Self::Pod(name) | Self::Other(_, name) => name,
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
        anstream::eprintln!("grove: no {kind} {name:?} in namespace {namespace:?}");
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
