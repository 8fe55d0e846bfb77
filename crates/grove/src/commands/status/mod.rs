//! `grove status`: what runs, what is awaited and why, in plain words.
//!
//! `read` asks a cluster once and `follow` again and again; `seen` is the answer. `overview` and `screen` make of it what
//! is shown, with `reasons` for what is awaited, `blocked` and `countdown` to a restart; `target` leaves what was asked about, and `text`
//! prints it.

mod blocked;
mod countdown;
#[cfg(test)]
pub(super) mod fixture;
pub(super) mod follow;
mod overview;
pub(super) mod read;
pub(super) mod reasons;
pub(crate) mod screen;
pub(super) mod seen;
mod target;
mod text;

use std::{io, ops::ControlFlow};

use clap::Args;
use k8s_openapi::jiff::Timestamp;
use serde::Serialize;

use self::{overview::Overview, read::Question, screen::Screen, seen::Seen, target::Target};
use crate::{
    cli::{Outcome, object_name},
    cluster::{Cluster, Reach, block_on},
    commands::kinds::did_you_mean,
    findings::Format,
    printer::Printer,
    program::complain,
};

/// Show what is running, what is not, and why.
///
/// Without a name: one line per PodCliqueSet. With a name: its gangs, scaling groups and roles, how many pods are ready,
/// and what the others wait for. With KIND/NAME only what concerns that object of a set.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove status\n  \
    grove status chat -w\n  \
    grove status gang/chat-0\n  \
    grove status -A -o json\n\n\
    Exit codes: 0 success, 1 no such object, 2 the cluster cannot be reached.")]
pub(crate) struct Status {
    /// Name of a PodCliqueSet, or pcsg/NAME, pclq/NAME, gang/NAME, pod/NAME of something that belongs to one.
    #[arg(value_name = "NAME")]
    target: Option<Target>,

    /// Namespace [default: the context's].
    #[arg(short, long, value_parser = object_name)]
    namespace: Option<String>,

    /// PodCliqueSets of all namespaces.
    #[arg(short = 'A', long, conflicts_with_all = ["namespace", "target"])]
    all_namespaces: bool,

    /// Update on every change, until Ctrl-C.
    #[arg(short, long)]
    watch: bool,

    /// Output format; JSON is complete, text shows problems first.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,

    #[command(flatten)]
    reach: Reach,
}

impl Status {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        block_on(self.answer())
    }

    async fn answer(self) -> io::Result<Outcome> {
        let mut question = self.question().await?;
        if let Some(target) = &self.target {
            question.set = target.set(&question).await?;
            if question.set.is_none() {
                return Ok(missing(&question, target).await);
            }
        }
        let mut is_missing = false;
        let mut printer = Printer::new(self.output, self.watch);
        let mut show = |seen: &Seen| {
            let Some(view) = view(&question, self.target.as_ref(), seen) else {
                is_missing = true;
                return Ok(ControlFlow::Break(()));
            };
            printer.print(&view, || view.text()).map(|()| ControlFlow::Continue(()))
        };
        let shown = if self.watch {
            follow::follow(&question, &mut show).await
        } else {
            show(&read::once(&question).await?).map(drop)
        };
        let outcome = match &self.target {
            Some(target) if is_missing => missing(&question, target).await,
            _ => Outcome::Success,
        };
        match shown {
            // Whoever reads us has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(outcome),
            other => other.map(|()| outcome),
        }
    }

    async fn question(&self) -> io::Result<Question> {
        let Cluster { client, server, namespace } = self.reach.cluster().await?;
        let namespace = self.namespace.clone().unwrap_or(namespace);
        Ok(Question { server, client, namespace: (!self.all_namespaces).then_some(namespace), set: None })
    }
}

/// What is shown.
#[derive(Serialize)]
#[serde(untagged)]
enum View {
    Screen(Box<Screen>),
    Overview(Overview),
}

impl View {
    fn text(&self) -> String {
        match self {
            Self::Screen(screen) => text::screen(screen, Timestamp::now()),
            Self::Overview(overview) => text::overview(overview),
        }
    }
}

fn view(question: &Question, target: Option<&Target>, seen: &Seen) -> Option<View> {
    match &question.set {
        Some(set) => {
            let mut screen = Screen::of(seen, set)?;
            let is_there = target.is_none_or(|it| it.narrow(&mut screen, seen));
            is_there.then(|| View::Screen(Box::new(screen)))
        }
        None => Some(View::Overview(Overview::of(seen, question.namespace.is_none()))),
    }
}

async fn missing(question: &Question, Target { kind, name }: &Target) -> Outcome {
    let namespace = question.namespace.as_deref().unwrap_or_default();
    let hint = did_you_mean(kind.similar(&question.client, namespace, name).await.as_deref());
    complain(format_args!("no {} {name:?} in namespace {namespace:?}{hint}", kind.name()));
    Outcome::Findings
}
