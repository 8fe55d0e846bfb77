//! What is special about namespaces: nothing comes into one that is not there or ends, and one ends in two steps.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::metadata;
use crate::resource::Resource;
use crate::store::{Key, Transaction, time};

/// Holds a namespace until everything in it is gone.
const FINALIZER: &str = "kubernetes";

/// The resource, for those who have no table at hand.
pub(super) fn resource() -> Resource {
    let mut resource = Resource::built_in("", "v1", "Namespace", "namespaces");
    resource.namespaced = false;
    resource.status = true;
    resource
}

/// Whether something new may come into a namespace.
pub(super) fn check(
    tx: &Transaction<'_>,
    of: &Resource,
    namespace: &str,
    object: &Value,
) -> Result<(), Failure> {
    let Some(found) = tx.get(&Key::new("namespaces", "", namespace)) else {
        return Err(Failure::not_found(&resource(), namespace));
    };
    if found.is_terminating() {
        let name = metadata::text(object, "name").unwrap_or_default();
        return Err(Failure::namespace_terminating(of, name, namespace));
    }
    Ok(())
}

/// Whether a namespace can never go.
pub(super) fn is_immortal(name: &str) -> bool {
    matches!(name, "default" | "kube-public" | "kube-system")
}

/// What a new namespace has.
pub(super) fn begin(namespace: &mut Value, name: &str) {
    let labels = metadata::map_mut(metadata::of_mut(namespace).entry("labels").or_insert(Value::Null));
    labels.insert("kubernetes.io/metadata.name".to_owned(), name.into());
    let fields = metadata::map_mut(namespace);
    let spec = metadata::map_mut(fields.entry("spec").or_insert(Value::Null));
    spec.insert("finalizers".to_owned(), json!([FINALIZER]));
    fields.insert("status".to_owned(), json!({"phase": "Active"}));
}

/// Marks a namespace as ending. Whether it stays for now, because what is in it goes first.
pub(super) fn end(namespace: &mut Value, now: Timestamp) -> bool {
    if metadata::text(namespace, "deletionTimestamp").is_none() {
        metadata::set(namespace, "deletionTimestamp", Some(time(now)));
        let status = metadata::map_mut(metadata::map_mut(namespace).entry("status").or_insert(Value::Null));
        status.insert("phase".to_owned(), "Terminating".into());
        return true;
    }
    namespace.pointer("/spec/finalizers").is_some()
}
