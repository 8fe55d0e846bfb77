//! What a stored definition says about the objects of one version.

use std::sync::Arc;

use serde_json::Value;

use super::key;
use crate::metadata;
use crate::object::Object;
use crate::schema::{Schema, unknown_fields};
use crate::store::Store;

/// One served version of a stored definition.
#[derive(Debug)]
pub(crate) struct Served {
    /// The definition: its name, and which one of that name, in which state.
    pub(super) definition: String,
    pub(super) uid: String,
    pub(super) generation: i64,
    /// What objects of this version say as their `apiVersion`, and what they say in the store.
    pub(super) api_version: String,
    pub(super) stored_api_version: String,
    /// Objects that were stored before this revision may lack defaults and have fields that are gone.
    pub(super) since: u64,
    pub(super) schema: Arc<Schema>,
    /// The version as the definition has it: schema, printer columns.
    pub(super) raw: Arc<Value>,
}

impl Served {
    /// The name of the definition.
    pub(crate) fn definition(&self) -> &str {
        &self.definition
    }

    /// The version in which objects are stored.
    pub(crate) fn stored_version(&self) -> String {
        let version = self.stored_api_version.rsplit('/').next();
        version.unwrap_or_default().to_owned()
    }

    /// The version as the definition has it, with its schema and printer columns.
    pub(crate) fn raw(&self) -> &Value {
        &self.raw
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether the definition is still as it was when this was made of it.
    pub(crate) fn is_of(&self, definition: Option<&Object>) -> bool {
        definition.is_some_and(|it| {
            it.uid() == self.uid && metadata::number(it.value(), "generation") == Some(self.generation)
        })
    }

    /// Likewise, as the store has it.
    pub(crate) fn is_current(&self, store: &Store) -> bool {
        self.is_of(store.read(&key(&self.definition)).as_deref())
    }

    /// The paths of fields that its schema does not have.
    pub(crate) fn unknown_fields(&self, object: &Value) -> Vec<String> {
        unknown_fields(&self.schema, object)
    }

    /// A stored object as a client of this version sees it.
    pub(crate) fn present(&self, object: &Arc<Object>) -> Arc<Object> {
        let is_same_version = object.value()["apiVersion"] == self.api_version.as_str();
        if is_same_version && object.revision() >= self.since {
            return Arc::clone(object);
        }
        let mut value = object.value().clone();
        metadata::map_mut(&mut value).insert("apiVersion".to_owned(), self.api_version.as_str().into());
        self.schema.normalise(&mut value);
        if value == *object.value() { Arc::clone(object) } else { Arc::new(Object::new(value)) }
    }

    /// Makes an object of this version one that is stored.
    pub(crate) fn to_stored(&self, object: &mut Value) {
        if self.api_version != self.stored_api_version {
            let version = self.stored_api_version.as_str().into();
            metadata::map_mut(object).insert("apiVersion".to_owned(), version);
        }
    }
}
