//! The order of a merged list: items that the patch names are in the patch's order, the others stay where they were.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::failure::Failure;

/// Puts items in the order that a patch wants.
pub(super) fn arrange(
    merged: Vec<Value>,
    wanted: &[Value],
    server: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, Failure> {
    let (wanted, server) = (positions(wanted, key)?, positions(server, key)?);
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for item in merged {
        let step = step(&item, key)?;
        match wanted.get(&step) {
            Some(at) => named.push((*at, step, item)),
            None => others.push((step, item)),
        }
    }
    named.sort_by_key(|(at, ..)| *at);
    others.sort_by_key(|(step, _)| server.get(step).copied().unwrap_or(usize::MAX));
    let mut out = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, step, item) in named {
        // What was before it stays before it.
        let is_before = |other: &str| match (server.get(other), server.get(&step)) {
            (Some(other), Some(named)) => other < named,
            _ => false,
        };
        while let Some((_, other)) = others.next_if(|(other, _)| is_before(other)) {
            out.push(other);
        }
        out.push(item);
    }
    out.extend(others.map(|(_, item)| item));
    Ok(out)
}

/// Whether the items of a patch are in the order that it names, all of them.
pub(super) fn check(patch: &[Value], wanted: &[Value], key: Option<&str>) -> Result<(), Failure> {
    let kept = patch.iter().filter(|it| it.get(super::DIRECTIVE).is_none());
    let mut names = wanted.iter();
    if wanted.is_empty() {
        return Ok(());
    }
    for item in kept {
        let item = step(item, key)?;
        let mut is_there = false;
        for name in names.by_ref() {
            if step(name, key)? == item {
                is_there = true;
                break;
            }
        }
        if !is_there {
            let (patch, wanted) = (Value::from(patch.to_vec()), Value::from(wanted.to_vec()));
            let message = format!(
                "The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{wanted}\n"
            );
            return Err(Failure::new(500, "", message));
        }
    }
    Ok(())
}

fn positions(list: &[Value], key: Option<&str>) -> Result<BTreeMap<String, usize>, Failure> {
    list.iter().enumerate().map(|(at, item)| Ok((step(item, key)?, at))).collect()
}

/// What an item is told apart by, as a text.
fn step(item: &Value, key: Option<&str>) -> Result<String, Failure> {
    let Some(key) = key else { return Ok(item.to_string()) };
    match item {
        Value::Object(item) => super::list::key_of(item, key).map(Value::to_string),
        other => Err(Failure::new(500, "", format!("expected a map, but received {other}"))),
    }
}
