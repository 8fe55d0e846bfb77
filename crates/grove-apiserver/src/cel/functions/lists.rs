//! Functions of lists.

use std::cmp::Ordering;

use super::{Function, Result};
use crate::cel::ast::Operator;
use crate::cel::compare::{contains, equal, order};
use crate::cel::value::Value;
use crate::cel::{Budget, EvalError, arithmetic};

pub(super) fn call<'a>(
    function: Function,
    of: &Value<'a>,
    rest: &[Value<'a>],
    budget: &mut Budget,
) -> Result<'a> {
    use Function as F;

    let items = of.items(budget)?.ok_or_else(EvalError::overload)?;
    Ok(match (function, rest) {
        (F::Sum, []) => {
            let mut sum = match items.first() {
                Some(Value::Double(_)) => Value::Double(0.0),
                Some(Value::Uint(_)) => Value::Uint(0),
                Some(Value::Duration(_)) => Value::Duration(k8s_openapi::jiff::SignedDuration::ZERO),
                _ => Value::Int(0),
            };
            for item in &items {
                sum = arithmetic::binary(Operator::Add, &sum, item, budget)?;
            }
            sum
        }
        (F::Min, []) => extreme(items, Ordering::Less, "min", budget)?,
        (F::Max, []) => extreme(items, Ordering::Greater, "max", budget)?,
        (F::IsSorted, []) => {
            for pair in items.windows(2) {
                if order(&pair[0], &pair[1], budget)?.ok_or_else(EvalError::overload)?.is_gt() {
                    return Ok(Value::Bool(false));
                }
            }
            Value::Bool(true)
        }
        (F::Sort, []) => return sort_by_key(items.into_iter().map(|it| (it.clone(), it)).collect(), budget),
        (F::Reverse, []) => Value::list(items.into_iter().rev().collect()),
        (F::First, []) => items.into_iter().next().map_or_else(Value::none, Value::some),
        (F::Last, []) => items.into_iter().last().map_or_else(Value::none, Value::some),
        (F::Distinct, []) => {
            let mut out: Vec<Value<'a>> = Vec::new();
            for item in items {
                if !has(&out, &item, budget)? {
                    out.push(item);
                }
            }
            Value::list(out)
        }
        (F::Flatten, []) => {
            let mut out = Vec::new();
            for item in items {
                match item.items(budget)? {
                    Some(inner) => out.extend(inner),
                    None => out.push(item),
                }
            }
            Value::list(out)
        }
        (F::Slice, [Value::Int(start), Value::Int(end)]) => {
            let range = usize::try_from(*start).ok().zip(usize::try_from(*end).ok());
            let part = range.and_then(|(start, end)| items.get(start..end));
            Value::list(part.ok_or_else(|| EvalError::wrong("cannot slice, index out of bounds"))?.to_vec())
        }
        (F::IndexOf, [item]) => {
            let mut at = None;
            for (index, known) in items.iter().enumerate() {
                if equal(known, item, budget)? {
                    at = Some(index);
                    break;
                }
            }
            at.map_or(Value::Int(-1), Value::int)
        }
        (F::LastIndexOf, [item]) => {
            let mut at = None;
            for (index, known) in items.iter().enumerate().rev() {
                if equal(known, item, budget)? {
                    at = Some(index);
                    break;
                }
            }
            at.map_or(Value::Int(-1), Value::int)
        }
        (F::Join, _) => join(&items, rest, budget)?,
        (F::SetsContains, [other]) => Value::Bool(contains_all(of, other, budget)?),
        (F::SetsEquivalent, [other]) => {
            Value::Bool(contains_all(of, other, budget)? && contains_all(other, of, budget)?)
        }
        (F::SetsIntersects, [other]) => {
            let mut any = false;
            for item in &items {
                any |= contains(other, item, budget)?;
            }
            Value::Bool(any)
        }
        _ => return Err(EvalError::overload()),
    })
}

fn has<'a>(
    items: &[Value<'a>],
    item: &Value<'a>,
    budget: &mut Budget,
) -> std::result::Result<bool, EvalError> {
    for known in items {
        if equal(known, item, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn contains_all<'a>(
    of: &Value<'a>,
    other: &Value<'a>,
    budget: &mut Budget,
) -> std::result::Result<bool, EvalError> {
    for item in other.items(budget)?.ok_or_else(EvalError::overload)? {
        if !contains(of, &item, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn extreme<'a>(items: Vec<Value<'a>>, wanted: Ordering, name: &str, budget: &mut Budget) -> Result<'a> {
    let mut best: Option<Value<'a>> = None;
    for item in items {
        let is_better = match &best {
            None => true,
            Some(best) => order(&item, best, budget)?.ok_or_else(EvalError::overload)? == wanted,
        };
        if is_better {
            best = Some(item);
        }
    }
    best.ok_or_else(|| EvalError::wrong(format!("{name} called on empty list")))
}

fn join<'a>(items: &[Value<'a>], rest: &[Value<'a>], budget: &mut Budget) -> Result<'a> {
    let by = match rest.first() {
        None => "",
        Some(by) => by.as_str().ok_or_else(EvalError::overload)?,
    };
    let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    let texts = texts.ok_or_else(EvalError::overload)?;
    let length: usize = texts.iter().map(|it| it.len() + by.len()).sum();
    budget.spend(length as u64 / 10)?;
    Ok(Value::text(texts.join(by)))
}

/// Values in the order of their keys.
pub(in crate::cel) fn sort_by_key<'a>(
    mut keyed: Vec<(Value<'a>, Value<'a>)>,
    budget: &mut Budget,
) -> Result<'a> {
    let mut wrong = None;
    keyed.sort_by(|(left, _), (right, _)| match order(left, right, budget) {
        Ok(Some(found)) => found,
        Ok(None) => {
            wrong = Some(EvalError::overload());
            Ordering::Equal
        }
        Err(error) => {
            wrong = Some(error);
            Ordering::Equal
        }
    });
    match wrong {
        Some(error) => Err(error),
        None => Ok(Value::list(keyed.into_iter().map(|(_, value)| value).collect())),
    }
}
