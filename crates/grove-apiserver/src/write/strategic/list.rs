//! Lists, merged item by item.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{DIRECTIVE, LONGEST_LIST, merge as merge_objects, order, unknown_directive};
use crate::failure::Failure;
use crate::kinds::{Field, Merge};

/// A list that is there, with what a patch says of it.
pub(super) fn merge(old: Vec<Value>, new: Vec<Value>, field: Option<&Field>) -> Result<Vec<Value>, Failure> {
    if old.len() + new.len() > LONGEST_LIST {
        return Err(too_long());
    }
    let Some(field) = field else { return Ok(new) };
    match field.patch {
        Merge::Values => {
            let (server_order, order) = (old.clone(), new.clone());
            let mut seen = BTreeSet::new();
            let merged = old.into_iter().chain(new).filter(|it| seen.insert(it.to_string())).collect();
            order::arrange(merged, &order, &server_order, None)
        }
        Merge::Key(key) => by_key(old, new, key, field),
        Merge::Usual | Merge::Replace => Ok(new),
    }
}

fn by_key(old: Vec<Value>, new: Vec<Value>, key: &str, field: &Field) -> Result<Vec<Value>, Failure> {
    let (mut there, mut changes) = (objects(old)?, Vec::new());
    let mut gone = BTreeSet::new();
    let mut replaces = false;
    for mut item in objects(new)? {
        match item.shift_remove(DIRECTIVE) {
            None => changes.push(item),
            Some(Value::String(it)) if it == "delete" => {
                gone.insert(key_of(&item, key)?.to_string());
            }
            Some(Value::String(it)) if it == "replace" => replaces = true,
            Some(Value::String(it)) if it == "merge" => {
                return Err(Failure::new(500, "", "merging lists cannot yet be specified in the patch"));
            }
            Some(other) => return Err(unknown_directive(&other, &item)),
        }
    }
    if replaces {
        return Ok(changes.into_iter().map(Value::Object).collect());
    }
    if !gone.is_empty() {
        there.retain(|it| it.get(key).is_none_or(|it| !gone.contains(&it.to_string())));
    }
    let server_order: Vec<Value> = there.iter().cloned().map(Value::Object).collect();
    let order: Vec<Value> = changes.iter().cloned().map(Value::Object).collect();
    let mut places = BTreeMap::new();
    for (at, item) in there.iter().enumerate() {
        places.entry(key_of(item, key)?.to_string()).or_insert(at);
    }
    for change in changes {
        let name = key_of(&change, key)?.to_string();
        let of = field.holds.object();
        if let Some(place) = places.get(&name).and_then(|at| there.get_mut(*at)) {
            *place = merge_objects(std::mem::take(place), change, of)?;
        } else {
            places.insert(name, there.len());
            // Through the same door: a directive inside is none of its fields.
            there.push(merge_objects(Map::new(), change, of)?);
        }
    }
    order::arrange(there.into_iter().map(Value::Object).collect(), &order, &server_order, Some(key))
}

/// What an item is told apart by.
pub(super) fn key_of<'a>(item: &'a Map<String, Value>, key: &str) -> Result<&'a Value, Failure> {
    item.get(key).ok_or_else(|| {
        let shown = serde_json::to_string(item).unwrap_or_default();
        Failure::new(500, "", format!("map: {shown} does not contain declared merge key: {key}"))
    })
}

fn objects(list: Vec<Value>) -> Result<Vec<Map<String, Value>>, Failure> {
    let object = |it: Value| match it {
        Value::Object(map) => Ok(map),
        other => {
            let kind = if other.is_array() { "slice" } else { "scalar" };
            Err(Failure::new(500, "", format!("expected a map, but received a {kind}")))
        }
    };
    list.into_iter().map(object).collect()
}

pub(super) fn too_long() -> Failure {
    Failure::new(413, "RequestEntityTooLarge", format!("a merged list may have {LONGEST_LIST} items"))
}
