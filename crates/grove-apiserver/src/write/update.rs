//! Changed objects: the whole, or their status.

use std::sync::Arc;

use serde_json::Value;

use super::admit::{self, Change};
use super::{Answer, PatchBody, Subresource, check, create, decode, defaults, meta, pod_rules};
use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::object::Object;
use crate::ownership;
use crate::resource::Resource;
use crate::store::{Key, Transaction};

/// Replaces an object.
pub(super) fn replace(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    part: Option<Subresource>,
    body: Value,
) -> Result<Answer, Failure> {
    let mut new = decode::object(resource, body)?;
    tx.fields.sent(resource, &mut new)?;
    check_name(key, &new)?;
    let Some(old) = tx.get(key) else {
        if resource.create_on_update && part.is_none() {
            metadata::set(&mut new, "resourceVersion", None);
            return create::create(tx, resource, &key.namespace, new).map(Answer::Created);
        }
        return Err(Failure::not_found(resource, &key.name));
    };
    let old = check::present(resource, old);
    check_uid(resource, &old, &new)?;
    check_version(resource, &old, &new)?;
    change(tx, resource, key, part, &old, new, None).map(Answer::Object)
}

/// Changes an object. Nobody else writes meanwhile, so a patch without a version never meets a conflict.
pub(super) fn patch(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    part: Option<Subresource>,
    patch: &PatchBody,
) -> Result<Arc<Object>, Failure> {
    let old = tx.get(key).ok_or_else(|| Failure::not_found(resource, &key.name))?;
    let old = check::present(resource, old);
    let mut new = decode::object(resource, patch.apply(old.value(), resource.definition)?)?;
    tx.fields.patched(resource, &mut new)?;
    check_name(key, &new)?;
    if metadata::text(&new, "resourceVersion").is_some_and(|it| old.meta("resourceVersion") != Some(it)) {
        return Err(Failure::modified(resource, &key.name));
    }
    change(tx, resource, key, part, &old, new, None)
}

/// The name and the namespace of the object are those of the path.
pub(super) fn check_name(key: &Key, new: &Value) -> Result<(), Failure> {
    let name = metadata::text(new, "name").unwrap_or_default();
    if name.is_empty() {
        return Err(Failure::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            key.name
        )));
    }
    if name != key.name {
        return Err(Failure::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            key.name
        )));
    }
    let namespace = metadata::text(new, "namespace").unwrap_or_default();
    if !key.namespace.is_empty() && !namespace.is_empty() && namespace != key.namespace {
        return Err(Failure::bad_request(format!(
            "the namespace of the object ({namespace}) does not match the namespace on the request ({})",
            key.namespace
        )));
    }
    Ok(())
}

/// The object is the one that the client means.
pub(super) fn check_uid(resource: &Resource, old: &Object, new: &Value) -> Result<(), Failure> {
    match metadata::text(new, "uid") {
        Some(uid) if uid != old.uid() => Err(Failure::other_uid(resource, old.name(), uid, old.uid())),
        _ => Ok(()),
    }
}

/// The object is as the client knows it.
fn check_version(resource: &Resource, old: &Object, new: &Value) -> Result<(), Failure> {
    match metadata::text(new, "resourceVersion") {
        Some(version) if Some(version) != old.meta("resourceVersion") => {
            Err(Failure::modified(resource, old.name()))
        }
        None if !resource.unconditional_update => {
            let cause = Cause::invalid("metadata.resourceVersion", "0", "must be specified for an update");
            // Here the real server says the plural for the kind.
            Err(Failure::invalid_kind(&resource.plural, &resource.group, old.name(), vec![cause]))
        }
        _ => Ok(()),
    }
}

/// Makes a part of an object what it is in `new`. Whoever knows the managers of its fields then gives them.
pub(super) fn change(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    part: Option<Subresource>,
    old: &Arc<Object>,
    new: Value,
    managed: Option<Value>,
) -> Result<Arc<Object>, Failure> {
    let mut new = new;
    check::normalise(resource, &mut new);
    new = only(part, resource, old, new);
    if tx.is_attended() {
        new = admit::mutate(tx, Change::update(key, part, old), new)?;
        new = decode::object(resource, new)?;
        check_name(key, &new)?;
        check::normalise(resource, &mut new);
        new = only(part, resource, old, new);
    }
    check_fixed(resource, old, &new)?;
    if resource.strict {
        defaults::fill(resource, &mut new);
        meta::check(resource, &new)?;
        pod_rules::check_update(resource, part, old.value(), &new)?;
    }
    match managed {
        Some(managed) => metadata::set(&mut new, "managedFields", Some(managed)),
        None => note(tx, resource, old, &mut new),
    }
    check::check(resource, part, Some(old), &mut new)?;
    admit::validate(tx, Change::update(key, part, old), &new)?;
    check::size(tx, &new)?;
    Ok(store(tx, resource, key, old, new))
}

/// The object with what a write of this part may change.
fn only(part: Option<Subresource>, resource: &Resource, old: &Object, new: Value) -> Value {
    match part {
        Some(Subresource::Status) => with_status(resource, old, &new),
        Some(Subresource::Finalize) => with_spec_finalizers(old, &new),
        _ => whole(resource, old, new),
    }
}

