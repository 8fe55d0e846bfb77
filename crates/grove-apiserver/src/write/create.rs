//! New objects.

use std::sync::Arc;

use serde_json::Value;

use super::admit::{self, Change};
use super::{check, decode, defaults, jobs, meta, namespaces, pod_rules, pods, priority, quotas};
use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::object::Object;
use crate::ownership;
use crate::resource::Resource;
use crate::store::{Key, Transaction, time};

/// How often a name is made up before the server gives up.
const NAME_ATTEMPTS: usize = 8;

/// Generated names fit into a label.
const LONGEST_BASE: usize = 63 - 5;

pub(super) fn create(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    namespace: &str,
    body: Value,
) -> Result<Arc<Object>, Failure> {
    create_managed(tx, resource, namespace, body, Value::Null)
}

/// Likewise, with the managers of its fields.
pub(super) fn create_managed(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    namespace: &str,
    body: Value,
    managed: Value,
) -> Result<Arc<Object>, Failure> {
    let mut object = decode::object(resource, body)?;
    tx.fields.sent(resource, &mut object)?;
    place(resource, namespace, &mut object)?;
    if resource.namespaced {
        namespaces::check(tx, resource, namespace, &object)?;
    }
    check::accepts_new(tx, resource)?;
    check::normalise(resource, &mut object);
    if tx.is_attended() {
        let name = metadata::text(&object, "name").unwrap_or_default().to_owned();
        object = admit::mutate(tx, Change::create(namespace, &name), object)?;
        object = decode::object(resource, object)?;
        place(resource, namespace, &mut object)?;
        check::normalise(resource, &mut object);
    }
    if metadata::text(&object, "resourceVersion").is_some() {
        // A server error by its number, although the client is wrong. So says the real server.
        return Err(Failure::new(500, "", "resourceVersion should not be set on objects to be created"));
    }
    let key = name(tx, resource, namespace, &mut object)?;
    if let Some(there) = tx.get(&key) {
        let mut failure = Failure::already_exists(resource, &key.name);
        if there.is_terminating() {
            failure.message = format!("object is being deleted: {}", failure.message);
        }
        return Err(failure);
    }
    quotas::check(tx, resource, namespace, &key.name)?;

    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata::set(&mut object, field, None);
    }
    metadata::set(&mut object, "managedFields", Some(managed).filter(Value::is_array));
    let uid = tx.uid();
    metadata::set(&mut object, "uid", Some(uid.into()));
    metadata::set(&mut object, "creationTimestamp", Some(time(tx.now())));
    metadata::set(&mut object, "generation", resource.generation.then(|| 1.into()));
    // A kubelet registers its node together with its status.
    if resource.status && !resource.is("nodes") {
        metadata::map_mut(&mut object).shift_remove("status");
    }
    let is_managed = metadata::of(&object).is_some_and(|it| it.contains_key("managedFields"));
    if resource.strict {
        defaults::fill(resource, &mut object);
        if !is_managed {
            ownership::create(&mut object, &resource.shape, tx.writer(resource));
        }
        priority::fill(tx, resource, &mut object)?;
        meta::check(resource, &object)?;
        pod_rules::check(resource, &object)?;
        jobs::check(resource, &object)?;
    }
    match resource.id() {
        "namespaces" => namespaces::begin(&mut object, &key.name),
        "pods" => pods::begin(&mut object, resource.strict.then(|| time(tx.now()))),
        "jobs.batch" if resource.strict => jobs::begin(&mut object),
        _ => {}
    }
    check::check(resource, None, None, &mut object)?;
    admit::validate(tx, Change::create(namespace, &key.name), &object)?;
    check::size(tx, &object)?;
    check::store_form(resource, &mut object);
    Ok(tx.put(&key, object))
}

/// The namespace of the object is that of the path.
fn place(resource: &Resource, namespace: &str, object: &mut Value) -> Result<(), Failure> {
    if resource.namespaced && metadata::text(object, "namespace").is_some_and(|it| it != namespace) {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Failure::bad_request(message));
    }
    metadata::set(object, "namespace", resource.namespaced.then(|| namespace.into()));
    Ok(())
}

/// The key of the object, whose name may have to be made up.
fn name(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    namespace: &str,
    object: &mut Value,
) -> Result<Key, Failure> {
    if let Some(name) = metadata::text(object, "name") {
        return Ok(Key::new(resource.shared_id(), namespace, name));
    }
    let Some(base) = metadata::text(object, "generateName") else {
        let cause = Cause::required("metadata.name", "name or generateName is required");
        return Err(Failure::invalid(resource, "", vec![cause]));
    };
    let cut = base.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST_BASE).unwrap_or(base.len());
    let base = base[..cut].to_owned();
    for _ in 0..NAME_ATTEMPTS {
        let name = format!("{base}{}", tx.suffix());
        let key = Key::new(resource.shared_id(), namespace, &name);
        if tx.get(&key).is_none() {
            metadata::set(object, "name", Some(name.into()));
            return Ok(key);
        }
    }
    let message = format!(
        "{} {base:?} already exists, the server was not able to generate a unique name for the object",
        resource.id()
    );
    Err(Failure::new(409, "AlreadyExists", message))
}
