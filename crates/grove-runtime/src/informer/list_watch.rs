//! Lists a kind and then watches it, for ever: a stream of [`Signal`]s.
//!
//! kube's `watcher` keeps bookmarks and the revisions of lists to itself. Both are needed here: they say when the server
//! was heard last, and whether its history went back because etcd was restored from a backup. A server does not refuse a
//! watch from a revision that it has not reached; it stays silent until it has. So a watch that failed, or that ended
//! without a word, continues only after a small list has shown that the server is at least as far. Where one informer of a
//! process notices, all of them list again ([`History`]).

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::mem;
use std::time::Duration;

use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::core::Status;
use kube::runtime::watcher::Config;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::backoff::Backoff;
use super::decode_error::{bounded, without_values};
use super::history::History;
use crate::cache::compare_versions;

/// How long a watch may last, as the server is asked; and how much longer we wait for its end before we drop it.
const WATCH_SECONDS: u32 = 290;
const MARGIN: Duration = Duration::from_secs(5);

/// What the server shows.
#[derive(Debug)]
pub(super) enum Signal<W> {
    /// The first page of a list arrived.
    ListStarted {
        /// The server's history went back since the last list or watch.
        rewound: bool,
    },
    /// An object of the list.
    Listed(W),
    /// That was the last one.
    ListEnded,
    /// An object appeared or changed.
    Applied(W),
    /// An object was deleted, or matches the selectors no longer.
    Deleted(W),
    /// Nothing changed up to now.
    Bookmark,
}

