//! An object as it is stored: never changed, shared, and serialised at most once per form.

use std::sync::OnceLock;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::accept::Form;
use crate::metadata;
use crate::resource::Resource;
use crate::table::Rows;

/// An object of some revision.
///
/// It begins with `apiVersion`, `kind` and `metadata`, in this order: lists of built-in kinds cut the first two off.
#[derive(Debug)]
pub struct Object {
    value: Value,
    json: OnceLock<Bytes>,
    metadata_json: OnceLock<Bytes>,
}

impl Object {
    pub(crate) fn new(value: Value) -> Self {
        Self { value, json: OnceLock::new(), metadata_json: OnceLock::new() }
    }

    /// The object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// A field by its JSON pointer, such as `/spec/replicas`.
    pub fn field(&self, pointer: &str) -> Option<&Value> {
        self.value.pointer(pointer)
    }

    /// A field of the metadata, if it is a text.
    pub fn meta(&self, name: &str) -> Option<&str> {
        metadata::text(&self.value, name)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.meta("name").unwrap_or_default()
    }

    /// The namespace; empty if it is of the whole cluster.
    pub fn namespace(&self) -> &str {
        self.meta("namespace").unwrap_or_default()
    }

    /// The uid.
    pub fn uid(&self) -> &str {
        self.meta("uid").unwrap_or_default()
    }

    /// The revision of the last write.
    pub fn revision(&self) -> u64 {
        self.meta("resourceVersion").and_then(|it| it.parse().ok()).unwrap_or_default()
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        metadata::of(&self.value)?.get("labels")?.get(key)?.as_str()
    }

    /// The finalizers.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        metadata::list(&self.value, "finalizers").iter().filter_map(Value::as_str)
    }

    /// The references to owners.
    pub fn owner_references(&self) -> &[Value] {
        metadata::list(&self.value, "ownerReferences")
    }

    /// Whether it is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.meta("deletionTimestamp").is_some()
    }

    /// The object as JSON.
    pub fn json(&self) -> Bytes {
        self.json.get_or_init(|| encode(&self.value)).clone()
    }

    /// The object as a client wants it.
    pub(crate) fn encode(&self, resource: &Resource, form: Form, now: Timestamp) -> Bytes {
        match form {
            Form::Whole => self.json(),
            Form::Metadata => self.metadata_json(),
            Form::Table(include) => Rows { resource, include, now }.encode_one(self, true),
        }
    }

    /// The object as a `PartialObjectMetadata`, for clients that want no more.
    pub(crate) fn metadata_json(&self) -> Bytes {
        let encode_metadata = || {
            let metadata = self.value.get("metadata").unwrap_or(&Value::Null);
            encode(
                &json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata}),
            )
        };
        self.metadata_json.get_or_init(encode_metadata).clone()
    }
}

/// Writing a value to memory cannot fail; should it, nothing is better than half.
pub(crate) fn encode(value: &Value) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}
