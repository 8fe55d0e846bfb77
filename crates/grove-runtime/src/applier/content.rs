//! What two states of an object have to be compared in, and the mark that tells which content was written last. Pure.

use std::{collections::BTreeMap, fmt::Write as _};

use kube::api::DynamicObject;
use serde_json::{Map, Value, json};

use super::{Owner, Rendered};

/// What the mark says of an object: a hash of all its content and, where fields cannot be changed, one of these.
pub(super) fn mark_of(rendered: &Rendered) -> String {
    let lasting = rendered.lasting();
    match fixed(rendered, &lasting) {
        None => hash(&lasting),
        Some(fixed) => format!("{}.{}", hash(&lasting), hash(&fixed)),
    }
}

/// Whether a field has to be changed that cannot be: the object must be made anew.
///
/// What we gave when we made the object is known from its mark. Where that is what would be given now, nothing has to
/// change, whatever the server filled in or made of it: another object would come out the same. An object without our
/// mark was made by somebody else, and what they gave beyond the rendered is theirs.
pub(super) fn needs_another(rendered: &Rendered, mark: &str, there: &DynamicObject) -> bool {
    let lasting = rendered.lasting();
    let Some(fixed) = fixed(rendered, &lasting) else { return false };
    let now = serde_json::to_value(there).unwrap_or_default();
    let pairs = rendered.immutable.iter().map(|it| (at(&now, it), at(&lasting, it)));
    let mut differences = pairs.filter(|(now, wanted)| now != wanted);
    match marked(&now, mark).and_then(|it| it.split_once('.')) {
        Some((_, given)) if given == hash(&fixed) => false,
        Some(_) => differences.next().is_some(),
        None => differences.any(|pair| match pair {
            (Some(now), Some(wanted)) => project(now, wanted) != *wanted,
            (now, _) => now.is_none(),
        }),
    }
}

/// The fields that cannot be changed, as they are rendered.
fn fixed(rendered: &Rendered, lasting: &Value) -> Option<Value> {
    let given = |it: &String| Some((it.clone(), at(lasting, it)?.clone()));
    (!rendered.immutable.is_empty())
        .then(|| Value::Object(rendered.immutable.iter().filter_map(given).collect()))
}

/// A `null` is the absence of a field.
fn at<'a>(object: &'a Value, pointer: &str) -> Option<&'a Value> {
    object.pointer(pointer).filter(|it| !it.is_null())
}

/// The object with what makes it ours: the owner, and a mark that tells which content was written.
pub(super) fn complete(owner: &Owner, mark: &str, mut object: Value, says: &str) -> Value {
    let annotations = object["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    let marked: Map<String, Value> =
        annotations.into_iter().chain([(mark.to_owned(), Value::from(says))]).collect();
    object["metadata"]["namespace"] = owner.namespace.clone().into();
    object["metadata"]["ownerReferences"] = json!([owner.reference()]);
    object["metadata"]["annotations"] = marked.into();
    object
}

pub(super) fn marked<'a>(object: &'a Value, mark: &str) -> Option<&'a str> {
    object["metadata"]["annotations"].get(mark)?.as_str()
}

/// What is compared. Whose an object is, is seen by the UID: others may write the same reference in another way. Of which
/// kind it is, is known by where it was found: in lists of Kubernetes' own kinds the objects do not say so themselves.
pub(super) fn content(object: &Value) -> Value {
    let mut content = object.clone();
    if let Some(fields) = content.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
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
