//! `grove rollout`: how far an update is, which templates there were, and how to go back to one.
//!
//! `progress` makes of what `grove status` reads how far an update is; `history` lists the kept templates with their
//! `changes`, and `undo` puts one back; `restart` replaces every pod. `read` and `act` ask the cluster; `text` prints.

mod act;
mod changes;
mod history;
mod progress;
mod read;
mod restart;
mod text;
mod undo;

use std::{io, ops::ControlFlow};

use clap::{Args, Subcommand};
use k8s_openapi::jiff::Timestamp;
use serde::Serialize;

use self::{
    act::Done,
    history::History,
    progress::{Progress, State},
};
use crate::{
    cli::{Outcome, object_name},
    cluster::{Cluster, Reach, block_on},
    commands::kinds::{Kind, did_you_mean},
    commands::status::{
        follow,
        read::{self as objects, Question},
        seen::Seen,
    },
    findings::Format,
    printer::Printer,
    program::complain,
};

/// Follow, restart, pause, resume and undo updates of a PodCliqueSet.
#[derive(Subcommand)]
#[command(after_help = "Examples:\n  \
    grove rollout status chat --watch\n  \
    grove rollout history chat\n  \
    grove rollout restart chat\n  \
    grove rollout undo chat --to-revision 3\n\n\
    Exit codes: 0 success, 1 no such set or revision, a restart that would do nothing, or the update is stuck, 2 the cluster cannot be \
    reached.")]
pub(crate) enum Rollout {
    /// Show the progress of an update and what it waits for.
    Status {
        #[command(flatten)]
        which: Which,

        /// Update on every change, until the rollout is complete or stuck.
        #[arg(short, long)]
        watch: bool,
    },
    /// List revisions of the template and their changes.
    History {
        #[command(flatten)]
        which: Which,
    },
    /// Roll back to an earlier revision of the pod templates; replicas stay as they are.
    Undo {
        #[command(flatten)]
        which: Which,

        /// Revision to roll back to [default: the newest that differs from the current template].
        #[arg(long, value_name = "NUMBER")]
        to_revision: Option<i64>,
    },
    /// Replace every pod by a rolling update, with the template as it is.
    ///
    /// Notes the time as the annotation kubectl.kubernetes.io/restartedAt on every clique of the template, so that the update
    /// strategy replaces all pods. Refused while updates are paused, and with the strategy OnDelete.
    Restart {
        #[command(flatten)]
        which: Which,
    },
    /// Pause updates: no pod is replaced, and template changes wait.
    Pause {
        #[command(flatten)]
        which: Which,
    },
    /// Resume a paused update.
    Resume {
        #[command(flatten)]
        which: Which,
    },
}

/// The set, and how to print what is said of it.
#[derive(Args)]
pub(crate) struct Which {
    /// Name of a PodCliqueSet.
    #[arg(value_parser = object_name)]
    name: String,

    /// Namespace [default: the context's].
    #[arg(short, long, value_parser = object_name)]
    namespace: Option<String>,

    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,

    #[command(flatten)]
    reach: Reach,
}

impl Rollout {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        block_on(self.answer())
    }

    async fn answer(self) -> io::Result<Outcome> {
        match self {
            Self::Status { which, watch } => status(&which.question().await?, which.output, watch).await,
            Self::History { which } => {
                let question = which.question().await?;
                let Some(read) = read::read(&question).await? else { return Ok(missing(&question).await) };
                let history = History::of(&read.set, &read.revisions);
                show(which.output, &history, || text::history(&history, Timestamp::now()))
            }
            Self::Undo { which, to_revision } => {
                let question = which.question().await?;
                which.say(&question, act::undo(&question, to_revision).await?).await
            }
            Self::Restart { which } => {
                let question = which.question().await?;
                which.say(&question, act::restart(&question, Timestamp::now()).await?).await
            }
            Self::Pause { which } => {
                let question = which.question().await?;
                which.say(&question, act::pause(&question, true).await?).await
            }
            Self::Resume { which } => {
                let question = which.question().await?;
                which.say(&question, act::pause(&question, false).await?).await
            }
        }
    }
}

impl Which {
    async fn question(&self) -> io::Result<Question> {
        let Cluster { client, server, namespace } = self.reach.cluster().await?;
        let namespace = self.namespace.clone().unwrap_or(namespace);
        Ok(Question { client, server, namespace: Some(namespace), set: Some(self.name.clone()) })
    }

    async fn say(&self, question: &Question, done: Done) -> io::Result<Outcome> {
        match done {
            Done::NoSet => Ok(missing(question).await),
            Done::Refused(why) => {
                complain(format_args!("{why}"));
                Ok(Outcome::Findings)
            }
            Done::Said(action) => show(self.output, &action, || format!("{}\n", action.message)),
        }
    }
}

/// Shows how far an update is; follows it where `watch` says so.
async fn status(question: &Question, format: Format, watch: bool) -> io::Result<Outcome> {
    let name = question.set.clone().unwrap_or_default();
    let mut printer = Printer::new(format, watch);
    let (mut outcome, mut is_missing) = (Outcome::Success, false);
    let mut show = |seen: &Seen| {
        let Some(progress) = Progress::of(seen, &name) else {
            is_missing = true;
            return Ok(ControlFlow::Break(()));
        };
        printer.print(&progress, || text::progress(&progress))?;
        if progress.state == State::Stuck {
            outcome = Outcome::Findings;
        }
        Ok(if progress.state.is_final() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let shown = if watch {
        follow::follow(question, &mut show).await
    } else {
        show(&objects::once(question).await?).map(drop)
    };
    if is_missing {
        outcome = missing(question).await;
    }
    match shown {
        // Whoever reads us has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(outcome),
        other => other.map(|()| outcome),
    }
}

fn show(format: Format, value: &impl Serialize, text: impl FnOnce() -> String) -> io::Result<Outcome> {
    Printer::new(format, false).print(value, text).map(|()| Outcome::Success)
}

async fn missing(question: &Question) -> Outcome {
    let namespace = question.namespace.as_deref().unwrap_or_default();
    let set = question.set.as_deref().unwrap_or_default();
    let hint = did_you_mean(Kind::Set.similar(&question.client, namespace, set).await.as_deref());
    complain(format_args!("no PodCliqueSet {set:?} in namespace {namespace:?}{hint}"));
    Outcome::Findings
}

#[cfg(test)]
mod tests;