/// Names the writer as the manager of what it changes.
pub(super) fn note(tx: &Transaction<'_>, resource: &Resource, old: &Object, new: &mut Value) {
    let from_the_start = resource.strict;
    ownership::update(old.value(), new, &resource.shape, from_the_start, || tx.writer(resource));
}

/// A write of the whole object: all but what only the server says, and all but the status where it has its own place.
fn whole(resource: &Resource, old: &Object, mut new: Value) -> Value {
    // Clients may leave these out; only what they say otherwise is wrong.
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if metadata::of(&new).is_none_or(|it| !it.contains_key(field)) {
            metadata::keep(&mut new, old.value(), field);
        }
    }
    for field in
        ["namespace", "creationTimestamp", "generation", "selfLink", "managedFields", "resourceVersion"]
    {
        metadata::keep(&mut new, old.value(), field);
    }
    if resource.status {
        keep(&mut new, old.value(), "status");
    }
    if resource.is("namespaces") {
        keep(&mut new, old.value(), "spec");
    }
    new
}

/// A write of the status. With custom resources that is all; with built-in ones, labels and the like come along.
fn with_status(resource: &Resource, old: &Object, new: &Value) -> Value {
    let mut out = old.value().clone();
    keep(&mut out, new, "status");
    if out.get("status").is_some_and(Value::is_null) {
        metadata::map_mut(&mut out).shift_remove("status");
    }
    if !resource.custom {
        for field in ["labels", "annotations", "finalizers"] {
            metadata::keep(&mut out, new, field);
        }
    }
    out
}

fn with_spec_finalizers(old: &Object, new: &Value) -> Value {
    let mut out = old.value().clone();
    let finalizers =
        new.pointer("/spec/finalizers").filter(|it| it.as_array().is_some_and(|it| !it.is_empty()));
    let spec = metadata::map_mut(metadata::map_mut(&mut out).entry("spec").or_insert(Value::Null));
    match finalizers {
        Some(finalizers) => spec.insert("finalizers".to_owned(), finalizers.clone()),
        None => spec.shift_remove("finalizers"),
    };
    out
}

/// Makes a field what it is in another object.
fn keep(object: &mut Value, other: &Value, field: &str) {
    let fields = metadata::map_mut(object);
    match other.get(field) {
        Some(value) => fields.insert(field.to_owned(), value.clone()),
        None => fields.shift_remove(field),
    };
}

/// What a client says about fields that cannot change.
fn check_fixed(resource: &Resource, old: &Object, new: &Value) -> Result<(), Failure> {
    let mut causes = Vec::new();
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let value = metadata::of(new).and_then(|it| it.get(field));
        if value != metadata::of(old.value()).and_then(|it| it.get(field)) {
            let shown = value.map_or_else(|| "null".to_owned(), Value::to_string);
            causes.push(Cause::invalid(&format!("metadata.{field}"), &shown, "field is immutable"));
        }
    }
    if old.is_terminating() {
        let mut added = metadata::list(new, "finalizers")
            .iter()
            .filter_map(Value::as_str)
            .filter(|it| old.finalizers().all(|old| old != *it))
            .peekable();
        if added.peek().is_some() {
            let added: Vec<String> = added.map(|it| format!("{it:?}")).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            causes.push(Cause::forbidden("metadata.finalizers", &detail));
        }
    }
    if resource.custom {
        // The real server looks twice, once for all kinds and once for custom ones, and finds it twice.
        causes.extend(causes.clone());
    }
    if causes.is_empty() { Ok(()) } else { Err(Failure::invalid(resource, old.name(), causes)) }
}

/// Stores what has changed: counts the generation, leaves out what changes nothing, and lets go what nothing holds.
pub(super) fn store(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    old: &Arc<Object>,
    mut new: Value,
) -> Arc<Object> {
    metadata::tidy(&mut new);
    if resource.generation && spec_differs(resource, old.value(), &new) {
        let generation = metadata::number(old.value(), "generation").unwrap_or_default() + 1;
        metadata::set(&mut new, "generation", Some(generation.into()));
    }
    if is_released(resource, old, &new) {
        tx.remove(key);
        return Arc::new(Object::new(new));
    }
    check::store_form(resource, &mut new);
    // As it is stored, which may be in another version than the client speaks.
    let stored = resource.served.as_ref().and_then(|_| tx.get(key));
    if new == *stored.as_ref().unwrap_or(old).value() {
        return Arc::clone(old);
    }
    tx.put(key, new)
}

/// Whether anything differs besides metadata and, where it has its own place, status.
fn spec_differs(resource: &Resource, old: &Value, new: &Value) -> bool {
    let counts = |field: &str| field != "metadata" && !(resource.status && field == "status");
    let fields =
        |object: &Value| object.as_object().map_or(0, |it| it.keys().filter(|it| counts(it)).count());
    let same = |(field, value): (&String, &Value)| !counts(field) || old.get(field) == Some(value);
    fields(old) != fields(new) || !new.as_object().is_some_and(|it| it.iter().all(same))
}

/// Whether the object was only waiting for its last finalizer.
fn is_released(resource: &Resource, old: &Object, new: &Value) -> bool {
    let in_spec = resource.is("namespaces") && new.pointer("/spec/finalizers").is_some();
    let has_grace = metadata::number(old.value(), "deletionGracePeriodSeconds").is_some_and(|it| it > 0);
    old.is_terminating() && !has_grace && !in_spec && metadata::list(new, "finalizers").is_empty()
}
