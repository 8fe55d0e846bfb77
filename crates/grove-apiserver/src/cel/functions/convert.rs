//! From one type to another.

use super::{Function, Result};
use crate::cel::value::{Value, whole};
use crate::cel::{Budget, EvalError};
use crate::schema::is_duration;

pub(super) fn convert<'a>(function: Function, of: &Value<'a>, budget: &mut Budget) -> Result<'a> {
    if let Value::Text(text) = of {
        budget.spend(text.as_str().len() as u64 / 10)?;
    }
    match function {
        Function::ToString => string(of),
        Function::ToInt => match of {
            Value::Int(_) => Ok(of.clone()),
            Value::Uint(it) => i64::try_from(*it).map(Value::Int).map_err(|_| range()),
            Value::Double(it) => whole(*it).map(Value::Int),
            Value::Text(text) => {
                text.as_str().parse().map(Value::Int).map_err(|_| conversion("int", text.as_str()))
            }
            Value::Time(time) => Ok(Value::Int(time.as_second())),
            _ => Err(EvalError::overload()),
        },
        Function::ToUint => match of {
            Value::Uint(_) => Ok(of.clone()),
            Value::Int(it) => u64::try_from(*it).map(Value::Uint).map_err(|_| range()),
            Value::Double(it) => u64::try_from(whole(*it)?).map(Value::Uint).map_err(|_| range()),
            Value::Text(text) => {
                text.as_str().parse().map(Value::Uint).map_err(|_| conversion("uint", text.as_str()))
            }
            _ => Err(EvalError::overload()),
        },
        Function::ToDouble => double(of),
        Function::ToBool => match of {
            Value::Bool(_) => Ok(of.clone()),
            Value::Text(text) => match text.as_str() {
                "true" | "True" | "TRUE" | "t" | "1" => Ok(Value::Bool(true)),
                "false" | "False" | "FALSE" | "f" | "0" => Ok(Value::Bool(false)),
                other => Err(conversion("bool", other)),
            },
            _ => Err(EvalError::overload()),
        },
        Function::ToBytes => match of {
            Value::Bytes(_) => Ok(of.clone()),
            Value::Text(text) => Ok(Value::Bytes(text.as_str().as_bytes().into())),
            _ => Err(EvalError::overload()),
        },
        Function::ToDuration => match of {
            Value::Duration(_) => Ok(of.clone()),
            Value::Text(text) => is_duration(text.as_str())
                .map(Value::Duration)
                .ok_or_else(|| conversion("duration", text.as_str())),
            _ => Err(EvalError::overload()),
        },
        _ => match of {
            Value::Time(_) => Ok(of.clone()),
            Value::Int(seconds) => {
                k8s_openapi::jiff::Timestamp::from_second(*seconds).map(Value::Time).map_err(|_| range())
            }
            Value::Text(text) => {
                text.as_str().parse().map(Value::Time).map_err(|_| conversion("timestamp", text.as_str()))
            }
            _ => Err(EvalError::overload()),
        },
    }
}

fn range() -> EvalError {
    EvalError::wrong("range error")
}

fn conversion(to: &str, text: &str) -> EvalError {
    EvalError::wrong(format!("type conversion error from '{text}' to '{to}'"))
}

#[allow(clippy::cast_precision_loss, reason = "CEL converts to the nearest double")]
fn double<'a>(of: &Value<'a>) -> Result<'a> {
    match of {
        Value::Double(_) => Ok(of.clone()),
        Value::Int(it) => Ok(Value::Double(*it as f64)),
        Value::Uint(it) => Ok(Value::Double(*it as f64)),
        Value::Text(text) => {
            text.as_str().parse().map(Value::Double).map_err(|_| conversion("double", text.as_str()))
        }
        _ => Err(EvalError::overload()),
    }
}

fn string<'a>(of: &Value<'a>) -> Result<'a> {
    Ok(Value::text(match of {
        Value::Text(_) => return Ok(of.clone()),
        Value::Bool(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Uint(it) => it.to_string(),
        Value::Double(it) => it.to_string(),
        Value::Bytes(it) => String::from_utf8(it.to_vec())
            .map_err(|_| EvalError::wrong("invalid UTF-8 in bytes, cannot convert to string"))?,
        Value::Time(it) => it.to_string(),
        Value::Duration(it) => format!("{}s", it.as_secs_f64()),
        Value::Quantity(it) => it.to_string(),
        Value::Ip(it) => it.to_string(),
        Value::Cidr(it) => it.to_string(),
        Value::Type(it) => (*it).to_owned(),
        _ => return Err(EvalError::overload()),
    }))
}
