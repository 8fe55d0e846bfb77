//! `grove status`: what runs, what is awaited and why, in plain words.
//!
//! `read` asks a cluster once and `follow` again and again; `seen` is the answer. `overview` and `screen` make of it what
//! is shown, with `reasons` for what is awaited; `text` prints it.

#[cfg(test)]
mod fixture;
mod follow;
mod overview;
mod read;
mod reasons;
mod screen;
mod seen;
mod text;

use std::{
    io::{self, IsTerminal, Write},
    ops::ControlFlow,
    path::PathBuf,
};

use clap::Args;
use serde::Serialize;

use self::{overview::Overview, read::Question, screen::Screen, seen::Seen};
use crate::{cli::Outcome, findings::Format};

/// Moves to the upper left corner of a terminal and empties it.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Show what runs, what is awaited and why.
///
/// Without a name: one line for each PodCliqueSet. With a name: its gangs, groups and roles, how many pods are ready of
/// those that are wanted, and what the others wait for.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove status\n  \
    grove status chat -w\n  \
    grove status -A -o json\n\n\
    Exit codes: 0 it was shown, 1 there is no such set, 2 the cluster cannot be asked.")]
pub(crate) struct Status {
    /// Name of a PodCliqueSet.
    set: Option<String>,

    /// Namespace [default: that of the context].
    #[arg(short, long)]
    namespace: Option<String>,

    /// Sets of all namespaces.
    #[arg(short = 'A', long, conflicts_with_all = ["namespace", "set"])]
    all_namespaces: bool,

    /// Show it again whenever it changes, until Ctrl-C.
    #[arg(short, long)]
    watch: bool,

    /// How to print it; JSON is complete, text shows what needs attention first.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,

    /// How to reach the cluster [default: $KUBECONFIG, ~/.kube/config, or the pod's own account].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig [default: its current one].
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

impl Status {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(self.answer())
    }

    async fn answer(self) -> io::Result<Outcome> {
        let question = self.question().await?;
        let mut printer = Printer { format: self.output, follows: self.watch, last: String::new() };
        let mut outcome = Outcome::Success;
        let mut show = |seen: &Seen| {
            outcome = match view(&question, seen) {
                Some(view) => return printer.print(&view).map(|()| ControlFlow::Continue(())),
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
        let config = read::config(self.kubeconfig.as_deref(), self.context.as_deref()).await?;
        let namespace = self.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        Ok(Question {
            server: config.cluster_url.to_string(),
            client: read::client(config)?,
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

fn view(question: &Question, seen: &Seen) -> Option<View> {
    match &question.set {
        Some(set) => Screen::of(seen, set).map(|it| View::Screen(Box::new(it))),
        None => Some(View::Overview(Overview::of(seen, question.namespace.is_none()))),
    }
}

fn missing(question: &Question) -> Outcome {
    let namespace = question.namespace.as_deref().unwrap_or_default();
    let set = question.set.as_deref().unwrap_or_default();
    anstream::eprintln!("grove: there is no PodCliqueSet {set:?} in namespace {namespace:?}");
    Outcome::Findings
}

struct Printer {
    format: Format,
    follows: bool,
    /// What was printed last; the same is not printed again.
    last: String,
}

impl Printer {
    fn print(&mut self, view: &View) -> io::Result<()> {
        let json = |value: serde_json::Result<String>| value.map_err(io::Error::other);
        let text = match (self.format, view) {
            (Format::Json, view) if self.follows => format!("{}\n", json(serde_json::to_string(view))?),
            (Format::Json, view) => format!("{}\n", json(serde_json::to_string_pretty(view))?),
            (Format::Text, View::Screen(screen)) => text::screen(screen),
            (Format::Text, View::Overview(overview)) => text::overview(overview),
        };
        if text == self.last {
            return Ok(());
        }
        let is_first = self.last.is_empty();
        self.last = text;
        // anstream drops the colours where nobody would see them, and obeys NO_COLOR.
        let is_terminal = io::stdout().is_terminal();
        let mut out = anstream::stdout().lock();
        match (self.follows, self.format) {
            (true, Format::Text) if is_terminal => io::stdout().write_all(CLEAR.as_bytes())?,
            (true, Format::Text) if !is_first => writeln!(out)?,
            _ => {}
        }
        write!(out, "{}", self.last)?;
        out.flush()
    }
}
