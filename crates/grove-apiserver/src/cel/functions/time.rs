//! Parts of times and durations.

use k8s_openapi::jiff::tz::{Offset, TimeZone};

use super::{Function, Result};
use crate::cel::EvalError;
use crate::cel::value::Value;

pub(super) fn part<'a>(function: Function, of: &Value<'a>, zone: Option<&Value<'a>>) -> Result<'a> {
    let time = match (of, zone) {
        (Value::Time(time), None) => time.to_zoned(TimeZone::UTC),
        (Value::Time(time), Some(zone)) => {
            let name = zone.as_str().ok_or_else(EvalError::overload)?;
            time.to_zoned(
                self::zone(name).ok_or_else(|| EvalError::wrong(format!("unknown time zone {name}")))?,
            )
        }
        (Value::Duration(it), None) => {
            return Ok(Value::Int(match function {
                Function::Hours => it.as_hours(),
                Function::Minutes => it.as_mins(),
                Function::Seconds => it.as_secs(),
                Function::Milliseconds => i64::from(it.subsec_millis()),
                _ => return Err(EvalError::overload()),
            }));
        }
        _ => return Err(EvalError::overload()),
    };
    Ok(Value::Int(match function {
        Function::FullYear => time.year().into(),
        Function::Month => i64::from(time.month()) - 1,
        Function::Date => time.day().into(),
        Function::DayOfMonth => i64::from(time.day()) - 1,
        Function::DayOfWeek => time.weekday().to_sunday_zero_offset().into(),
        Function::DayOfYear => i64::from(time.day_of_year()) - 1,
        Function::Hours => time.hour().into(),
        Function::Minutes => time.minute().into(),
        Function::Seconds => time.second().into(),
        _ => time.millisecond().into(),
    }))
}

/// UTC and fixed offsets such as `-08:00`. Names of places need a database that not every machine has.
fn zone(name: &str) -> Option<TimeZone> {
    if matches!(name, "UTC" | "Z" | "") {
        return Some(TimeZone::UTC);
    }
    let (sign, rest) = match name.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, name.strip_prefix('+').unwrap_or(name)),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let fits = (0..=23).contains(&hours) && (0..=59).contains(&minutes);
    let seconds = sign * (hours * 3600 + minutes * 60);
    fits.then(|| Offset::from_seconds(seconds).ok().map(TimeZone::fixed)).flatten()
}
