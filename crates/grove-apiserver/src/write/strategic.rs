//! Strategic merge patch: like a merge patch, but lists of built-in kinds are merged item by item, and the patch may say
//! otherwise: `$patch`, `$retainKeys`, `$setElementOrder/LIST`, `$deleteFromPrimitiveList/LIST`.
//!
//! Follows `strategicpatch` of the real server, in its words where it refuses.

mod list;
mod order;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::kinds::{Definition, Field, Merge, Type};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE: &str = "$deleteFromPrimitiveList/";

/// As many items as a merged list may have. No list of a real object comes near.
const LONGEST_LIST: usize = 10_000;

/// `original` with what `patch` says. JSON is at most 128 levels deep, and so is this recursion.
pub(super) fn apply(
    original: Map<String, Value>,
    patch: Map<String, Value>,
    of: Option<&'static Definition>,
) -> Result<Map<String, Value>, Failure> {
    merge(original, patch, of)
}

fn merge(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    of: Option<&'static Definition>,
) -> Result<Map<String, Value>, Failure> {
    if let Some(directive) = patch.shift_remove(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Map::new()),
            _ => Err(unknown_directive(&directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    let orders: Vec<String> =
        patch.keys().filter_map(|it| it.strip_prefix(ORDER)).map(str::to_owned).collect();
    for name in orders {
        let order = patch.shift_remove(&format!("{ORDER}{name}")).unwrap_or_default();
        let field = of.and_then(|it| it.field(&name));
        ordered(&mut original, &mut patch, &name, order, field)?;
    }
    for (name, value) in patch {
        if let Some(list) = name.strip_prefix(DELETE) {
            if let Some(Value::Array(there)) = original.get_mut(list) {
                let Value::Array(gone) = value else {
                    return Err(Failure::bad_request("invalid patch format of primitive list"));
                };
                let gone: BTreeSet<String> = gone.iter().map(Value::to_string).collect();
                there.retain(|it| !gone.contains(&it.to_string()));
            }
            continue;
        }
        match (original.get_mut(&name), value) {
            (_, Value::Null) => drop(original.shift_remove(&name)),
            (Some(place), value) => {
                match field_value(place.take(), value, of.and_then(|it| it.field(&name)))? {
                    Some(value) => *place = value,
                    None => drop(original.shift_remove(&name)),
                }
            }
            (None, value) => {
                if let Some(value) = without_directives(value) {
                    original.insert(name, value);
                }
            }
        }
    }
    Ok(original)
}

/// What becomes of a field that is there. None if it goes.
fn field_value(old: Value, new: Value, field: Option<&Field>) -> Result<Option<Value>, Failure> {
    let strategy = field.map_or(&Merge::Usual, |it| &it.patch);
    Ok(match (old, new) {
        (Value::Object(_), Value::Object(new)) if *strategy == Merge::Replace => Some(Value::Object(new)),
        (Value::Object(old), Value::Object(new)) => {
            let of = field.and_then(|it| member(&it.holds));
            Some(Value::Object(merge(old, new, of)?))
        }
        (Value::Array(old), Value::Array(new)) => Some(Value::Array(list::merge(old, new, field)?)),
        (_, new) => without_directives(new),
    })
}

/// The type of an object, or of what a map holds.
fn member(of: &Type) -> Option<&'static Definition> {
    match of {
        Type::Object(_) => of.object(),
        _ => None,
    }
}

/// A field with a list that says in which order its items are to be.
fn ordered(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    name: &str,
    order: Value,
    field: Option<&Field>,
) -> Result<(), Failure> {
    let bad = || Failure::bad_request("invalid patch format of setElementOrder list");
    let Value::Array(order) = order else { return Err(bad()) };
    if order.len() > LONGEST_LIST {
        return Err(list::too_long());
    }
    let take = |fields: &mut Map<String, Value>| match fields.get_mut(name).map(Value::take) {
        None => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list)),
        Some(_) => Err(bad()),
    };
    let new = take(patch)?;
    patch.shift_remove(name);
    let old = take(original)?;
    let key = match field.map(|it| &it.patch) {
        Some(Merge::Key(key)) => Some(*key),
        _ => None,
    };
    if let Some(new) = &new {
        order::check(new, &order, key)?;
    }
    let server_order = old.clone().unwrap_or_default();
    let merged = match (old, new) {
        (None, None) => {
            original.shift_remove(name);
            return Ok(());
        }
        (Some(old), None) => old,
        (None, Some(new)) => new.into_iter().filter_map(without_directives).collect(),
        (Some(old), Some(new)) => list::merge(old, new, field)?,
    };
    original.insert(name.to_owned(), Value::Array(order::arrange(merged, &order, &server_order, key)?));
    Ok(())
}

/// Takes out of `original` what `$retainKeys` does not name.
fn retain_keys(original: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Result<(), Failure> {
    let Some(keys) = patch.shift_remove(RETAIN_KEYS) else { return Ok(()) };
    let bad = || Failure::bad_request("invalid patch format of retainKeys");
    let Value::Array(keys) = keys else { return Err(bad()) };
    let is_kept = |name: &str| keys.iter().any(|it| it == name);
    let is_fine = |(name, value): (&String, &Value)| {
        value.is_null() || name.starts_with(DELETE) || name.starts_with(ORDER) || is_kept(name)
    };
    if !patch.iter().all(is_fine) {
        return Err(bad());
    }
    original.retain(|name, _| is_kept(name));
    Ok(())
}

/// A value that is new, without what is only an instruction. None if it is nothing but one.
fn without_directives(value: Value) -> Option<Value> {
    Some(match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => return None,
        Value::Object(map) => {
            let is_value =
                |name: &str| name != RETAIN_KEYS && !name.starts_with(ORDER) && !name.starts_with(DELETE);
            let fields = map.into_iter().filter(|(name, it)| !it.is_null() && is_value(name));
            Value::Object(fields.filter_map(|(name, it)| Some((name, without_directives(it)?))).collect())
        }
        Value::Array(list) => list.into_iter().filter_map(without_directives).collect(),
        other => other,
    })
}

fn unknown_directive(directive: &Value, patch: &Map<String, Value>) -> Failure {
    let shown = directive.as_str().map_or_else(|| directive.to_string(), str::to_owned);
    let map = serde_json::to_string(patch).unwrap_or_default();
    Failure::new(500, "", format!("unknown patch type: {shown} in map: {map}"))
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]
mod tests;
