//! `grove backends`: which schedulers there are, whether they can be used, and what they can do.
//!
//! With a cluster: SchedulerBackends are read and made a `view`, which `text` prints. Without one: `tables` asks the
//! backends that were compiled in.

mod tables;
mod text;
mod view;

use std::io;

use clap::{Args, ValueEnum};
use grove_api::wire::SchedulerBackend;
use grove_scheduler::Registry;
use kube::{Api, api::ListParams};
use serde::Serialize;

use self::view::Backend;
use crate::{
    cli::{Outcome, print},
    cluster::{Reach, block_on, failure},
    program::complain,
};

/// List schedulers, whether they are ready, and what they support.
///
/// Without a name: one line per scheduler that the operator knows. With a name: its features.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove backends\n  \
    grove backends kai-scheduler\n  \
    grove backends --offline > capabilities.md\n\n\
    Exit codes: 0 it was shown, 1 there is no such scheduler, 2 the cluster cannot be reached.")]
pub(crate) struct Backends {
    /// Scheduler name, as in schedulerName of pods.
    name: Option<String>,

    /// Print a Markdown table of what each scheduler supports, without a cluster.
    #[arg(long, conflicts_with_all = ["output", "kubeconfig", "context"])]
    offline: bool,

    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,

    #[command(flatten)]
    reach: Reach,
}

/// How backends are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A table.
    #[default]
    Text,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Backends {
    pub(crate) fn run(self, registry: &Registry) -> io::Result<Outcome> {
        let name = self.name.as_deref().map(|it| canonical(registry, it).to_owned());
        if self.offline {
            return offline(registry, name.as_deref());
        }
        let all = block_on(self.read())?;
        let Some(name) = name else {
            let text = match self.output {
                Output::Text => text::list(&all),
                other => other.of(&List { backends: &all })?,
            };
            return print(&text);
        };
        let Some(one) = all.iter().find(|it| it.name == name) else {
            return Ok(missing(&name, all.iter().map(|it| it.name.as_str())));
        };
        print(&match self.output {
            Output::Text => text::one(one),
            other => other.of(one)?,
        })
    }

    async fn read(&self) -> io::Result<Vec<Backend>> {
        let cluster = self.reach.cluster().await?;
        let api: Api<SchedulerBackend> = Api::all(cluster.client);
        let list =
            api.list(&ListParams::default()).await.map_err(|error| failure(&cluster.server, &error))?;
        Ok(view::all(&list.items))
    }
}

/// All of them.
#[derive(Serialize)]
struct List<'a> {
    backends: &'a [Backend],
}

impl Output {
    fn of(self, value: &impl Serialize) -> io::Result<String> {
        match self {
            Self::Yaml => serde_saphyr::to_string(value).map_err(io::Error::other),
            Self::Text | Self::Json => {
                serde_json::to_string_pretty(value).map(|it| format!("{it}\n")).map_err(io::Error::other)
            }
        }
    }
}

/// A scheduler may be asked for by any name that the configuration accepts.
fn canonical<'a>(registry: &Registry, name: &'a str) -> &'a str {
    let called = registry.all().iter().find(|it| it.synonyms().contains(&name));
    called.map_or(name, |it| it.name())
}

fn offline(registry: &Registry, name: Option<&str>) -> io::Result<Outcome> {
    let wanted: Vec<_> =
        registry.all().iter().filter(|it| name.is_none_or(|name| it.name() == name)).collect();
    match name {
        Some(name) if wanted.is_empty() => Ok(missing(name, registry.all().iter().map(|it| it.name()))),
        _ => print(&tables::markdown(&wanted)),
    }
}

fn missing<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Outcome {
    let known: Vec<&str> = known.collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    complain(format_args!("no scheduler backend {name:?}; known: {known}"));
    Outcome::Findings
}

#[cfg(test)]
mod tests {
    use grove_scheduler::builtin::builtin;

    use super::*;

    #[test]
    fn a_scheduler_has_the_names_of_the_configuration() {
        let registry = builtin();
        let rows = [
            ("kube-scheduler", "default-scheduler"),
            ("default-scheduler", "default-scheduler"),
            ("volcano", "volcano"),
            ("other", "other"),
        ];
        for (asked, want) in rows {
            assert_eq!(canonical(&registry, asked), want);
        }
    }
}
