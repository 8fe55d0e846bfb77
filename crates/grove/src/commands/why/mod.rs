//! `grove why`: why gangs are not placed, and what would help.
//!
//! `read` asks a cluster; `facts` is the answer. `report` makes of it what is shown: `cause` says why a gang waits and
//! `advice` what would help, where `words` reads what schedulers say; `text` prints it.

mod advice;
mod cause;
mod facts;
#[cfg(test)]
mod fixture;
mod read;
mod report;
mod text;
mod words;

use std::{io, str::FromStr};

use clap::Args;

use self::report::Report;
use crate::{
    cli::{Outcome, print},
    cluster::{Reach, block_on},
    findings::Format,
};

/// Say why gangs are not placed, and what would help.
///
/// Reads what the operator and the scheduler wrote, with your own rights, and changes nothing.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove why chat\n  \
    grove why podgang/chat-0\n  \
    grove why pod/chat-0-decode-x7k2p -o json\n\n\
    Exit codes: 0 it was shown, 1 there is no such object, 2 the cluster cannot be asked.")]
pub(crate) struct Why {
    /// Name of a PodCliqueSet, or podgang/NAME, or pod/NAME.
    #[arg(value_name = "NAME")]
    target: Target,

    /// Namespace [default: that of the context].
    #[arg(short, long)]
    namespace: Option<String>,

    /// How to print it; JSON is complete, text shows what needs attention first.
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
}

impl FromStr for Target {
    type Err = String;

    /// The kinds as kubectl takes them.
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = text.split_once('/').unwrap_or(("pcs", text));
        let make: fn(String) -> Self = match kind {
            "pcs" | "podcliqueset" | "podcliquesets" => Self::Set,
            "pg" | "podgang" | "podgangs" => Self::Gang,
            "po" | "pod" | "pods" => Self::Pod,
            other => return Err(format!("{other:?} is none of podcliqueset, podgang, pod")),
        };
        if name.is_empty() {
            return Err("the name is missing".to_owned());
        }
        Ok(make(name.to_owned()))
    }
}

impl Target {
    fn kind(&self) -> &'static str {
        match self {
            Self::Set(_) => "PodCliqueSet",
            Self::Gang(_) => "PodGang",
            Self::Pod(_) => "pod",
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Set(name) | Self::Gang(name) | Self::Pod(name) => name,
        }
    }
}

impl Why {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        block_on(self.answer())
    }

    async fn answer(self) -> io::Result<Outcome> {
        let cluster = self.reach.cluster().await?;
        let namespace = self.namespace.clone().unwrap_or_else(|| cluster.namespace.clone());
        let Some(facts) = read::read(&cluster, &namespace, &self.target).await? else {
            let (kind, name) = (self.target.kind(), self.target.name());
            anstream::eprintln!("grove: there is no {kind} {name:?} in namespace {namespace:?}");
            return Ok(Outcome::Findings);
        };
        let report = Report::of(&facts);
        let text = match self.output {
            Format::Json => {
                serde_json::to_string_pretty(&report).map(|it| format!("{it}\n")).map_err(io::Error::other)?
            }
            Format::Text => text::report(&report),
        };
        print(&text)
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
            ("job/a", Err("\"job\" is none of podcliqueset, podgang, pod".to_owned())),
        ];
        for (text, want) in rows {
            assert_eq!(text.parse::<Target>(), want, "{text}");
        }
    }
}
