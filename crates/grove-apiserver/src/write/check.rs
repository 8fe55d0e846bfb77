//! What the definition of a resource says about an object, where it is stored.

use std::sync::Arc;

use serde_json::Value;

use super::{Subresource, scale};
use crate::definitions;
use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::object::Object;
use crate::resource::Resource;
use crate::store::Transaction;

/// As many bytes as an object may have: what etcd takes in one request, unless it is told otherwise.
const LARGEST: usize = 1536 * 1024;

/// Removes fields that an object cannot have, and fills in those that it leaves out.
pub(super) fn normalise(resource: &Resource, object: &mut Value) {
    if let Some(served) = &resource.served {
        served.schema().normalise(object);
        metadata::tidy(object);
    }
}

/// Refuses an object that is not as its definition says, and a definition that makes no sense.
pub(super) fn check(
    resource: &Resource,
    part: Option<Subresource>,
    old: Option<&Object>,
    object: &mut Value,
) -> Result<(), Failure> {
    if resource.defines {
        return definitions::prepare(resource, old, object);
    }
    let Some(served) = &resource.served else { return Ok(()) };
    let scale = resource.scale.as_ref().map(|it| scale::wrong(it, part, object)).unwrap_or_default();
    let mut causes = served.schema().check(object, old.map(Object::value), scale);
    if causes.is_empty() {
        return Ok(());
    }
    if part == Some(Subresource::Status) {
        causes.iter_mut().for_each(within_status);
    }
    let name = metadata::text(object, "name").unwrap_or_default();
    Err(Failure::invalid(resource, name, causes))
}

/// The real server looks at a new status by itself: messages of its schema have paths that begin there.
fn within_status(cause: &mut Cause) {
    if let Some(rest) = cause.field.strip_prefix("status.") {
        cause.message =
            cause.message.replacen(&format!("{} in body", cause.field), &format!("{rest} in body"), 1);
    }
}

/// Refuses an object that is larger than the store of the real server takes. No body is much larger, but a patch can make an
/// object grow again and again.
pub(super) fn size(tx: &Transaction<'_>, object: &Value) -> Result<(), Failure> {
    if tx.is_dry_run() || bytes(object) <= LARGEST {
        return Ok(());
    }
    // A server error by its number, although the client is wrong. So says the real server.
    Err(Failure::new(500, "", "etcdserver: request is too large"))
}

/// The bytes of a value as JSON, or a few less: it is not worth writing it for that.
fn bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text.len() + 2,
        Value::Array(list) => list.iter().map(|it| bytes(it) + 1).sum::<usize>() + 1,
        Value::Object(map) => {
            map.iter().map(|(name, value)| name.len() + bytes(value) + 4).sum::<usize>() + 1
        }
    }
}

/// The object as clients of this version see it.
pub(super) fn present(resource: &Resource, object: Arc<Object>) -> Arc<Object> {
    match &resource.served {
        Some(served) => served.present(&object),
        None => object,
    }
}

/// Makes an object what is stored, whatever version the client speaks.
pub(super) fn store_form(resource: &Resource, object: &mut Value) {
    if let Some(served) = &resource.served {
        served.to_stored(object);
    }
}

/// Whether the definition has changed since the request found its resource.
pub(super) fn is_stale(tx: &Transaction<'_>, resource: &Resource) -> bool {
    resource
        .served
        .as_ref()
        .is_some_and(|it| !it.is_of(tx.get(&definitions::key(it.definition())).as_deref()))
}

/// Refuses new objects of a definition that ends.
pub(super) fn accepts_new(tx: &Transaction<'_>, resource: &Resource) -> Result<(), Failure> {
    let Some(served) = &resource.served else { return Ok(()) };
    let definition = tx.get(&definitions::key(served.definition()));
    if definition.is_some_and(|it| it.is_terminating()) {
        let message = "create not allowed while custom resource definition is terminating";
        return Err(Failure::new(405, "MethodNotAllowed", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_is_looked_at_by_itself() {
        let mut cause = Cause::invalid("status.a.b", "1", "status.a.b in body must be of type string");
        within_status(&mut cause);
        assert_eq!(cause.message, "Invalid value: 1: a.b in body must be of type string");
        assert_eq!(cause.field, "status.a.b");
    }

    #[test]
    fn the_size_of_a_value_is_never_overestimated_and_nearly_right() {
        for value in [
            json!({}),
            json!([]),
            json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "spec": {"list": [1, 2, {"x": null}], "on": true}}),
            json!(vec!["text"; 1_000]),
        ] {
            let (found, written) = (bytes(&value), value.to_string().len());
            assert!(found <= written && written <= found * 3 / 2 + 2, "{found} for {written} bytes: {value}");
        }
    }
}
