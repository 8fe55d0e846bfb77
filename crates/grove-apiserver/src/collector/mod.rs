//! The garbage collector: deletes what nobody owns any more, and empties namespaces that end.
//!
//! It is a controller like any other: it follows the events of the store and writes through [`ApiServer::write`].
//! What an event may have made possible is put on a list of keys; each key is attended to by looking at the store as
//! it is then, so that it does not matter how often or when that happens.

mod definitions;
mod namespaces;
mod owners;

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::object::Object;
use crate::server::ApiServer;
use crate::store::{Event, Key};
use crate::write::{Action, DeleteOptions, PatchBody, WriteRequest};

/// Does all there is to do, also what follows from it. How many writes that took.
pub fn collect(server: &ApiServer) -> usize {
    Collector::new(server).pass()
}

/// Does what there is to do after every change, until `stop`.
pub async fn run_collector(server: ApiServer, stop: impl Future<Output = ()> + Send) {
    let collector = Collector::new(&server);
    run(collector, stop).await;
}

/// Likewise, for a cluster in which a controller of its own empties namespaces.
pub async fn run_garbage_collector(server: ApiServer, stop: impl Future<Output = ()> + Send) {
    let collector = Collector { empties_namespaces: false, ..Collector::new(&server) };
    run(collector, stop).await;
}

async fn run(mut collector: Collector<'_>, stop: impl Future<Output = ()> + Send) {
    let mut stop = pin!(stop);
    let mut signal = collector.server.store().subscribe();
    loop {
        signal.look();
        collector.pass();
        tokio::select! {
            biased;
            () = &mut stop => return,
            () = signal.changed() => {}
        }
    }
}

struct Collector<'a> {
    server: &'a ApiServer,
    /// All events up to here are known.
    position: u64,
    /// How often the store was restored by then.
    restores: u64,
    work: BTreeSet<Key>,
    /// Whether namespaces that end are its work, too.
    empties_namespaces: bool,
}

impl<'a> Collector<'a> {
    /// At position 0, which no store remembers: it begins by looking at everything.
    fn new(server: &'a ApiServer) -> Self {
        Self { server, position: 0, restores: 0, work: BTreeSet::new(), empties_namespaces: true }
    }

    fn pass(&mut self) -> usize {
        let mut writes = 0;
        loop {
            self.learn();
            let Some(key) = self.work.pop_first() else { return writes };
            writes += self.attend(&key);
        }
    }

    /// Puts on the list what the events since the last time may have made possible.
    fn learn(&mut self) {
        let store = self.server.store();
        let restores = std::mem::replace(&mut self.restores, store.restores());
        let known = store.events_since(self.position).ok().filter(|_| restores == self.restores);
        if let Some(events) = known {
            for event in events {
                self.position = event.revision;
                self.learn_of(&event);
            }
        } else {
            // In this order: what happens in between is seen twice rather than never.
            self.position = store.revision();
            self.work = store.objects().into_iter().map(|(key, _)| key).collect();
        }
    }

    fn learn_of(&mut self, event: &Event) {
        if event.new.is_some() {
            self.work.insert(event.key.clone());
        }
        let store = self.server.store();
        if let Some(old) = &event.old {
            // Its owners may have waited for it, or for it to stop blocking them.
            let owners = old.owner_references().iter().filter_map(|it| it.get("uid")?.as_str());
            self.work.extend(owners.filter_map(|uid| store.by_uid(uid)));
            if event.new.is_none() {
                self.work.extend(store.dependents(old.uid()));
                if !event.key.namespace.is_empty() {
                    self.work.insert(namespaces::key(&event.key.namespace));
                }
                // The last object of a definition that ends.
                self.work.extend(definitions::of_resource(store, &event.key.resource));
            }
        }
    }

    /// Does what there is to do about one object. How many writes that took.
    fn attend(&mut self, key: &Key) -> usize {
        let Some(object) = self.server.store().read(key) else { return 0 };
        let is_ending = &*key.resource == namespaces::RESOURCE && object.is_terminating();
        if is_ending && self.empties_namespaces {
            return self.attend_namespace(key, &object);
        }
        if &*key.resource == definitions::RESOURCE && object.is_terminating() {
            return self.attend_definition(key, &object);
        }
        self.attend_owned(key, &object)
    }

    fn delete(&self, key: &Key, options: DeleteOptions) -> bool {
        self.write(key, Action::Delete(options))
    }

    /// Changes the metadata of an object, if it is still as it was read.
    fn change_metadata(&self, key: &Key, object: &Object, field: &str, value: &[Value]) -> bool {
        let metadata = json!({"resourceVersion": object.meta("resourceVersion"), field: value});
        self.write(key, Action::Patch(PatchBody::Merge(json!({"metadata": metadata}))))
    }

    /// Whether the write was done. If not, somebody else wrote, and that is an event.
    fn write(&self, key: &Key, action: Action) -> bool {
        let Some(resource) = self.server.resources().by_id(&key.resource).map(Arc::clone) else {
            return false;
        };
        let request = WriteRequest {
            resource,
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            subresource: None,
            manager: "garbage-collector".to_owned(),
            dry_run: false,
            action,
        };
        self.server.write(request).is_ok()
    }
}
