//! `grove status`: what runs, what is awaited and why, in plain words.
//!
//! `read` asks a cluster once and `follow` again and again; `seen` is the answer. `overview` and `screen` make of it what
//! is shown, with `reasons` for what is awaited; `text` prints it.

#[cfg(test)]
pub(super) mod fixture;
pub(super) mod follow;
mod overview;
pub(super) mod read;
pub(super) mod reasons;
pub(super) mod screen;
pub(super) mod seen;
mod text;

use std::{io, ops::ControlFlow};

use clap::Args;
use serde::Serialize;

use self::{overview::Overview, read::Question, screen::Screen, seen::Seen};
use crate::{
    cli::Outcome,
    cluster::{Cluster, Reach, block_on},
    findings::Format,
    printer::Printer,
};

/// Show what is running, what is not, and why.
///
/// Without a name: one line per PodCliqueSet. With a name: its gangs, scaling groups and roles, how many pods are ready,
/// and what the others wait for.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove status\n  \
    grove status chat -w\n  \
    grove status -A -o json\n\n\
    Exit codes: 0 success, 1 no such set, 2 the cluster cannot be reached.")]
pub(crate) struct Status {
    /// Name of a PodCliqueSet.
    set: Option<String>,

    /// Namespace [default: the context's].
    #[arg(short, long)]
    namespace: Option<String>,

    /// PodCliqueSets of all namespaces.
    #[arg(short = 'A', long, conflicts_with_all = ["namespace", "set"])]
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
        let question = self.question().await?;
        let mut printer = Printer::new(self.output, self.watch);
        let mut outcome = Outcome::Success;
        let mut show = |seen: &Seen| {
            outcome = match view(&question, seen) {
                Some(view) => {
                    return printer.print(&view, || view.text()).map(|()| ControlFlow::Continue(()));
                }
                None => missing(&question),
            };
            Ok(ControlFlow::Break(()))
        };
        let shown = if self.watch {
            follow::follow(&question, &mut show).await
        } else {
            show(&read::once(&question).await?).map(drop)
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
        Ok(Question {
            server,
            client,
            namespace: (!self.all_namespaces).then_some(namespace),
            set: self.set.clone(),
        })
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
            Self::Screen(screen) => text::screen(screen),
            Self::Overview(overview) => text::overview(overview),
        }
    }
}

fn view(question: &Question, seen: &Seen) -> Option<View> {
    match &question.set {
        Some(set) => Screen::of(seen, set).map(|it| View::Screen(Box::new(it))),
        None => Some(View::Overview(Overview::of(seen, question.namespace.is_none()))),
    }
}

fn missing(question: &Question) -> Outcome {
    let namespace = question.namespace.as_deref().unwrap_or_default();
    let set = question.set.as_deref().unwrap_or_default();
    anstream::eprintln!("grove: no PodCliqueSet {set:?} in namespace {namespace:?}");
    Outcome::Findings
}
