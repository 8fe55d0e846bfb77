//! What a single value may be: its type, its range, its fixed set.

use std::net::IpAddr;

use serde_json::Value;

use crate::{
    field::{Error, Path},
    limits::MAX_NAME_LENGTH,
    wire::GoDuration,
};

/// What a value may be. For texts other than durations, empty counts as absent, as it does for upstream.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// `true` or `false`.
    Bool,
    /// A whole number in a range, both ends included.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A number greater than zero.
    Positive,
    /// Any text.
    Text,
    /// The name of a Kubernetes object.
    Name,
    /// An IP address or a host name, without a port.
    Host,
    /// A duration in Go's syntax.
    Duration,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// An object with any keys.
    AnyObject,
    /// An object with these keys and no others.
    Object(&'static [Key]),
    /// A list of such values.
    List(&'static Shape),
}

/// A key of an object.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// What its value may be.
    pub shape: Shape,
    /// Whether it must be given.
    pub required: bool,
}

impl Key {
    /// A key that may be left out.
    pub const fn optional(name: &'static str, shape: Shape) -> Self {
        Self { name, shape, required: false }
    }

    /// A key that must be given.
    pub const fn required(name: &'static str, shape: Shape) -> Self {
        Self { name, shape, required: true }
    }
}

/// Whether `value` says nothing.
pub(super) fn is_absent(value: &Value, shape: &Shape) -> bool {
    match shape {
        Shape::Text | Shape::Name | Shape::Host | Shape::OneOf(_) => value.is_null() || value == "",
        _ => value.is_null(),
    }
}

/// `value`, if it is what `shape` wants. Objects and lists are for the walk: here they are of the wrong type.
pub(super) fn leaf(value: &Value, shape: &Shape, path: &Path) -> Result<Value, Error> {
    let wrong_type = || Error::type_invalid(path.clone(), value, format!("must be {}", wanted(shape)));
    let wrong_value = |detail: &str| Error::invalid(path.clone(), value, detail);
    match *shape {
        Shape::Bool if value.is_boolean() => {}
        Shape::AnyObject if value.is_object() => {}
        Shape::Integer { min, max } => {
            let number = integer(value).ok_or_else(wrong_type)?;
            return match i64::try_from(number) {
                Ok(number) if (min..=max).contains(&number) => Ok(Value::from(number)),
                _ if number < min.into() => Err(wrong_value(&format!("must be at least {min}"))),
                _ => Err(wrong_value(&format!("must be at most {max}"))),
            };
        }
        Shape::Positive => {
            if value.as_f64().ok_or_else(wrong_type)? <= 0.0 {
                return Err(wrong_value("must be greater than 0"));
            }
        }
        Shape::OneOf(supported) => {
            if !supported.contains(&value.as_str().ok_or_else(wrong_type)?) {
                return Err(Error::not_supported(path.clone(), value, supported));
            }
        }
        Shape::Text | Shape::Name | Shape::Host | Shape::Duration => {
            let text = value.as_str().ok_or_else(wrong_type)?;
            text_rule(text, shape).map_err(|detail| wrong_value(&detail))?;
        }
        Shape::Bool | Shape::AnyObject | Shape::Object(_) | Shape::List(_) => return Err(wrong_type()),
    }
    Ok(value.clone())
}

/// What is wrong with a text of this shape.
fn text_rule(text: &str, shape: &Shape) -> Result<(), String> {
    match shape {
        Shape::Name if !is_name(text) => {
            Err("must be an object name: lower case letters, digits, '-' and '.', at most 253 characters"
                .to_owned())
        }
        Shape::Host if !is_host(text) => {
            Err("must be an IP address or a host name, without a port".to_owned())
        }
        Shape::Duration => GoDuration::from(text).nanos().map(drop).map_err(|error| error.to_string()),
        _ => Ok(()),
    }
}

/// A whole number. Floats without a fraction count: Helm writes a million as `1e+06`.
fn integer(value: &Value) -> Option<i128> {
    let whole = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    whole.or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and no range reaches the ends")]
        Some(number as i128)
    })
}

/// Whether `text` is a DNS subdomain, which is what Kubernetes asks of most object names.
fn is_name(text: &str) -> bool {
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= MAX_NAME_LENGTH && text.split('.').all(is_label)
}

fn is_host(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok() || is_name(&text.to_ascii_lowercase())
}

/// What to write, as it follows "must be".
pub(super) fn wanted(shape: &Shape) -> String {
    match *shape {
        Shape::Bool => "true or false".to_owned(),
        Shape::Integer { .. } => "a whole number".to_owned(),
        Shape::Positive => "a number greater than 0".to_owned(),
        Shape::Text | Shape::Name | Shape::Host => "a string".to_owned(),
        Shape::Duration => "a duration such as 15s or 1m30s".to_owned(),
        Shape::OneOf([only]) => format!("{only:?}"),
        Shape::OneOf(supported) => format!("one of {}", quoted(supported)),
        Shape::AnyObject | Shape::Object(_) => "an object".to_owned(),
        Shape::List(_) => "a list".to_owned(),
    }
}

/// `"a", "b"`.
pub(super) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
