//! Where a grouping rule reads numbers and texts.

use crate::{
    field::{Error, Errors, Path},
    json_path::JsonPath,
    messages,
    wire::{CountSource, TextSource},
};

/// The field `path` of what stands at `holder`.
pub(super) fn check_path(text: &str, holder: &Path, errors: &mut Errors) {
    check_path_at(text, holder.child("path"), errors);
}

pub(super) fn check_path_at(text: &str, path: Path, errors: &mut Errors) {
    if let Err(error) = JsonPath::parse(text) {
        errors.push(Error::invalid(path, text, error.to_string()));
    }
}

pub(super) fn check_count(source: &CountSource, path: &Path, errors: &mut Errors) {
    let CountSource { path: text, default, value } = source;
    either(text.as_deref(), default.is_some(), value.is_some(), path, errors);
    for (field, number) in [("default", default), ("value", value)] {
        if let Some(number) = number.filter(|it| *it < 0) {
            errors.push(Error::invalid(path.child(field), number, "must be greater than or equal to 0"));
        }
    }
}

pub(super) fn check_text(source: &TextSource, path: &Path, errors: &mut Errors) {
    let TextSource { path: text, default, value } = source;
    either(text.as_deref(), default.is_some(), value.is_some(), path, errors);
}

fn either(text: Option<&str>, has_default: bool, has_value: bool, path: &Path, errors: &mut Errors) {
    if text.is_some() == has_value {
        let is = if has_value { "path and value" } else { "" };
        errors.push(Error::invalid(path.clone(), is, messages::RULE_PATH_OR_VALUE));
    }
    if has_default && text.is_none() {
        errors.push(Error::forbidden(path.child("default"), messages::RULE_DEFAULT_ALONE));
    }
    if let Some(text) = text {
        check_path(text, path, errors);
    }
}
