//! What webhooks are asked about.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::object::Object;
use crate::resource::Resource;

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A write, as far as webhooks are concerned.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    pub(crate) operation: Operation,
    pub(crate) resource: Arc<Resource>,
    pub(crate) subresource: Option<&'static str>,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The object as it is to be; null if it is to go.
    pub(crate) object: Value,
    /// The object as it is; none if it is new.
    pub(crate) old: Option<Arc<Object>>,
    /// The labels of its namespace.
    pub(crate) namespace_labels: BTreeMap<String, String>,
    pub(crate) dry_run: bool,
}

impl Attributes {
    /// Whether a verdict on one is a verdict on the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let old = |it: &Self| it.old.as_ref().map(|it| it.value().clone());
        self.operation == other.operation
            && self.name == other.name
            && self.object == other.object
            && old(self) == old(other)
    }

    /// The kind of what is judged: group, version and kind.
    pub(super) fn kind(&self) -> (String, String, String) {
        let text = |field: &str| self.object[field].as_str().unwrap_or_default();
        let said = (text("apiVersion"), text("kind"));
        if said.1.is_empty() {
            let it = &self.resource;
            return (it.group.clone(), it.version.clone(), it.kind.clone());
        }
        let (group, version) = said.0.split_once('/').unwrap_or(("", said.0));
        (group.to_owned(), version.to_owned(), said.1.to_owned())
    }

    /// The `options` of the request.
    pub(super) fn options(&self) -> Value {
        let kind = match self.operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
        };
        let mut options = serde_json::json!({"apiVersion": "meta.k8s.io/v1", "kind": kind});
        if self.dry_run {
            options["dryRun"] = serde_json::json!(["All"]);
        }
        options
    }
}
