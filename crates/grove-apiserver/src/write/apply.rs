//! Server-side apply: a client says which fields it wants, and the server what becomes of the object.

use std::sync::Arc;

use serde_json::Value;
use serde_saphyr::{Options, budget, options};

use super::{Answer, Subresource, check, create, decode, fields, update};
use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::object::Object;
use crate::ownership::{self, Conflict};
use crate::resource::Resource;
use crate::service::BODY_LIMIT;
use crate::store::{Key, Transaction};

/// What a client applies.
#[derive(Clone, Debug)]
pub struct Apply {
    /// The fields that it wants, as an object.
    pub object: Value,
    /// Whether it takes fields from others.
    pub force: bool,
}

/// Enough for the deepest JSON that can be read.
const STACK_BYTES: usize = 16 * 1024 * 1024;
const DEEPEST: usize = 128;

/// Reads JSON or YAML. The error says why it is neither.
pub(super) fn parse(body: &[u8]) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_slice(body) {
        return Ok(value);
    }
    let text = std::str::from_utf8(body).map_err(|it| it.to_string())?;
    // The parser recurses, and the caller's thread may have too little stack for it.
    std::thread::scope(|scope| {
        let read = || serde_saphyr::from_str_with_options(text, reading()).map_err(|it| it.to_string());
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, read);
        let result = thread.ok().and_then(|thread| thread.join().ok());
        result.unwrap_or_else(|| Err("the parser failed".to_owned()))
    })
}

fn reading() -> Options {
    options! {
        legacy_octal_numbers: true,
        // Aliases repeat what they stand for: all together may be as large as a body without aliases.
        budget: budget! {
            max_depth: DEEPEST, flow_nesting_limit: DEEPEST, max_total_scalar_bytes: BODY_LIMIT,
        },
        with_snippet: false,
    }
}

pub(super) fn apply(
    tx: &mut Transaction<'_>,
    resource: &Resource,
    key: &Key,
    part: Option<Subresource>,
    apply: Apply,
) -> Result<Answer, Failure> {
    let Apply { object, force } = apply;
    let named = told(&object);
    let mut applied = wanted(resource, key, part, object)?;
    let Some(old) = tx.get(key) else {
        if part.is_some() {
            return Err(Failure::not_found(resource, &key.name));
        }
        if let Some(uid) = metadata::text(&applied, "uid") {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(Failure::conflict(resource, &key.name, &why));
        }
        // To the real server a version is no reason not to create, either.
        metadata::set(&mut applied, "resourceVersion", None);
        let said = ownership::apply(&Value::Null, &applied, &resource.shape, tx.writer(resource), force);
        let managed = managers(&said.map_err(|it| untold(&named, &it))?.object);
        return create::create_managed(tx, resource, &key.namespace, applied, managed).map(Answer::Created);
    };
    let old = check::present(resource, old);
    check_version(resource, &old, &mut applied)?;
    let outcome = ownership::apply(old.value(), &applied, &resource.shape, tx.writer(resource), force);
    let outcome = outcome.map_err(|it| untold(&named, &it))?;
    if !outcome.conflicts.is_empty() {
        return Err(refusal(&outcome.conflicts));
    }
    let managed = managers(&outcome.object);
    update::change(tx, resource, key, part, &old, outcome.object, Some(managed)).map(Answer::Object)
}

/// The fields that this part of the object can have, of the right kind and name.
fn wanted(resource: &Resource, key: &Key, part: Option<Subresource>, body: Value) -> Result<Value, Failure> {
    if body.pointer("/metadata/managedFields").is_some_and(|it| !it.is_null()) {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    // Unlike in other writes, built-in kinds must say theirs, too.
    if body["kind"] != resource.kind.as_str() || body["apiVersion"] != resource.api_version().as_str() {
        return Err(Failure::bad_request(format!("invalid object type: {}", kind_of(&body))));
    }
    let named = told(&body);
    let mut out = decode::object(resource, without_nulls(body))?;
    if metadata::text(&out, "name").is_none() {
        metadata::set(&mut out, "name", Some(key.name.as_str().into()));
    }
    let problems = fields::problems(resource, &mut out);
    if let Some(why) = problems.wrong {
        return Err(untold(&named, &why));
    }
    if let Some(field) = problems.unknown.first() {
        return Err(untold(&named, &format!(".{field}: field not declared in schema")));
    }
    update::check_name(key, &out)?;
    match part {
        Some(_) => metadata::map_mut(&mut out)
            .retain(|field, _| ["apiVersion", "kind", "metadata", "status"].contains(&field.as_str())),
        None if resource.status => drop(metadata::map_mut(&mut out).shift_remove("status")),
        None => {}
    }
    if part.is_some() {
        metadata::of_mut(&mut out)
            .retain(|field, _| ["name", "namespace", "uid", "resourceVersion"].contains(&field.as_str()));
    }
    Ok(out)
}

/// The object is as the client knows it. Another UID is refused later, as the change of a field that cannot change.
fn check_version(resource: &Resource, old: &Arc<Object>, applied: &mut Value) -> Result<(), Failure> {
    if metadata::text(applied, "resourceVersion").is_some_and(|it| Some(it) != old.meta("resourceVersion")) {
        return Err(Failure::modified(resource, old.name()));
    }
    // The rest is the server's to say.
    let said = ["name", "namespace", "uid", "labels", "annotations", "finalizers", "ownerReferences"];
    metadata::of_mut(applied).retain(|field, _| said.contains(&field.as_str()));
    Ok(())
}

pub(super) fn managers(object: &Value) -> Value {
    metadata::list(object, "managedFields").to_vec().into()
}

/// A list whose items cannot be told apart. A server error by its number, although the client is wrong.
pub(super) fn untold(named: &str, why: &str) -> Failure {
    Failure::new(500, "", format!("failed to create typed patch object ({named}): {why}"))
}

/// What an applied object says of itself: namespace, name, and kind.
pub(super) fn told(object: &Value) -> String {
    let text = |field: &str| metadata::text(object, field).unwrap_or_default();
    format!("{}/{}; {}", text("namespace"), text("name"), kind_of(object))
}

fn kind_of(object: &Value) -> String {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    format!("{group}/{version}, Kind={}", text("kind"))
}

/// In the real server's words.
pub(super) fn refusal(conflicts: &[Conflict]) -> Failure {
    let message = match conflicts {
        [Conflict { with, field }] => format!("Apply failed with 1 conflict: conflict with {with}: {field}"),
        many => {
            let mut lines: Vec<String> = Vec::new();
            let mut said = "";
            for Conflict { with, field } in many {
                if with != said {
                    lines.push(format!("conflicts with {with}:"));
                    said = with;
                }
                lines.push(format!("- {field}"));
            }
            format!("Apply failed with {} conflicts: {}", many.len(), lines.join("\n"))
        }
    };
    let cause = |it: &Conflict| Cause {
        reason: "FieldManagerConflict".to_owned(),
        message: format!("conflict with {}", it.with),
        field: it.field.clone(),
    };
    Failure::apply_conflict(message, conflicts.iter().map(cause).collect())
}

/// A field that is null is one that is not there.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(list) => list.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
