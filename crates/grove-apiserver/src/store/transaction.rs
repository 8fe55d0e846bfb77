//! One write, alone in the store.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::{Event, Expired, Key, State, WriteRecord};
use crate::admission::Session;
use crate::metadata;
use crate::object::Object;
use crate::ownership::Writer;
use crate::resource::Resource;
use crate::write::FieldCheck;

/// The store as a write sees it. A dry run sees everything and changes nothing.
pub(crate) struct Transaction<'a> {
    state: &'a mut State,
    now: Timestamp,
    dry_run: bool,
    manager: String,
    subresource: Option<String>,
    /// The webhooks that are asked, if any are.
    session: Option<Session>,
    /// How strictly the fields of the request are looked at.
    pub(crate) fields: FieldCheck,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(state: &'a mut State, now: Timestamp, dry_run: bool) -> Self {
        let (manager, fields) = (String::new(), FieldCheck::default());
        Self { state, now, dry_run, manager, subresource: None, session: None, fields }
    }

    /// Says who writes, and to which part of the object.
    pub(crate) fn write_as(&mut self, manager: &str, subresource: Option<&str>) {
        manager.clone_into(&mut self.manager);
        self.subresource = subresource.map(str::to_owned);
    }

    /// From now on, webhooks are asked. An attempt after the first has the time of the first.
    pub(crate) fn attend(&mut self, mut session: Session, resource: &Arc<Resource>) {
        self.now = session.begin(resource, self.now);
        self.session = Some(session);
    }

    /// The webhooks are asked no more.
    pub(crate) fn leave(&mut self) -> Option<Session> {
        self.session.take()
    }

    pub(crate) fn is_attended(&self) -> bool {
        self.session.is_some()
    }

    pub(crate) fn session(&mut self) -> Option<&mut Session> {
        self.session.as_mut()
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(crate) fn writer(&self, resource: &Resource) -> Writer {
        Writer::new(&self.manager, self.subresource.as_deref(), resource.api_version(), time(self.now))
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Object>> {
        self.state.objects.get(key).cloned()
    }

    /// The objects of a resource, of one namespace or of all.
    pub(crate) fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<(Key, Arc<Object>)> {
        self.state.range(resource, namespace).map(|(key, object)| (key.clone(), Arc::clone(object))).collect()
    }

    /// Likewise, as they were at a revision.
    pub(crate) fn list_at(
        &self,
        revision: u64,
        resource: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<(Key, Arc<Object>)>, Expired> {
        Ok(self.state.at(revision, resource, namespace)?.into_iter().collect())
    }

    pub(crate) fn revision(&self) -> u64 {
        self.state.revision
    }

    /// Stores an object, new or changed, and gives it the next revision.
    pub(crate) fn put(&mut self, key: &Key, mut value: Value) -> Arc<Object> {
        if self.dry_run {
            return Arc::new(Object::new(value));
        }
        let revision = self.state.revision + 1;
        metadata::set(&mut value, "resourceVersion", Some(revision.to_string().into()));
        let object = Arc::new(Object::new(value));
        let old = self.state.objects.insert(key.clone(), Arc::clone(&object));
        self.happened(key, old, Some(Arc::clone(&object)));
        object
    }

    /// Removes an object.
    pub(crate) fn remove(&mut self, key: &Key) {
        if self.dry_run {
            return;
        }
        if let Some(old) = self.state.objects.remove(key) {
            self.happened(key, Some(old), None);
        }
    }

    fn happened(&mut self, key: &Key, old: Option<Arc<Object>>, new: Option<Arc<Object>>) {
        self.state.revision += 1;
        self.state.index.update(key, old.as_deref(), new.as_deref());
        self.state.note_definitions(key);
        self.state.ring.push(Event::new(self.state.revision, key.clone(), old, new));
    }

    /// Remembers that somebody asked for a write.
    pub(crate) fn record(&mut self, record: WriteRecord) {
        self.state.log.push(record);
    }

    /// Remembers that somebody asked for a dry run, which is no write.
    pub(crate) fn record_dry_run(&mut self, record: WriteRecord) {
        self.state.dry_runs.push(record);
    }

    pub(crate) fn uid(&mut self) -> String {
        let random = &mut self.state.random;
        match &mut self.session {
            Some(session) => session.uid(random),
            None => random.uid(),
        }
    }

    pub(crate) fn suffix(&mut self) -> String {
        let random = &mut self.state.random;
        match &mut self.session {
            Some(session) => session.suffix(random),
            None => random.suffix(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }
}

/// A time as objects have it: whole seconds, in UTC.
pub(crate) fn time(timestamp: Timestamp) -> Value {
    timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into()
}