/// Why a list or watch failed. It is tried again after a pause.
#[derive(Debug, thiserror::Error)]
pub(super) enum ListWatchError {
    #[error("list failed: {0}")]
    List(#[source] kube::Error),
    #[error("watch failed: {0}")]
    Watch(#[source] kube::Error),
    #[error("the server ended the watch: {} ({})", .0.message, .0.code)]
    Ended(Box<Status>),
    #[error("an answer without metadata.resourceVersion")]
    NoRevision,
    #[error("revision {now} of the server is lower than {known}, which it showed before: listing again")]
    Rewound { known: String, now: String },
}

impl ListWatchError {
    /// Whether the server does not let us list.
    pub(super) fn is_denied(&self) -> bool {
        matches!(self, Self::List(kube::Error::Api(status)) if status.code == 403)
    }

    /// What failed, without anything that is in an object.
    pub(super) fn without_values(&self) -> String {
        match self {
            Self::List(error @ kube::Error::SerdeError(_)) => {
                format!("list cannot be decoded: {}", without_values(&error.to_string()))
            }
            Self::Watch(error @ kube::Error::SerdeError(_)) => {
                format!("event cannot be decoded: {}", without_values(&error.to_string()))
            }
            _ => bounded(&self.to_string()),
        }
    }
}

/// All signals, in their order. Has no end.
pub(super) fn list_watch<W>(
    api: Api<W>,
    config: Config,
    history: History,
) -> impl Stream<Item = Result<Signal<W>, ListWatchError>> + Send
where
    W: Resource + DeserializeOwned + Clone + Debug + Send + 'static,
{
    let start = ListWatch {
        api,
        config,
        phase: Phase::Unlisted,
        revision: None,
        rewound: false,
        epoch: history.epoch(),
        history,
        backoff: Backoff::new(),
        failed: false,
    };
    stream::unfold(start, |mut this| async move { Some((this.next().await, this)) })
}

struct ListWatch<W> {
    api: Api<W>,
    config: Config,
    phase: Phase<W>,
    /// How far in the server's history we are.
    revision: Option<String>,
    /// The history went back, and no list was begun since.
    rewound: bool,
    history: History,
    /// How often the history had gone back when the last list was asked for.
    epoch: u64,
    backoff: Backoff,
    failed: bool,
}

enum Phase<W> {
    Unlisted,
    /// Objects of a page that are not told yet, and where the next page begins.
    Page {
        objects: VecDeque<W>,
        next: Option<String>,
    },
    /// Everything up to `revision` is known. In doubt, the server is asked first how far it is.
    Listed {
        in_doubt: bool,
    },
    Watching {
        events: BoxStream<'static, kube::Result<WatchEvent<W>>>,
        /// It has shown nothing so far.
        silent: bool,
    },
}

type Step<W> = Result<Option<Signal<W>>, ListWatchError>;

impl<W> ListWatch<W>
where
    W: Resource + DeserializeOwned + Clone + Debug + Send + 'static,
{
    async fn next(&mut self) -> Result<Signal<W>, ListWatchError> {
        if mem::take(&mut self.failed) {
            self.backoff.pause().await;
        }
        loop {
            match self.step().await {
                Ok(Some(signal)) => return Ok(signal),
                Ok(None) => {}
                Err(error) => {
                    self.failed = true;
                    return Err(error);
                }
            }
        }
    }

    /// Each arm sets the phase that follows; where it sets none, the next step lists again.
    async fn step(&mut self) -> Step<W> {
        match mem::replace(&mut self.phase, Phase::Unlisted) {
            Phase::Unlisted => self.list(None).await,
            Phase::Page { mut objects, next } => match (objects.pop_front(), next) {
                (Some(object), next) => {
                    self.phase = Phase::Page { objects, next };
                    Ok(Some(Signal::Listed(object)))
                }
                (None, Some(next)) => self.list(Some(next)).await,
                (None, None) => {
                    self.phase = Phase::Listed { in_doubt: false };
                    Ok(Some(Signal::ListEnded))
                }
            },
            Phase::Listed { in_doubt } => self.watch(in_doubt).await,
            Phase::Watching { events, silent } => self.follow(events, silent).await,
        }
    }

    async fn list(&mut self, page: Option<String>) -> Step<W> {
        let is_first = page.is_none();
        let epoch = self.history.epoch();
        let params = ListParams { limit: self.config.page_size, continue_token: page, ..self.selection() };
        let list = self.api.list(&params).await.map_err(ListWatchError::List)?;
        let started = if is_first {
            let revision = list.metadata.resource_version.filter(|it| !it.is_empty());
            let revision = revision.ok_or(ListWatchError::NoRevision)?;
            let is_before = self.is_before(&revision);
            if is_before {
                self.note_rewind();
            }
            let rewound = mem::take(&mut self.rewound) || is_before || epoch != self.epoch;
            // What is listed at a lower revision is listed after the rewind.
            self.epoch = if is_before { self.history.epoch() } else { epoch };
            self.revision = Some(revision);
            Some(Signal::ListStarted { rewound })
        } else {
            None
        };
        let next = list.metadata.continue_.filter(|it| !it.is_empty());
        self.phase = Phase::Page { objects: list.items.into(), next };
        Ok(started)
    }

    async fn watch(&mut self, in_doubt: bool) -> Step<W> {
        // The next step lists.
        if self.history.epoch() != self.epoch {
            return Ok(None);
        }
        if in_doubt {
            self.phase = Phase::Listed { in_doubt };
            let params = ListParams { limit: Some(1), ..self.selection() };
            let list = self.api.list(&params).await.map_err(ListWatchError::List)?;
            self.advance(list.metadata.resource_version.as_deref(), false)?;
        }
        let Some(revision) = self.revision.clone() else { return Ok(None) };
        let params = WatchParams {
            label_selector: self.config.label_selector.clone(),
            field_selector: self.config.field_selector.clone(),
            timeout: Some(WATCH_SECONDS),
            bookmarks: true,
            send_initial_events: false,
        };
        match self.api.watch(&params, &revision).await {
            Ok(events) => {
                self.phase = Phase::Watching { events: events.boxed(), silent: true };
                Ok(None)
            }
            Err(error) => {
                self.continue_after(&error);
                Err(ListWatchError::Watch(error))
            }
        }
    }

    async fn follow(
        &mut self,
        mut events: BoxStream<'static, kube::Result<WatchEvent<W>>>,
        silent: bool,
    ) -> Step<W> {
        let patience = Duration::from_secs(WATCH_SECONDS.into()) + MARGIN;
        let event = tokio::select! {
            biased;
            // The next step lists.
            () = self.history.changed(self.epoch) => return Ok(None),
            event = timeout(patience, events.next()) => event,
        };
        let Some(event) = event.ok().flatten() else {
            self.phase = Phase::Listed { in_doubt: silent };
            return Ok(None);
        };
        let signal = match event {
            Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                self.advance(version(object.meta()), true)?;
                Signal::Applied(object)
            }
            Ok(WatchEvent::Deleted(object)) => {
                self.advance(version(object.meta()), true)?;
                Signal::Deleted(object)
            }
            Ok(WatchEvent::Bookmark(bookmark)) => {
                self.advance(Some(&bookmark.metadata.resource_version), true)?;
                Signal::Bookmark
            }
            Ok(WatchEvent::Error(status)) => {
                if status.code != 410 {
                    self.phase = Phase::Listed { in_doubt: true };
                }
                return Err(ListWatchError::Ended(status));
            }
            Err(error) => {
                // From the same revision, the same event would come again.
                if matches!(error, kube::Error::SerdeError(_)) {
                    self.phase = Phase::Watching { events, silent };
                } else {
                    self.continue_after(&error);
                }
                return Err(ListWatchError::Watch(error));
            }
        };
        self.phase = Phase::Watching { events, silent: false };
        Ok(Some(signal))
    }

    /// A server that no longer has the events after our revision refuses every watch from there.
    fn continue_after(&mut self, error: &kube::Error) {
        if !matches!(error, kube::Error::Api(status) if status.code == 410) {
            self.phase = Phase::Listed { in_doubt: true };
        }
    }

    /// The server is at this revision. Fails, and lists again, where it was further before.
    fn advance(&mut self, now: Option<&str>, moves: bool) -> Result<(), ListWatchError> {
        let Some(now) = now.filter(|it| !it.is_empty()) else {
            self.phase = Phase::Unlisted;
            return Err(ListWatchError::NoRevision);
        };
        if self.is_before(now) {
            (self.phase, self.rewound) = (Phase::Unlisted, true);
            self.note_rewind();
            let known = self.revision.clone().unwrap_or_default();
            return Err(ListWatchError::Rewound { known, now: now.to_owned() });
        }
        if moves {
            self.revision = Some(now.to_owned());
        }
        Ok(())
    }

    /// Tells the other informers, unless this is what made us list.
    fn note_rewind(&self) {
        self.history.went_back(self.epoch);
    }

    fn is_before(&self, now: &str) -> bool {
        self.revision.as_deref().is_some_and(|known| compare_versions(now, known) == Some(Ordering::Less))
    }

    fn selection(&self) -> ListParams {
        ListParams {
            label_selector: self.config.label_selector.clone(),
            field_selector: self.config.field_selector.clone(),
            ..ListParams::default()
        }
    }
}

fn version(meta: &ObjectMeta) -> Option<&str> {
    meta.resource_version.as_deref()
}
