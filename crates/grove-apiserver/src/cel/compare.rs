//! Which values are the same, and which is the greater.

use std::cmp::Ordering;

use super::functions::quantity::Quantity;
use super::value::{Text, Value};
use super::{Budget, EvalError};
use crate::schema::ListType;

/// Whether two values are the same. Numbers of different types are, if they are the same number.
pub(super) fn equal<'a>(left: &Value<'a>, right: &Value<'a>, budget: &mut Budget) -> Result<bool, EvalError> {
    budget.spend(1)?;
    Ok(match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Text(left), Value::Text(right)) => texts(left, right, budget)?.is_eq(),
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Time(left), Value::Time(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Quantity(left), Value::Quantity(right)) => left == right,
        (Value::Ip(left), Value::Ip(right)) => left == right,
        (Value::Cidr(left), Value::Cidr(right)) => left == right,
        (Value::Type(left), Value::Type(right)) => left == right,
        (Value::Optional(left), Value::Optional(right)) => match (left, right) {
            (None, None) => true,
            (Some(left), Some(right)) => equal(left, right, budget)?,
            _ => false,
        },
        (Value::Array(..) | Value::List(_), Value::Array(..) | Value::List(_)) => lists(left, right, budget)?,
        (Value::Object(..) | Value::Map(_), Value::Object(..) | Value::Map(_)) => maps(left, right, budget)?,
        _ => numbers(left, right).is_some_and(Ordering::is_eq),
    })
}

/// Which of two values is the greater. None if they cannot be compared.
pub(super) fn order<'a>(
    left: &Value<'a>,
    right: &Value<'a>,
    budget: &mut Budget,
) -> Result<Option<Ordering>, EvalError> {
    budget.spend(1)?;
    Ok(match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Text(left), Value::Text(right)) => Some(texts(left, right, budget)?),
        (Value::Bytes(left), Value::Bytes(right)) => Some(left.cmp(right)),
        (Value::Time(left), Value::Time(right)) => Some(left.cmp(right)),
        (Value::Duration(left), Value::Duration(right)) => Some(left.cmp(right)),
        (Value::Quantity(left), Value::Quantity(right)) => Some(Quantity::cmp(left, right)),
        _ => numbers(left, right),
    })
}

fn texts(left: &Text<'_>, right: &Text<'_>, budget: &mut Budget) -> Result<Ordering, EvalError> {
    let (left, right) = (left.as_str(), right.as_str());
    budget.spend(left.len().min(right.len()) as u64 / 10)?;
    Ok(left.cmp(right))
}

fn numbers(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    Some(match (left, right) {
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::Uint(left), Value::Uint(right)) => left.cmp(right),
        (Value::Int(left), Value::Uint(right)) => {
            u64::try_from(*left).map_or(Ordering::Less, |it| it.cmp(right))
        }
        (Value::Uint(left), Value::Int(right)) => {
            u64::try_from(*right).map_or(Ordering::Greater, |it| left.cmp(&it))
        }
        _ => double(left)?.partial_cmp(&double(right)?)?,
    })
}

#[allow(clippy::cast_precision_loss, reason = "CEL compares as doubles where one side is one")]
fn double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Int(it) => Some(*it as f64),
        Value::Uint(it) => Some(*it as f64),
        Value::Double(it) => Some(*it),
        _ => None,
    }
}

/// Lists whose schema says that they are sets or maps are the same in any order.
fn lists<'a>(left: &Value<'a>, right: &Value<'a>, budget: &mut Budget) -> Result<bool, EvalError> {
    let unordered = |list: &Value<'a>| list.list_type().is_some_and(|it| !matches!(it, ListType::Atomic));
    let any_order = unordered(left) || unordered(right);
    let (Some(left), Some(right)) = (left.items(budget)?, right.items(budget)?) else { return Ok(false) };
    if left.len() != right.len() {
        return Ok(false);
    }
    if !any_order {
        for (left, right) in left.iter().zip(&right) {
            if !equal(left, right, budget)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let mut rest: Vec<&Value<'a>> = right.iter().collect();
    for item in &left {
        let mut at = None;
        for (index, other) in rest.iter().enumerate() {
            if equal(item, other, budget)? {
                at = Some(index);
                break;
            }
        }
        let Some(at) = at else { return Ok(false) };
        rest.swap_remove(at);
    }
    Ok(true)
}

fn maps<'a>(left: &Value<'a>, right: &Value<'a>, budget: &mut Budget) -> Result<bool, EvalError> {
    let (Some(left), Some(right)) = (left.entries(budget)?, right.entries(budget)?) else { return Ok(false) };
    if left.len() != right.len() {
        return Ok(false);
    }
    for (key, value) in &left {
        let mut same = false;
        for (other_key, other) in &right {
            if equal(key, other_key, budget)? {
                same = equal(value, other, budget)?;
                break;
            }
        }
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `item in of`
pub(super) fn contains<'a>(of: &Value<'a>, item: &Value<'a>, budget: &mut Budget) -> Result<bool, EvalError> {
    if let Some(items) = of.items(budget)? {
        for known in &items {
            if equal(known, item, budget)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    match (of, item) {
        (Value::Object(..), Value::Text(key)) => Ok(of.field(key.as_str())?.is_some()),
        (Value::Object(..) | Value::Map(_), _) => {
            for (key, _) in of.entries(budget)?.unwrap_or_default() {
                if equal(&key, item, budget)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Err(EvalError::overload()),
    }
}
