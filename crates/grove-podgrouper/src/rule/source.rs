//! Numbers and texts that a rule states, or says where they are.

use grove_api::json_path::JsonPath;
use serde_json::Value;

use super::scope::Scope;
use crate::{fields::shown, integers, plugin::Refused};

/// A path, and the field of the rule that it stands in.
#[derive(Debug)]
pub(super) struct At {
    pub(super) field: String,
    pub(super) path: JsonPath,
}

/// A number.
#[derive(Debug)]
pub(super) enum Count {
    Fixed(u32),
    /// Or what to take where the path finds nothing.
    At(At, Option<u32>),
}

/// A text.
#[derive(Debug)]
pub(super) enum Text {
    Fixed(String),
    At(At, Option<String>),
}

impl At {
    /// All that is there.
    pub(super) fn find<'a>(&self, scope: Scope<'a>) -> Result<Vec<&'a Value>, Refused> {
        let found = self.path.find(scope.here, scope.object);
        found.map_err(|error| self.refused(format_args!("in {scope} {error}: correct the path")))
    }

    /// The text that is there; a whole number counts as one.
    pub(super) fn text(&self, scope: Scope<'_>) -> Result<Option<String>, Refused> {
        let found = self.find(scope)?;
        let [value] = found.as_slice() else {
            return match found.len() {
                0 => Ok(None),
                many => Err(self.refused(format_args!("finds {many} values in {scope}: let it find one"))),
            };
        };
        match value {
            Value::String(text) => Ok(Some(text.clone()).filter(|it| !it.is_empty())),
            Value::Number(number) if number.is_i64() => Ok(Some(number.to_string())),
            other => Err(self
                .refused(format_args!("what it finds in {scope} is {}: let it find a text", shown(other)))),
        }
    }

    /// Something is wrong with what was found.
    pub(super) fn refused(&self, what: std::fmt::Arguments<'_>) -> Refused {
        Refused(format!("{} {}: {what}", self.field, self.path))
    }
}

impl Count {
    /// The number, of at least so much. Several are added up.
    pub(super) fn read(&self, scope: Scope<'_>, least: u32) -> Result<u32, Refused> {
        let (at, default) = match self {
            Self::Fixed(number) => return Ok(*number),
            Self::At(at, default) => (at, default),
        };
        let found = at.find(scope)?;
        if found.is_empty() {
            return default.ok_or_else(|| {
                let holder = at.field.trim_end_matches("path");
                at.refused(format_args!("finds nothing in {scope}: set it there, or set {holder}default"))
            });
        }
        let what = format!("{} {}: what it finds in {scope}", at.field, at.path);
        let number = |value: &Value| match value {
            // Labels and annotations are texts.
            Value::String(text) => integers::parse(text, format_args!("{what}"), least),
            other => integers::required(other, format_args!("{what}"), least),
        };
        found.into_iter().try_fold(0, |sum, value| {
            integers::add(
                sum,
                number(value)?,
                format_args!("{} {}: its numbers in {scope}", at.field, at.path),
            )
        })
    }
}

impl Text {
    /// The text; `None` where there is none.
    pub(super) fn read(&self, scope: Scope<'_>) -> Result<Option<String>, Refused> {
        match self {
            Self::Fixed(text) => Ok(Some(text.clone())),
            Self::At(at, default) => Ok(at.text(scope)?.or_else(|| default.clone())),
        }
    }
}
