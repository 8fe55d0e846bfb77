//! An open watch.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use k8s_openapi::jiff::Timestamp;
use serde_json::json;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::line;
use super::options::{Start, WatchOptions};
use crate::accept::Form;
use crate::failure::Failure;
use crate::object::{Object, encode};
use crate::resource::Resource;
use crate::selector::Selection;
use crate::store::{Event, Expired, Receiver, Store};
use crate::table::Rows;

/// How long nothing must happen before clients that want bookmarks are told how far they are.
const QUIET: Duration = Duration::from_secs(1);

/// How long clients that want bookmarks hear nothing at most, as with a real server.
const SILENT: Duration = Duration::from_mins(1);

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
    /// When the last line went out.
    heard: Instant,
    /// Whether a table still has to tell its columns.
    columns: bool,
    lines: VecDeque<Bytes>,
    cuts: u64,
    /// How often definitions had changed when that of this watch was looked at.
    definitions: u64,
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
        heard: Instant::now(),
        columns: true,
        lines: VecDeque::new(),
        cuts,
        definitions: 0,
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
        let mut view = View { scope, now: self.store.now(), columns: &mut self.columns };
        let selected = objects.iter().filter(|it| scope.selection.matches(it));
        self.lines = selected.map(|it| line("ADDED", &view.encode(&scope.resource.present(it)))).collect();
        (self.position, self.told) = (revision, revision);
        if matches!(start, Start::List(_)) && self.bookmarks {
            self.lines.push_back(view.bookmark(revision, true));
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            // Before anything else: a cut drops what was on its way.
            if self.signal.look().cuts != self.cuts {
                return None;
            }
            if let Some(line) = self.lines.pop_front() {
                self.heard = Instant::now();
                return Some(line);
            }
            if self.over {
                return None;
            }
            let caught_up = self.gather();
            if !self.lines.is_empty() || !caught_up {
                continue;
            }
            if self.is_defined_otherwise() {
                return None;
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
                () = sleep_until(self.heard + SILENT), if self.bookmarks => self.bookmark(),
            }
        }
    }

    /// Whether the definition of the resource is gone or another: clients begin again with what is served then.
    fn is_defined_otherwise(&mut self) -> bool {
        let Some(served) = &self.scope.resource.served else { return false };
        let changes = self.store.definition_changes();
        std::mem::replace(&mut self.definitions, changes) != changes && !served.is_current(&self.store)
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
            for event in state.follow(position)?.take(BATCH) {
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
                let now = self.store.now();
                let mut view = View { scope: &self.scope, now, columns: &mut self.columns };
                for event in events {
                    if let Some(line) = view.line(&event) {
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
        // A store that was set back says where it is.
        let revision = self.position.min(self.store.revision());
        let mut view = View { scope: &self.scope, now: self.store.now(), columns: &mut self.columns };
        self.lines.push_back(view.bookmark(revision, false));
        self.told = self.position;
    }
}

/// How this watch shows objects.
struct View<'a> {
    scope: &'a Scope,
    now: Timestamp,
    columns: &'a mut bool,
}

impl View<'_> {
    /// What an event is to this watch: an object that leaves the selection goes, one that enters it comes.
    fn line(&mut self, event: &Event) -> Option<Bytes> {
        let Scope { resource, selection, form, .. } = self.scope;
        let old = event.old.as_ref().filter(|it| selection.matches(it));
        let new = event.new.as_ref().filter(|it| selection.matches(it));
        let is_seen_whole = old.is_some() == event.old.is_some() && new.is_some() == event.new.is_some();
        let (kind, object) = event.change(old, new)?;
        let presented = resource.present(object);
        if is_seen_whole && *form == Form::Whole && Arc::ptr_eq(&presented, object) {
            return Some(event.line());
        }
        Some(line(kind, &self.encode(&presented)))
    }

    fn encode(&mut self, object: &Object) -> Bytes {
        let Scope { resource, form, .. } = self.scope;
        match form {
            Form::Table(include) => {
                let columns = std::mem::take(self.columns);
                Rows { resource, include: *include, now: self.now }.encode_one(object, columns)
            }
            form => object.encode(resource, *form, self.now),
        }
    }

    /// An object that says nothing but how far the watch is.
    fn bookmark(&mut self, revision: u64, ends_list: bool) -> Bytes {
        let resource = &self.scope.resource;
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if ends_list {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let (kind, version) = (resource.kind.as_str(), resource.api_version());
        let object = Object::new(json!({"kind": kind, "apiVersion": version, "metadata": metadata}));
        line("BOOKMARK", &self.encode(&object))
    }
}
