//! Values by their parts: which parts one has, two merged, two compared, parts taken away.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::set::FieldSet;
use super::shape::{ItemKeys, Shape};

/// The parts that a value has. An error says which list cannot be told apart.
pub(super) fn parts(value: &Value, shape: &Shape) -> Result<FieldSet, String> {
    let mut out = FieldSet::default();
    match (value, shape.items()) {
        (_, _) if matches!(shape, Shape::Atomic) => {}
        (Value::Object(map), _) => {
            for (name, value) in map {
                let mut below = parts(value, shape.field(name)).map_err(|it| format!(".{name}{it}"))?;
                below.owned |= !shape.declares(name);
                out.put(format!("f:{name}"), below);
            }
        }
        (Value::Array(list), Some((keys, item_shape))) => {
            for item in list {
                let step = keys.step(item).ok_or(": an item lacks the fields that it is known by")?;
                if out.at(&step).is_some() {
                    return Err(format!(": duplicate entries for key {step}"));
                }
                let mut below = parts(item, item_shape)?;
                below.owned = true;
                out.put(step, below);
            }
        }
        _ => {}
    }
    // What has no parts is one.
    Ok(if out.is_empty() { FieldSet::leaf() } else { out })
}

/// The paths of the lists and maps in a value that are owned as a whole.
pub(super) fn wholes(value: &Value, shape: &Shape) -> Vec<String> {
    let below = |step: String, value: &Value, shape: &Shape| {
        wholes(value, shape).into_iter().map(move |it| format!("{step}{it}")).collect::<Vec<_>>()
    };
    match (value, shape.items()) {
        (Value::Object(map), _) if !matches!(shape, Shape::Atomic) => {
            map.iter().flat_map(|(name, value)| below(format!(".{name}"), value, shape.field(name))).collect()
        }
        (Value::Array(list), Some((_, item))) => {
            list.iter().enumerate().flat_map(|(at, value)| below(format!("[{at}]"), value, item)).collect()
        }
        (Value::Object(_) | Value::Array(_), _) => vec![String::new()],
        _ => Vec::new(),
    }
}

/// What is there, with what is applied.
pub(super) fn merge(live: &Value, applied: &Value, shape: &Shape) -> Value {
    match (live, applied, shape.items()) {
        (_, _, _) if matches!(shape, Shape::Atomic) => applied.clone(),
        (Value::Object(live), Value::Object(applied), _) => {
            let mut out = live.clone();
            for (name, applied) in applied {
                let value = match live.get(name) {
                    Some(live) => merge(live, applied, shape.field(name)),
                    None => applied.clone(),
                };
                out.insert(name.clone(), value);
            }
            Value::Object(out)
        }
        (Value::Array(live), Value::Array(applied), Some((keys, item))) => {
            merge_items(&steps(live, keys), &steps(applied, keys), item)
        }
        _ => applied.clone(),
    }
}

/// Items that both have come in the order of `applied`; those that are only there stay where they are among them.
fn merge_items(live: &[(String, &Value)], applied: &[(String, &Value)], shape: &Shape) -> Value {
    let (in_live, in_applied) = (places(live), places(applied));
    // For each place in `applied`, the next item from there on that is there already.
    let mut next_old = vec![applied.len(); applied.len() + 1];
    for (place, (step, _)) in applied.iter().enumerate().rev() {
        next_old[place] = if in_live.contains_key(step.as_str()) { place } else { next_old[place + 1] };
    }
    let mut out = Vec::new();
    let (mut at, mut taken) = (0, 0);
    loop {
        let wanted = applied.get(taken);
        if let Some((step, value)) = live.get(at) {
            match in_applied.get(step.as_str()).copied() {
                None => {
                    out.push((*value).clone());
                    at += 1;
                    continue;
                }
                Some(place) if place < taken => {
                    at += 1;
                    continue;
                }
                // Not its turn: others that are there too come first.
                Some(place) if next_old[taken] < place => {
                    at += 1;
                    continue;
                }
                Some(_) => {}
            }
        }
        let Some((step, value)) = wanted else { return Value::Array(out) };
        let old = in_live.get(step.as_str()).map(|place| live[*place].1);
        out.push(old.map_or_else(|| (*value).clone(), |old| merge(old, value, shape)));
        taken += 1;
    }
}

