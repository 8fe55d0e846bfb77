//! What is wrong with a field, in the form `path: Invalid value: 5: reason`.

use std::fmt;

use serde::Serialize;

use super::Path;

/// The kind of a finding. The names are those of Kubernetes' `field.ErrorType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum ErrorKind {
    /// A value is needed and there is none.
    Required,
    /// The value breaks a rule.
    Invalid,
    /// The value is not one of a fixed set.
    NotSupported,
    /// The value is there twice.
    Duplicate,
    /// The field may not be set or changed here.
    Forbidden,
    /// The value names something that does not exist.
    NotFound,
    /// A string is longer than allowed.
    TooLong,
    /// A list or map has more entries than allowed.
    TooMany,
    /// The value has the wrong JSON type.
    TypeInvalid,
    /// No such field.
    Unknown,
}

/// One finding at one field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Error {
    /// Where.
    pub path: Path,
    /// What kind of finding.
    pub kind: ErrorKind,
    /// The offending value as JSON text, where showing it helps.
    pub value: Option<String>,
    /// What is wrong and what to do about it.
    pub detail: String,
}

impl Error {
    /// A needed value is missing.
    pub fn required(path: Path, detail: impl Into<String>) -> Self {
        Self { path, kind: ErrorKind::Required, value: None, detail: detail.into() }
    }

    /// `value` breaks a rule.
    pub fn invalid(path: Path, value: impl Serialize, detail: impl Into<String>) -> Self {
        Self { path, kind: ErrorKind::Invalid, value: Some(shown(value)), detail: detail.into() }
    }

    /// `value` is not one of `supported`.
    pub fn not_supported(path: Path, value: impl Serialize, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|it| format!("{it:?}")).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        Self { path, kind: ErrorKind::NotSupported, value: Some(shown(value)), detail }
    }

    /// `value` occurs a second time.
    pub fn duplicate(path: Path, value: impl Serialize) -> Self {
        Self { path, kind: ErrorKind::Duplicate, value: Some(shown(value)), detail: String::new() }
    }

    /// The field may not be set, or not be changed.
    pub fn forbidden(path: Path, detail: impl Into<String>) -> Self {
        Self { path, kind: ErrorKind::Forbidden, value: None, detail: detail.into() }
    }

    /// `value` names something that does not exist.
    pub fn not_found(path: Path, value: impl Serialize, detail: impl Into<String>) -> Self {
        Self { path, kind: ErrorKind::NotFound, value: Some(shown(value)), detail: detail.into() }
    }

    /// A string of more than `max` bytes.
    pub fn too_long(path: Path, max: usize) -> Self {
        Self {
            path,
            kind: ErrorKind::TooLong,
            value: None,
            detail: format!("may not be more than {max} bytes"),
        }
    }

    /// A list of `count` items where `max` are allowed.
    pub fn too_many(path: Path, count: usize, max: usize) -> Self {
        let detail = format!("must have at most {max} items");
        Self { path, kind: ErrorKind::TooMany, value: Some(count.to_string()), detail }
    }

    /// A value of the wrong JSON type.
    pub fn type_invalid(path: Path, value: impl Serialize, detail: impl Into<String>) -> Self {
        Self { path, kind: ErrorKind::TypeInvalid, value: Some(shown(value)), detail: detail.into() }
    }

    /// A field that does not exist; `hint` is the closest one that does.
    pub fn unknown(path: Path, hint: Option<&str>) -> Self {
        let detail = hint.map_or_else(|| "remove it".to_owned(), |near| format!("did you mean {near:?}?"));
        Self { path, kind: ErrorKind::Unknown, value: None, detail }
    }

    /// The text behind the path: kind, value and reason.
    pub fn message(&self) -> String {
        let lead = match self.kind {
            ErrorKind::Required => "Required value",
            ErrorKind::Invalid | ErrorKind::TypeInvalid => "Invalid value",
            ErrorKind::NotSupported => "Unsupported value",
            ErrorKind::Duplicate => "Duplicate value",
            ErrorKind::Forbidden => "Forbidden",
            ErrorKind::NotFound => "Not found",
            ErrorKind::TooLong => "Too long",
            ErrorKind::TooMany => "Too many",
            ErrorKind::Unknown => "Unknown field",
        };
        let parts = [Some(lead.to_owned()), self.value.clone(), Some(self.detail.clone())];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.segments().is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message())
    }
}

/// Findings in the order in which the fields were checked.
pub type Errors = Vec<Error>;

/// Longest piece of an offending value that a message repeats.
const MAX_SHOWN: usize = 120;

/// `value` as JSON, cut short: a message must not repeat a whole pod template.
fn shown(value: impl Serialize) -> String {
    let text = serde_json::to_string(&value).unwrap_or_else(|_| "?".to_owned());
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_like_the_api_server() {
        let path = || Path::parse("spec.x");
        let cases = [
            (Error::required(path(), "at least one"), "spec.x: Required value: at least one"),
            (Error::invalid(path(), 5, "too big"), "spec.x: Invalid value: 5: too big"),
            (
                Error::not_supported(path(), "a", &["b", "c"]),
                r#"spec.x: Unsupported value: "a": supported values: "b", "c""#,
            ),
            (Error::duplicate(path(), "a"), r#"spec.x: Duplicate value: "a""#),
            (Error::forbidden(path(), "no"), "spec.x: Forbidden: no"),
            (Error::not_found(path(), "a", ""), r#"spec.x: Not found: "a""#),
            (Error::too_long(path(), 3), "spec.x: Too long: may not be more than 3 bytes"),
            (Error::too_many(path(), 4, 3), "spec.x: Too many: 4: must have at most 3 items"),
            (Error::unknown(path(), Some("y")), r#"spec.x: Unknown field: did you mean "y"?"#),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn long_values_are_cut() {
        let error = Error::invalid(Path::root(), "ä".repeat(500), "too long");
        assert!(error.message().len() < 300, "{}", error.message());
        assert!(error.message().contains('…'));
    }
}
