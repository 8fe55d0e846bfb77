//! Asks again and again: watches what was asked for and shows it whenever it changes.

use std::{io, ops::ControlFlow, time::Duration};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use grove_api::{
    constants::conditions::min_available_breached,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Resource,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event, watcher},
    },
};
use tokio::time::{Instant, timeout_at};

use super::{
    read::{Kind, Question},
    screen::condition,
    seen::{Objects, Seen, key},
};
use crate::{
    cluster::{causes, failure},
    program::complain,
};

/// Changes come in bursts; nobody reads faster than this.
const PAUSE: Duration = Duration::from_millis(200);

/// How often a countdown is shown.
const TICK: Duration = Duration::from_secs(1);

/// A change of one kind.
enum Change {
    Set(Event<PodCliqueSet>),
    Group(Event<PodCliqueScalingGroup>),
    Clique(Event<PodClique>),
    Gang(Event<PodGang>),
    Pod(Event<Pod>),
}

type Changes = BoxStream<'static, Result<Change, watcher::Error>>;

/// Shows what is there, and then every change, until `show` has had enough.
pub(in crate::commands) async fn follow(
    question: &Question,
    show: &mut dyn FnMut(&Seen) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let mut changes = changes(question);
    let mut state = State { missing: changes.len(), ..State::default() };
    let mut due: Option<Instant> = None;
    loop {
        let next = changes.next();
        let change = match due {
            None => next.await,
            Some(at) => {
                let Ok(change) = timeout_at(at, next).await else {
                    due = state.counts_down().then(|| Instant::now() + TICK);
                    if show(&state.seen)?.is_break() {
                        return Ok(());
                    }
                    continue;
                };
                change
            }
        };
        match change {
            Some(Ok(change)) => state.take(change),
            // From the first answer on, the watch comes back by itself.
            Some(Err(error)) if state.missing == 0 => {
                complain(format_args!("the connection is lost, trying again: {}", causes(&error)));
            }
            Some(Err(error)) => return Err(why(question, &error)),
            None => return Ok(()),
        }
        if state.missing == 0 {
            let soon = Instant::now() + PAUSE;
            due = Some(due.map_or(soon, |it| it.min(soon)));
        }
    }
}

fn changes(question: &Question) -> stream::SelectAll<Changes> {
    let related = watcher::Config::default().labels(&question.selector());
    let sets = match &question.set {
        Some(set) => watcher::Config::default().fields(&format!("metadata.name={set}")),
        None => watcher::Config::default(),
    };
    let mut all = vec![
        watch(question, sets, Change::Set),
        watch(question, related.clone(), Change::Clique),
        watch(question, related.clone(), Change::Gang),
    ];
    if question.set.is_some() {
        all.push(watch(question, related.clone(), Change::Group));
        all.push(watch(question, related, Change::Pod));
    }
    stream::select_all(all)
}

fn watch<K: Kind>(question: &Question, config: watcher::Config, wrap: fn(Event<K>) -> Change) -> Changes {
    watcher(question.api(), config).default_backoff().map(move |it| it.map(wrap)).boxed()
}

fn why(question: &Question, error: &watcher::Error) -> io::Error {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => failure(&question.server, error),
        other => io::Error::other(causes(other)),
    }
}

/// What is known, and what is being listed anew.
#[derive(Default)]
struct State {
    seen: Seen,
    coming: Seen,
    /// Kinds that were not listed yet.
    missing: usize,
}

impl State {
    /// Whether something happens by itself when time is up: a PodClique is below its minimum.
    fn counts_down(&self) -> bool {
        let conditions =
            |it: &PodClique| it.status.as_ref().map(|it| it.conditions.clone()).unwrap_or_default();
        let breached = |it: &PodClique| {
            condition(&conditions(it), min_available_breached::TYPE).is_some_and(|it| it.status == "True")
        };
        self.seen.cliques.values().any(breached)
    }

    fn take(&mut self, change: Change) {
        let Self { seen, coming, missing } = self;
        let listed = match change {
            Change::Set(event) => apply(&mut seen.sets, &mut coming.sets, event),
            Change::Group(event) => apply(&mut seen.groups, &mut coming.groups, event),
            Change::Clique(event) => apply(&mut seen.cliques, &mut coming.cliques, event),
            Change::Gang(event) => apply(&mut seen.gangs, &mut coming.gangs, event),
            Change::Pod(event) => apply(&mut seen.pods, &mut coming.pods, event),
        };
        // Listed again after a lost connection, it is not missing any more.
        *missing = missing.saturating_sub(usize::from(listed));
    }
}

/// Whether a list is complete.
fn apply<K: Resource>(now: &mut Objects<K>, coming: &mut Objects<K>, event: Event<K>) -> bool {
    match event {
        Event::Init => coming.clear(),
        Event::InitApply(object) => drop(coming.insert(key(&object), object)),
        Event::InitDone => {
            // What went while nobody watched goes with the old list.
            *now = std::mem::take(coming);
            return true;
        }
        Event::Apply(object) => drop(now.insert(key(&object), object)),
        Event::Delete(object) => drop(now.remove(&key(&object))),
    }
    false
}

#[cfg(test)]
mod tests;
