//! Sums, products and the like. Numbers of different types do not mix, and nothing overflows silently.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::ast::Operator;
use super::compare::equal;
use super::value::Value;
use super::{Budget, EvalError};
use crate::schema::ListType;

pub(super) fn negate<'a>(of: &Value<'a>) -> Result<Value<'a>, EvalError> {
    match of {
        Value::Int(it) => {
            it.checked_neg().map(Value::Int).ok_or_else(|| EvalError::wrong("integer overflow"))
        }
        Value::Double(it) => Ok(Value::Double(-it)),
        _ => Err(EvalError::overload()),
    }
}

pub(super) fn binary<'a>(
    operator: Operator,
    left: &Value<'a>,
    right: &Value<'a>,
    budget: &mut Budget,
) -> Result<Value<'a>, EvalError> {
    let overflow = || EvalError::wrong("integer overflow");
    let by_zero = |is_zero: bool| match (is_zero, operator) {
        (true, Operator::Divide) => Err(EvalError::wrong("division by zero")),
        (true, Operator::Modulo) => Err(EvalError::wrong("modulus by zero")),
        _ => Ok(()),
    };
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => {
            by_zero(*right == 0)?;
            let result = match operator {
                Operator::Add => left.checked_add(*right),
                Operator::Subtract => left.checked_sub(*right),
                Operator::Multiply => left.checked_mul(*right),
                Operator::Divide => left.checked_div(*right),
                _ => left.checked_rem(*right),
            };
            result.map(Value::Int).ok_or_else(overflow)
        }
        (Value::Uint(left), Value::Uint(right)) => {
            by_zero(*right == 0)?;
            let result = match operator {
                Operator::Add => left.checked_add(*right),
                Operator::Subtract => left.checked_sub(*right),
                Operator::Multiply => left.checked_mul(*right),
                Operator::Divide => left.checked_div(*right),
                _ => left.checked_rem(*right),
            };
            result.map(Value::Uint).ok_or_else(|| EvalError::wrong("unsigned integer overflow"))
        }
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(match operator {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
            _ => return Err(EvalError::overload()),
        })),
        (Value::Text(left), Value::Text(right)) if operator == Operator::Add => {
            let (left, right) = (left.as_str(), right.as_str());
            budget.spend((left.len() + right.len()) as u64 / 10)?;
            Ok(Value::text(format!("{left}{right}")))
        }
        (Value::Bytes(left), Value::Bytes(right)) if operator == Operator::Add => {
            budget.spend((left.len() + right.len()) as u64 / 10)?;
            Ok(Value::Bytes([&**left, &**right].concat().into()))
        }
        (Value::Array(..) | Value::List(_), _) if operator == Operator::Add => lists(left, right, budget),
        (Value::Optional(_), _) | (_, Value::Optional(_)) => Err(EvalError::overload()),
        _ => times(operator, left, right),
    }
}

fn times<'a>(operator: Operator, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>, EvalError> {
    let overflow = || EvalError::wrong("timestamp overflow");
    let shifted =
        |time: &Timestamp, by: SignedDuration| time.checked_add(by).map(Value::Time).map_err(|_| overflow());
    match (operator, left, right) {
        (Operator::Add, Value::Time(time), Value::Duration(by))
        | (Operator::Add, Value::Duration(by), Value::Time(time)) => shifted(time, *by),
        (Operator::Subtract, Value::Time(time), Value::Duration(by)) => {
            shifted(time, by.checked_neg().ok_or_else(overflow)?)
        }
        (Operator::Subtract, Value::Time(left), Value::Time(right)) => {
            Ok(Value::Duration(left.duration_since(*right)))
        }
        (Operator::Add, Value::Duration(left), Value::Duration(right)) => {
            left.checked_add(*right).map(Value::Duration).ok_or_else(overflow)
        }
        (Operator::Subtract, Value::Duration(left), Value::Duration(right)) => {
            left.checked_sub(*right).map(Value::Duration).ok_or_else(overflow)
        }
        _ => Err(EvalError::overload()),
    }
}

/// Lists behind each other; sets and maps of a schema are united instead.
fn lists<'a>(left: &Value<'a>, right: &Value<'a>, budget: &mut Budget) -> Result<Value<'a>, EvalError> {
    let kind = left.list_type();
    let (Some(mut out), Some(more)) = (left.items(budget)?, right.items(budget)?) else {
        return Err(EvalError::overload());
    };
    for item in more {
        let mut place = None;
        if let Some(ListType::Set | ListType::Map(_)) = kind {
            for (at, known) in out.iter().enumerate() {
                if is_same_item(kind, known, &item, budget)? {
                    place = Some(at);
                    break;
                }
            }
        }
        match place.and_then(|at| out.get_mut(at)) {
            Some(place) => *place = item,
            None => out.push(item),
        }
    }
    Ok(Value::list(out))
}

fn is_same_item<'a>(
    kind: Option<&ListType>,
    known: &Value<'a>,
    item: &Value<'a>,
    budget: &mut Budget,
) -> Result<bool, EvalError> {
    let Some(ListType::Map(keys)) = kind else { return equal(known, item, budget) };
    for key in keys {
        match (known.field(key)?, item.field(key)?) {
            (Some(known), Some(item)) if equal(&known, &item, budget)? => {}
            (None, None) => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}
