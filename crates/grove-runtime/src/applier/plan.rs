//! What has to be done so that an owner has exactly the objects that were rendered for it. Pure.

use std::{collections::BTreeMap, fmt::Write as _};

use kube::api::DynamicObject;
use serde_json::{Map, Value, json};

use super::{Owner, Refused, Rendered};

/// One object that is there, of the kind at this place in the applier's list.
pub(super) struct Existing<'a> {
    pub(super) kind: usize,
    pub(super) object: &'a DynamicObject,
    /// What the object looked like, in the fields that we gave, when the server had answered our last write.
    pub(super) last: Option<&'a str>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// It is not there. `lasting` is what is looked at later.
    Create { kind: usize, name: String, object: Value, lasting: Value },
    /// It is not as it should be.
    Apply { kind: usize, name: String, object: Value, lasting: Value },
    /// Nobody wants it any longer.
    Delete { kind: usize, name: String, uid: String },
    /// It goes away, and its successor must wait for that.
    Wait,
}

/// An object to be, with the kind's place in the applier's list.
pub(super) struct Wanted<'a> {
    pub(super) kind: usize,
    pub(super) rendered: &'a Rendered,
}

/// Steps in the order of `wanted`; removals last, so that an owner is never without what is to stay.
pub(super) fn plan(
    owner: &Owner,
    mark: &str,
    wanted: &[Wanted<'_>],
    existing: &[Existing<'_>],
) -> Result<Vec<Step>, Refused> {
    let mut steps = Vec::new();
    for (number, it) in wanted.iter().enumerate() {
        let name = it.rendered.name();
        if wanted[..number].iter().any(|other| other.kind == it.kind && other.rendered.name() == name) {
            return Err(it.rendered.refused("is rendered twice"));
        }
        let found = existing.iter().find(|there| there.kind == it.kind && is_called(there.object, name));
        steps.extend(step(owner, mark, it, found)?);
    }
    for there in existing.iter().filter(|there| owner.owns(there.object)) {
        let name = there.object.metadata.name.clone().unwrap_or_default();
        let stays = wanted.iter().any(|it| it.kind == there.kind && it.rendered.name() == name);
        if !stays && there.object.metadata.deletion_timestamp.is_none() {
            let uid = there.object.metadata.uid.clone().unwrap_or_default();
            steps.push(Step::Delete { kind: there.kind, name, uid });
        }
    }
    Ok(steps)
}

fn step(
    owner: &Owner,
    mark: &str,
    wanted: &Wanted<'_>,
    found: Option<&Existing<'_>>,
) -> Result<Option<Step>, Refused> {
    let (kind, rendered) = (wanted.kind, wanted.rendered);
    let lasting = complete(owner, mark, rendered.lasting(), &hash(&rendered.lasting()));
    let Some(there) = found else {
        let object = complete(owner, mark, rendered.object.clone(), &hash(&rendered.lasting()));
        let name = rendered.name().to_owned();
        return Ok(Some(Step::Create { kind, name, object, lasting }));
    };
    if !owner.owns(there.object) {
        return Err(rendered.refused("exists and belongs to somebody else"));
    }
    if there.object.metadata.deletion_timestamp.is_some() {
        return Ok(Some(Step::Wait));
    }
    let (content, now) = (content(&lasting), seen(there.object, &lasting));
    // A server may write a value in another way than we do: then it counts that neither changed since.
    let same_content = marked(&now, mark) == marked(&content, mark);
    if now == content || (same_content && there.last == Some(hash(&now).as_str())) {
        return Ok(None);
    }
    let (name, object) = (rendered.name().to_owned(), rendered.over(&lasting, there.object));
    Ok(Some(Step::Apply { kind, name, object, lasting }))
}

/// The object with what makes it ours: the owner, and a mark that tells which content was written.
fn complete(owner: &Owner, mark: &str, mut object: Value, hash: &str) -> Value {
    let annotations = object["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    let marked: Map<String, Value> =
        annotations.into_iter().chain([(mark.to_owned(), Value::from(hash))]).collect();
    object["metadata"]["namespace"] = owner.namespace.clone().into();
    object["metadata"]["ownerReferences"] = json!([owner.reference()]);
    object["metadata"]["annotations"] = marked.into();
    object
}

fn marked<'a>(object: &'a Value, mark: &str) -> Option<&'a str> {
    object["metadata"]["annotations"].get(mark)?.as_str()
}

/// What is compared. Whose an object is, is seen by the UID: others may write the same reference in another way.
fn content(object: &Value) -> Value {
    let mut content = object.clone();
    if let Some(metadata) = content["metadata"].as_object_mut() {
        metadata.remove("ownerReferences");
    }
    content
}

/// The object as it is, in the content that `wanted` has.
pub(super) fn seen(object: &DynamicObject, wanted: &Value) -> Value {
    // Objects have only string keys, so that they always serialise.
    project(&serde_json::to_value(object).unwrap_or_default(), &content(wanted))
}

fn project(now: &Value, wanted: &Value) -> Value {
    match (now, wanted) {
        (Value::Object(now), Value::Object(wanted)) => {
            let parts = wanted
                .iter()
                .filter_map(|(key, wanted)| now.get(key).map(|now| (key.clone(), project(now, wanted))));
            Value::Object(parts.collect())
        }
        // Items of a list may have fields that the server filled in.
        (Value::Array(now), Value::Array(wanted)) if now.len() == wanted.len() => {
            now.iter().zip(wanted).map(|(now, wanted)| project(now, wanted)).collect()
        }
        (now, _) => now.clone(),
    }
}

/// FNV-1a, 64 bit: stable over versions of everything, and nobody gains by forging it.
pub(super) fn hash(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(&mut text, value);
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The order of keys means nothing.
fn write_sorted(text: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<_, _> = map.iter().collect();
            for (key, value) in sorted {
                let _ = write!(text, "{key:?}:");
                write_sorted(text, value);
            }
            text.push('}');
        }
        Value::Array(items) => {
            for it in items {
                write_sorted(text, it);
            }
            text.push(']');
        }
        other => {
            let _ = write!(text, "{other},");
        }
    }
}

fn is_called(object: &DynamicObject, name: &str) -> bool {
    object.metadata.name.as_deref() == Some(name)
}
