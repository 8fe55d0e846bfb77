//! An open watch.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::json;
use tokio::time::{Sleep, sleep};

use super::line;
use super::options::{Start, WatchOptions};
use crate::accept::Form;
use crate::failure::Failure;
use crate::object::{Object, encode};
use crate::resource::Resource;
use crate::selector::Selection;
use crate::store::{Event, Expired, Receiver, Store};

/// How long nothing must happen before clients that want bookmarks are told how far they are.
const QUIET: Duration = Duration::from_secs(1);

/// How many events are looked at while others wait.
const BATCH: usize = 1_000;

/// What a watch is about.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) resource: Arc<Resource>,
    pub(crate) namespace: Option<String>,
    pub(crate) selection: Selection,
    pub(crate) form: Form,
}

struct Watch {
    store: Arc<Store>,
    signal: Receiver,
    scope: Scope,
    bookmarks: bool,
    /// All events up to here are looked at.
    position: u64,
    /// The client knows of this revision.
    told: u64,
    lines: VecDeque<Bytes>,
    cuts: u64,
    deadline: Pin<Box<Sleep>>,
    over: bool,
}

/// Opens a watch: a stream of lines.
pub(crate) fn watch(store: &Arc<Store>, scope: Scope, options: &WatchOptions) -> BoxStream<'static, Bytes> {
    let mut signal = store.subscribe();
    let cuts = signal.look().cuts;
    let mut watch = Watch {
        store: Arc::clone(store),
        signal,
        scope,
        bookmarks: options.bookmarks,
        position: 0,
        told: 0,
        lines: VecDeque::new(),
        cuts,
        deadline: Box::pin(sleep(options.timeout)),
        over: false,
    };
    watch.begin(options.start);
    stream::unfold(watch, |mut watch| async move { watch.next().await.map(|line| (line, watch)) }).boxed()
}

impl Watch {
    fn begin(&mut self, start: Start) {
        if let Start::After(revision) = start {
            (self.position, self.told) = (revision, revision);
            return;
        }
        let scope = &self.scope;
        let (revision, objects) = self.store.view(|state| {
            let objects: Vec<Arc<Object>> = if start == Start::Now {
                Vec::new()
            } else {
                let all = state.range(scope.resource.id(), scope.namespace.as_deref());
                all.map(|(_, object)| Arc::clone(object)).collect()
            };
            (state.revision(), objects)
        });
        let selected = objects.iter().filter(|it| scope.selection.matches(it));
        self.lines = selected.map(|it| line("ADDED", &scope.encode(it))).collect();
        (self.position, self.told) = (revision, revision);
        if matches!(start, Start::List(_)) && self.bookmarks {
            self.lines.push_back(self.scope.bookmark(revision, true));
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            // Before anything else: a cut drops what was on its way.
            if self.signal.look().cuts != self.cuts {
                return None;
            }
            if let Some(line) = self.lines.pop_front() {
                return Some(line);
            }
            if self.over {
                return None;
            }
            let caught_up = self.gather();
            if !self.lines.is_empty() || !caught_up {
                continue;
            }
            let untold = self.bookmarks && self.position > self.told;
            tokio::select! {
                biased;
                () = self.signal.changed() => {}
                () = &mut self.deadline => {
                    self.over = true;
                    if untold {
                        self.bookmark();
                    }
                }
                () = sleep(QUIET), if untold => self.bookmark(),
            }
        }
    }

    /// Makes lines of the next events; whether these were the last for now.
    fn gather(&mut self) -> bool {
        let (resource, namespace) = (self.scope.resource.id(), self.scope.namespace.as_deref());
        let is_in = |event: &Event| {
            &*event.key.resource == resource && namespace.is_none_or(|it| it == event.key.namespace)
        };
        let position = self.position;
        let found = self.store.view(|state| {
            let mut last = position;
            let mut events = Vec::new();
            for event in state.ring().since(position)?.take(BATCH) {
                last = event.revision;
                if is_in(event) {
                    events.push(Arc::clone(event));
                }
            }
            Ok::<_, Expired>((events, last, last >= state.revision()))
        });
        match found {
            Ok((events, last, caught_up)) => {
                self.position = last;
                for event in events {
                    if let Some(line) = self.scope.line(&event) {
                        self.told = event.revision;
                        self.lines.push_back(line);
                    }
                }
                caught_up
            }
            Err(expired) => {
                // Within an open answer there is no HTTP status any more, and clients do not look for one.
                let status = Failure::expired(expired.to_string()).to_json();
                self.lines.push_back(line("ERROR", &encode(&status)));
                self.over = true;
                true
            }
        }
    }

    fn bookmark(&mut self) {
        self.lines.push_back(self.scope.bookmark(self.position, false));
        self.told = self.position;
    }
}

impl Scope {
    /// What an event is to this watch: an object that leaves the selection goes, one that enters it comes.
    fn line(&self, event: &Event) -> Option<Bytes> {
        let old = event.old.as_ref().filter(|it| self.selection.matches(it));
        let new = event.new.as_ref().filter(|it| self.selection.matches(it));
        let is_seen_whole = old.is_some() == event.old.is_some() && new.is_some() == event.new.is_some();
        if is_seen_whole && self.form == Form::Whole {
            return Some(event.line());
        }
        event.change(old, new).map(|(kind, object)| line(kind, &self.encode(object)))
    }

    fn encode(&self, object: &Object) -> Bytes {
        match self.form {
            Form::Whole => object.json(),
            Form::Metadata => object.metadata_json(),
        }
    }

    fn bookmark(&self, revision: u64, ends_list: bool) -> Bytes {
        let (kind, version) = match self.form {
            Form::Whole => (self.resource.kind.as_str(), self.resource.api_version()),
            Form::Metadata => ("PartialObjectMetadata", "meta.k8s.io/v1".to_owned()),
        };
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if ends_list {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        line("BOOKMARK", &encode(&json!({"kind": kind, "apiVersion": version, "metadata": metadata})))
    }
}
