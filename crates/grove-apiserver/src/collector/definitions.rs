//! CustomResourceDefinitions that end: their objects go, and then they do.

use serde_json::Value;

use super::Collector;
use crate::definitions;
use crate::definitions::FINALIZER;
pub(super) use crate::definitions::RESOURCE;
use crate::object::Object;
use crate::store::{Key, Store};
use crate::write::DeleteOptions;

/// The definition of a resource, if it is stored and ends.
pub(super) fn of_resource(store: &Store, resource: &str) -> Option<Key> {
    let key = definitions::key(resource);
    store.read(&key).filter(|it| it.is_terminating()).map(|_| key)
}

impl Collector<'_> {
    pub(super) fn attend_definition(&mut self, key: &Key, definition: &Object) -> usize {
        if definition.finalizers().all(|it| it != FINALIZER) {
            return 0;
        }
        let resources = self.server.resources();
        let served = resources.by_id(&key.name).filter(|it| it.served.is_some());
        let objects = match served {
            Some(resource) => self.server.store().list(resource.id(), None),
            // Its names were not accepted: there is nothing of it.
            None => Vec::new(),
        };
        if objects.is_empty() {
            let left: Vec<Value> =
                definition.finalizers().filter(|it| *it != FINALIZER).map(Value::from).collect();
            return usize::from(self.change_metadata(key, definition, "finalizers", &left));
        }
        let mut writes = 0;
        for object in objects.iter().filter(|it| !it.is_terminating()) {
            let key = Key::new(key.name.as_str(), object.namespace(), object.name());
            writes += usize::from(self.delete(&key, DeleteOptions::background(object.uid())));
        }
        writes
    }
}