/// Which parts differ between two values: those that are new or changed, and those that are gone. What holds others is a part
/// by itself where it is new or gone.
pub(super) fn compare(old: &Value, new: &Value, shape: &Shape) -> (FieldSet, FieldSet) {
    let (mut changed, mut gone) = (FieldSet::default(), FieldSet::default());
    let mut pair = |step: String, old: Option<&Value>, new: Option<&Value>, shape: &Shape| match (old, new) {
        (Some(old), Some(new)) => {
            let below = compare(old, new, shape);
            changed.put(step.clone(), below.0);
            gone.put(step, below.1);
        }
        (None, Some(new)) => changed.put(step, all(new, shape)),
        (Some(old), None) => gone.put(step, all(old, shape)),
        (None, None) => {}
    };
    match (old, new, shape.items()) {
        _ if old == new => {}
        (Value::Object(old), Value::Object(new), _) if !matches!(shape, Shape::Atomic) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let (mut old, mut new) = (old.get(name), new.get(name));
                let one = old.xor(new).filter(|_| shape.has_always(name));
                let nothing = one.map(nothing_like);
                old = old.or(nothing.as_ref());
                new = new.or(nothing.as_ref());
                pair(format!("f:{name}"), old, new, shape.field(name));
            }
        }
        (Value::Array(old), Value::Array(new), Some((keys, item))) => {
            let (old, new) = (steps(old, keys), steps(new, keys));
            let (in_old, in_new) = (places(&old), places(&new));
            let names: BTreeSet<&String> = old.iter().chain(&new).map(|(step, _)| step).collect();
            for step in names {
                let before = in_old.get(step.as_str()).map(|at| old[*at].1);
                let after = in_new.get(step.as_str()).map(|at| new[*at].1);
                pair(step.clone(), before, after, item);
            }
        }
        // One thing in the place of another: whoever had a part of the old one has lost it.
        _ => {
            let whole = |it| parts(it, shape).unwrap_or_else(|_| FieldSet::leaf());
            changed = whole(new);
            changed.owned |= !old.is_null();
            gone = whole(old).without(&changed);
        }
    }
    (changed, gone)
}

/// A value of the same type with nothing in it.
fn nothing_like(value: &Value) -> Value {
    match value {
        Value::Object(_) => Value::Object(Map::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::String(_) => "".into(),
        Value::Number(_) => 0.into(),
        Value::Bool(_) => false.into(),
        Value::Null => Value::Null,
    }
}

/// The parts that a value has, and all that hold them.
fn all(value: &Value, shape: &Shape) -> FieldSet {
    let mut out = FieldSet::leaf();
    match (value, shape.items()) {
        (_, _) if matches!(shape, Shape::Atomic) => {}
        (Value::Object(map), _) => {
            for (name, value) in map {
                out.put(format!("f:{name}"), all(value, shape.field(name)));
            }
        }
        (Value::Array(list), Some((keys, item))) => {
            for (step, item_value) in steps(list, keys) {
                out.put(step, all(item_value, item));
            }
        }
        _ => {}
    }
    out
}

/// Takes parts away, and what holds nothing without them, unless it is in `kept`.
pub(super) fn remove(value: &mut Value, gone: &FieldSet, kept: &FieldSet, shape: &Shape) {
    let nothing = FieldSet::default();
    let goes = |step: &str, value: &mut Value, shape: &Shape| {
        let Some(gone) = gone.at(step) else { return false };
        let kept = kept.at(step).unwrap_or(&nothing);
        if !gone.owned {
            remove(value, gone, kept, shape);
        }
        gone.owned || (!kept.owned && is_hollow(value))
    };
    match (value, shape.items()) {
        (Value::Object(map), _) => {
            let old = std::mem::replace(map, Map::new());
            for (name, mut value) in old {
                if !goes(&format!("f:{name}"), &mut value, shape.field(&name)) {
                    map.insert(name, value);
                }
            }
        }
        (Value::Array(list), Some((keys, item))) => {
            list.retain_mut(|it| !keys.step(it).is_some_and(|step| goes(&step, it, item)));
        }
        _ => {}
    }
}

fn is_hollow(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// Where the first item of each name is. Lists may be as long as a body.
fn places<'a>(list: &'a [(String, &Value)]) -> BTreeMap<&'a str, usize> {
    list.iter().enumerate().rev().map(|(at, (step, _))| (step.as_str(), at)).collect()
}

/// Items with what they are known by; the server may have some that are known by nothing.
fn steps<'a>(list: &'a [Value], keys: ItemKeys<'_>) -> Vec<(String, &'a Value)> {
    list.iter().map(|it| (keys.step(it).unwrap_or_default(), it)).collect()
}
