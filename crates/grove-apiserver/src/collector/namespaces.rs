//! Namespaces that end: everything in them goes, and then they do.

use std::sync::Arc;

use serde_json::Value;

use super::Collector;
use crate::metadata;
use crate::object::Object;
use crate::store::Key;
use crate::write::{Action, DeleteOptions, Subresource, WriteRequest};

pub(super) const RESOURCE: &str = "namespaces";

/// The key of a namespace.
pub(super) fn key(namespace: &str) -> Key {
    Key::new(RESOURCE, "", namespace)
}

impl Collector<'_> {
    pub(super) fn attend_namespace(&mut self, key: &Key, namespace: &Object) -> usize {
        let store = self.server.store();
        let inside = store.in_namespace(&key.name);
        if inside.is_empty() {
            return usize::from(
                namespace.field("/spec/finalizers").is_some() && self.finalize(key, namespace),
            );
        }
        let mut writes = 0;
        for key in inside {
            if let Some(object) = store.read(&key).filter(|it| !it.is_terminating()) {
                writes += usize::from(self.delete(&key, DeleteOptions::background(object.uid())));
            }
        }
        writes
    }

    /// Nothing is left in it.
    fn finalize(&self, key: &Key, namespace: &Object) -> bool {
        let Some(resource) = self.server.resources().by_id(RESOURCE).map(Arc::clone) else { return false };
        let mut body = namespace.value().clone();
        if let Some(spec) = body.get_mut("spec").map(metadata::map_mut) {
            spec.insert("finalizers".to_owned(), Value::Array(Vec::new()));
        }
        let request = WriteRequest {
            resource,
            namespace: String::new(),
            name: key.name.clone(),
            subresource: Some(Subresource::Finalize),
            manager: "namespace-controller".to_owned(),
            dry_run: false,
            action: Action::Update(body),
        };
        self.server.write(request).is_ok()
    }
}
