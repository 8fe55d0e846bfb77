//! What can be wrong with a value, in Kubernetes' words.

use std::fmt::Display;

use serde_json::Value;

use crate::failure::Cause;

/// As much of a value as a message shows.
const LONGEST: usize = 1024;

pub(super) fn required(path: impl Display) -> Cause {
    Cause::new("FieldValueRequired", &path.to_string(), "Required value", "")
}

pub(super) fn invalid(path: impl Display, value: &Value, detail: &str) -> Cause {
    Cause::new("FieldValueInvalid", &path.to_string(), &format!("Invalid value: {}", shown(value)), detail)
}

/// A value of another type than it should be; `shown` is what stands for it.
pub(super) fn wrong_type(path: impl Display, expected: &str, shown: &str) -> Cause {
    let path = path.to_string();
    let detail = format!("{path} in body must be of type {expected}: {shown:?}");
    Cause::new("FieldValueTypeInvalid", &path, &format!("Invalid value: {shown:?}"), &detail)
}

pub(super) fn not_supported(path: impl Display, value: &Value, choices: &[Value]) -> Cause {
    let choices: Vec<String> = choices
        .iter()
        .map(|it| format!("{:?}", it.as_str().map_or_else(|| it.to_string(), str::to_owned)))
        .collect();
    let detail = format!("supported values: {}", choices.join(", "));
    Cause::new(
        "FieldValueNotSupported",
        &path.to_string(),
        &format!("Unsupported value: {}", shown(value)),
        &detail,
    )
}

pub(super) fn duplicate(path: impl Display, value: &Value) -> Cause {
    Cause::new("FieldValueDuplicate", &path.to_string(), &format!("Duplicate value: {}", shown(value)), "")
}

pub(super) fn too_long(path: impl Display, most: u64) -> Cause {
    let detail = format!("may not be more than {most} bytes");
    Cause::new("FieldValueTooLong", &path.to_string(), "Too long", &detail)
}

pub(super) fn too_many(path: impl Display, count: usize, most: u64) -> Cause {
    let detail = format!("must have at most {most} items");
    Cause::new("FieldValueTooMany", &path.to_string(), &format!("Too many: {count}"), &detail)
}

/// Something about the whole object, which has no path. `shown` comes as it is to be shown.
pub(super) fn whole(shown: &str, detail: &str) -> Cause {
    Cause::new("FieldValueInvalid", "<nil>", &format!("Invalid value: {shown}"), detail)
}

fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}
