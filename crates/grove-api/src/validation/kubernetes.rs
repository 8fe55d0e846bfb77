//! Kubernetes' own rules for names, labels, annotations and environment variables.

use std::collections::BTreeMap;

use crate::field::{Error, Errors, Path};

const MAX_LABEL_PART: usize = 63;
const MAX_PREFIX: usize = 253;
/// All annotations of an object together.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;

/// A DNS label: lower-case letters, digits, dashes; at most 63 characters.
pub(super) fn is_dns_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty()
        && text.len() <= MAX_LABEL_PART
        && text.chars().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

pub(super) fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= MAX_PREFIX && text.split('.').all(is_dns_label)
}

/// The part of a label key behind the slash, or a label value that is not empty.
fn is_qualified_part(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty()
        && text.len() <= MAX_LABEL_PART
        && text.chars().all(inner)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// The value of a label.
pub(super) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_qualified_part(text)
}

pub(super) fn is_qualified_name(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_qualified_part(name),
        None => is_qualified_part(key),
    }
}

pub(super) fn labels(labels: &BTreeMap<String, String>, path: &Path, errors: &mut Errors) {
    for (key, value) in labels {
        if !is_qualified_name(key) {
            errors.push(Error::invalid(
                path.key(key),
                key,
                "must be a label key: an optional DNS prefix and a slash, then at most 63 letters, digits, '-', '_' or '.'",
            ));
        }
        if !is_label_value(value) {
            errors.push(Error::invalid(
                path.key(key),
                value,
                "must be a label value: at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit",
            ));
        }
    }
}

pub(super) fn annotations(annotations: &BTreeMap<String, String>, path: &Path, errors: &mut Errors) {
    for key in annotations.keys() {
        // Unlike label keys, annotation keys may have capitals in the prefix.
        if !is_qualified_name(&key.to_lowercase()) {
            errors.push(Error::invalid(
                path.key(key),
                key,
                "must be an annotation key: an optional DNS prefix and a slash, then at most 63 letters, digits, '-', '_' or '.'",
            ));
        }
    }
    if annotations.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() > MAX_ANNOTATIONS_BYTES {
        errors.push(Error::too_long(path.clone(), MAX_ANNOTATIONS_BYTES));
    }
}

/// An environment variable's name: printable ASCII without `=`.
pub(super) fn is_env_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| (' '..='~').contains(&c) && c != '=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualified_names() {
        for good in ["a", "app.kubernetes.io/name", "A_b.c-1", "x/y", "nvidia.com/dynamo-component"] {
            assert!(is_qualified_name(good), "{good}");
        }
        let long = "a".repeat(64);
        for bad in ["", "/a", "a/", "a/b/c", "-a", "a-", "UPPER.io/a", long.as_str(), "a b", "ä"] {
            assert!(!is_qualified_name(bad), "{bad}");
        }
    }

    #[test]
    fn environment_names() {
        for good in ["A", "a.b-c", "_x", "9", "with space"] {
            assert!(is_env_name(good), "{good}");
        }
        for bad in ["", "a=b", "ä", "a\nb"] {
            assert!(!is_env_name(bad), "{bad:?}");
        }
    }
}
