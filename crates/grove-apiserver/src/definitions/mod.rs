//! CustomResourceDefinitions that are stored, and what they define.
//!
//! ```text
//! write of a definition → prepare (defaults, checks) → store → names (conditions), in the same transaction
//! next request          → registry: the definitions changed → compile what is new → Resources
//! write of an object    → prune, default, check by the schema of the version that the client speaks
//! read of an object     → as it is stored, or converted where that is another version or an older schema
//! ```
//!
//! A server has this where its resources were made with [`Resources::with_definitions`](crate::Resources::with_definitions).
//! Definitions that were given beforehand, with `with_crd`, are served without looking at schemas.

mod names;
mod prepare;
mod registry;
mod served;
mod version;

use serde_json::Value;

pub(crate) use names::reconcile;
pub(crate) use prepare::{fill, prepare};
pub(crate) use registry::Registry;
pub(crate) use served::Served;
pub(crate) use version::by_priority;

use crate::metadata;
use crate::object::Object;
use crate::resource::Resource;
use crate::store::Key;

/// The id of the resource of definitions.
pub(crate) const RESOURCE: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Holds a definition until the last of its objects is gone.
pub(crate) const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The resource of definitions.
pub(crate) fn resource() -> Resource {
    let (group, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
    let mut resource = Resource::built_in(group, "v1", kind, "customresourcedefinitions");
    resource.namespaced = false;
    resource.status = true;
    resource.generation = true;
    resource.short_names = vec!["crd".to_owned(), "crds".to_owned()];
    resource.categories = vec!["api-extensions".to_owned()];
    resource.defines = true;
    resource
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(RESOURCE, "", name)
}

/// Marks a definition that is deleted: its objects go first.
pub(crate) fn end(definition: &mut Value, now: &Value) {
    if metadata::text(definition, "deletionTimestamp").is_some() {
        return;
    }
    let mut finalizers = metadata::list(definition, "finalizers").to_vec();
    if !finalizers.iter().any(|it| it == FINALIZER) {
        finalizers.push(FINALIZER.into());
    }
    metadata::set(definition, "finalizers", Some(finalizers.into()));
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    names::set_condition(definition, "Terminating", true, "InstanceDeletionPending", message, now);
}

/// Whether what a definition defines is served.
fn is_established(definition: &Object) -> bool {
    names::condition(definition.value(), "Established") == Some(true)
}
