//! The annotation that describes the owner of a group, which KAI's tools read.

use serde_json::Value;

use crate::{
    metadata::{name, uid},
    workload::Kind,
};

/// The annotation.
pub(crate) const ANNOTATION: &str = "kai.scheduler/top-owner-metadata";

/// YAML of a few lines.
pub(crate) fn top_owner(object: &Value) -> String {
    let Kind { group, version, kind } = Kind::of(object);
    let lines = [
        ("name", name(object)),
        ("uid", uid(object)),
        ("group", group),
        ("version", version),
        ("kind", kind),
    ];
    lines.iter().fold(String::new(), |all, (key, value)| all + key + ": " + &text(value) + "\n")
}

/// A text, in quotes where YAML would read something else without them.
fn text(value: &str) -> String {
    if is_plain(value) { value.to_owned() } else { format!("{value:?}") }
}

fn is_plain(value: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let letters = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.' | '_');
    value.starts_with(|it: char| it.is_ascii_alphanumeric())
        && value.chars().all(letters)
        && !WORDS.iter().any(|it| value.eq_ignore_ascii_case(it))
        && !is_number(value)
        && !is_date(value)
}

fn is_number(value: &str) -> bool {
    let digits = value.replace('_', "").to_ascii_lowercase();
    let in_base = |prefix: &str, base: u32| {
        digits.strip_prefix(prefix).is_some_and(|it| !it.is_empty() && it.chars().all(|it| it.is_digit(base)))
    };
    let is_float = digits.starts_with(|it: char| it.is_ascii_digit()) && digits.parse::<f64>().is_ok();
    is_float || in_base("0x", 16) || in_base("0o", 8) || in_base("0b", 2)
}

/// `2026-01-31`.
fn is_date(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    matches!(parts[..], [year, month, day]
        if year.len() == 4 && (1..=2).contains(&month.len()) && (1..=2).contains(&day.len()))
        && parts.into_iter().all(digits)
}

#[cfg(test)]
mod tests;
