//! Deletion: at once, after grace, or when the last finalizer goes. Mirrors `BeforeDelete` and the generic store of
//! the real server, which decides these cases in several places.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::admit::{self, Change};
use super::{Answer, DeleteOptions, Policy, namespaces, pods, success};
use crate::definitions;
use crate::failure::Failure;
use crate::metadata;
use crate::object::Object;
use crate::read::At;
use crate::resource::Resource;
use crate::selector::Selection;
use crate::store::{Key, Transaction, time};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// How much time an object of a kind that knows grace has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grace {
    /// Its kind knows no grace.
    Unknown,
    /// It ends already, and this deletion does not make it end sooner.
    Pending,
    /// So many seconds, written into the object.
    Seconds(i64),
}

/// Deletes one object.
pub(super) fn delete(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    options: &DeleteOptions,
) -> Result<Answer, Failure> {
    let old = tx.get(key).ok_or_else(|| Failure::not_found(resource, &key.name))?;
    check(resource, &old, options)?;
    if tx.is_attended() {
        admit::mutate(tx, Change::delete(key, &old), Value::Null)?;
        admit::validate(tx, Change::delete(key, &old), &Value::Null)?;
    }
    let (object, gone) = remove(tx, resource, key, &old, options);
    if gone && !resource.returns_deleted {
        let mut details = json!({"name": key.name});
        if !resource.group.is_empty() {
            details["group"] = resource.group.as_str().into();
        }
        details["kind"] = resource.plural.as_str().into();
        details["uid"] = old.uid().into();
        return Ok(Answer::Other(200, success(200, Some(details))));
    }
    Ok(Answer::Object(object))
}

/// Deletes all that are selected. The answer is what there was, as a list would have shown it.
///
/// What is selected at a revision is deleted by name, as the real server does it: whatever has the name by now.
pub(super) fn collection(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    namespace: Option<&str>,
    options: &DeleteOptions,
    selection: &Selection,
    at: At,
) -> Result<Vec<Arc<Object>>, Failure> {
    let then = match at {
        At::Exactly(revision) => tx.list_at(revision, resource.id(), namespace),
        At::Now | At::NotOlderThan(_) => Ok(tx.list(resource.id(), namespace)),
    };
    let then = then.map_err(|_| Failure::expired_list())?;
    let selected = then.into_iter().filter(|(_, object)| selection.matches(object));
    let found: Vec<_> = selected.filter_map(|(key, _)| Some((tx.get(&key)?, key))).collect();
    for (object, key) in &found {
        check(resource, object, options)?;
        admit::validate(tx, Change::delete(key, object), &Value::Null)?;
    }
    for (object, key) in &found {
        remove(tx, resource, key, object, options);
    }
    Ok(found.into_iter().map(|(object, _)| object).collect())
}

/// What must be so, or nothing is deleted.
fn check(resource: &Resource, old: &Object, options: &DeleteOptions) -> Result<(), Failure> {
    if resource.is("namespaces") && namespaces::is_immortal(old.name()) {
        return Err(Failure::forbidden(resource, old.name(), "this namespace may not be deleted"));
    }
    let preconditions = &options.preconditions;
    if let Some(uid) = preconditions.uid.as_deref().filter(|it| *it != old.uid()) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
            old.uid()
        );
        return Err(Failure::precondition(resource, old.name(), &why));
    }
    let version = old.meta("resourceVersion").unwrap_or_default();
    if let Some(wanted) = preconditions.resource_version.as_deref().filter(|it| *it != version) {
        let why = format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). The object might have been modified"
        );
        return Err(Failure::precondition(resource, old.name(), &why));
    }
    Ok(())
}

/// Deletes an object or marks it; the object as it is now or was last, and whether it is gone.
fn remove(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    old: &Arc<Object>,
    options: &DeleteOptions,
) -> (Arc<Object>, bool) {
    let now = tx.now();
    let mut new = old.value().clone();
    let grace = match resource.id() {
        "namespaces" => {
            let holds = namespaces::end(&mut new, now);
            if holds {
                set_policy(&mut new, options.policy);
                return (put(tx, key, old, new), false);
            }
            Grace::Unknown
        }
        "pods" => pods::grace(&mut new, options, now),
        _ => Grace::Unknown,
    };
    if grace == Grace::Pending {
        return (Arc::clone(old), false);
    }
    set_policy(&mut new, options.policy);
    if resource.defines {
        definitions::end(&mut new, &time(now));
    }
    let held = !metadata::list(&new, "finalizers").is_empty();
    if held && grace == Grace::Unknown {
        // To a definition that ends, its end is no change of what is wanted.
        if resource.defines {
            end_at(&mut new, now);
        } else {
            mark(&mut new, now);
        }
    }
    // A pod is marked even if it goes at once, so watches see its end in two steps.
    let object = put(tx, key, old, new);
    if held || matches!(grace, Grace::Seconds(1..)) {
        return (object, false);
    }
    tx.remove(key);
    (object, true)
}

fn put(tx: &mut Transaction<'_>, key: &Key, old: &Arc<Object>, new: Value) -> Arc<Object> {
    if new == *old.value() { Arc::clone(old) } else { tx.put(key, new) }
}

/// The finalizers by which the garbage collector knows what to do with dependents.
fn set_policy(object: &mut Value, policy: Option<Policy>) {
    let mut finalizers = metadata::list(object, "finalizers").to_vec();
    let has = |name: &str| finalizers.iter().any(|it| it == name);
    let (orphan, foreground) = match policy {
        Some(policy) => (policy == Policy::Orphan, policy == Policy::Foreground),
        None => (has(ORPHAN), has(FOREGROUND)),
    };
    if (orphan, foreground) == (has(ORPHAN), has(FOREGROUND)) {
        return;
    }
    finalizers.retain(|it| it != ORPHAN && it != FOREGROUND);
    if orphan {
        finalizers.push(ORPHAN.into());
    }
    if foreground {
        finalizers.push(FOREGROUND.into());
    }
    metadata::set(object, "finalizers", Some(finalizers).filter(|it| !it.is_empty()).map(Value::Array));
}

/// The object ends, as soon as its finalizers let it.
fn mark(object: &mut Value, now: Timestamp) {
    if end_at(object, now) {
        bump_generation(object);
    }
    metadata::set(object, "deletionGracePeriodSeconds", Some(0.into()));
}

/// Whether the object ends from now on, and not from before.
fn end_at(object: &mut Value, now: Timestamp) -> bool {
    let is_new = metadata::text(object, "deletionTimestamp").is_none();
    if is_new {
        metadata::set(object, "deletionTimestamp", Some(time(now)));
    }
    is_new
}

/// From here on, controllers treat the object differently, so it counts as a change of what is wanted.
pub(super) fn bump_generation(object: &mut Value) {
    if let Some(generation) = metadata::number(object, "generation").filter(|it| *it > 0) {
        metadata::set(object, "generation", Some((generation + 1).into()));
    }
}
