//! The answer: yes, with a patch and warnings; or no, with the reasons.

use std::collections::BTreeSet;

use grove_api::field::{Error, ErrorKind};
use http::StatusCode;
use json_patch::Patch;
use k8s_openapi::ByteString;
use serde_json::{Value, json};

use super::review::{API_VERSION, KIND};

/// Bytes of an answer. The defaults of the largest set have a fifth of it.
const LONGEST_BODY: usize = 512 << 10;
/// Warnings in an answer that would be longer; an API server passes on 4 KiB of them.
const MOST_WARNINGS: usize = 64;
/// Bytes of a text in an answer that would be longer.
const LONGEST_TEXT: usize = 4 << 10;

/// What is decided about a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// What is refused, and with which code; allowed where it is absent.
    pub denial: Option<Denial>,
    /// What the user should read although the request is allowed.
    pub warnings: Vec<String>,
    /// Changes of the object.
    pub patch: Option<Patch>,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// HTTP status that the user's request is answered with.
    pub code: u16,
    /// The reason in words.
    pub message: String,
    /// Field by field, where it is about fields.
    pub errors: Vec<Error>,
}

impl Verdict {
    /// The request may go on as it is.
    pub fn allowed() -> Self {
        Self::default()
    }

    /// The request may go on; the user should read this.
    pub(super) fn allowed_with(warning: impl Into<String>) -> Self {
        Self { warnings: vec![warning.into()], ..Self::default() }
    }

    /// The request is refused.
    pub(super) fn denied(code: StatusCode, message: impl Into<String>) -> Self {
        let denial = Denial { code: code.as_u16(), message: message.into(), errors: Vec::new() };
        Self { denial: Some(denial), ..Self::default() }
    }

    /// The object is refused for these, or allowed where there are none.
    pub(super) fn of(errors: Vec<Error>) -> Self {
        if errors.is_empty() {
            return Self::allowed();
        }
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        // As Kubernetes joins several findings.
        let message = if texts.len() == 1 { texts.concat() } else { format!("[{}]", texts.join(", ")) };
        let denial = Denial { code: StatusCode::FORBIDDEN.as_u16(), message, errors };
        Self { denial: Some(denial), ..Self::default() }
    }

    /// Kinds of what it is refused for, each once; none where it is allowed.
    pub(super) fn rules(&self) -> Vec<&'static str> {
        let Some(denial) = &self.denial else { return Vec::new() };
        if denial.errors.is_empty() {
            return vec![denial.reason()];
        }
        let kinds: BTreeSet<&'static str> = denial.errors.iter().map(|it| rule(it.kind)).collect();
        kinds.into_iter().collect()
    }

    /// The AdmissionReview that is sent back, as text. It is kept until the client has read it, and a client may be slow: what is
    /// too long is cut.
    pub(super) fn to_body(&self, uid: &str) -> Vec<u8> {
        let body = serde_json::to_vec(&self.to_review(uid)).unwrap_or_default();
        if body.len() <= LONGEST_BODY {
            return body;
        }
        let denial = match &self.denial {
            Some(denial) => Denial { code: denial.code, message: cut(&denial.message), errors: Vec::new() },
            None if self.patch.is_none() => {
                let warnings = self.warnings.iter().take(MOST_WARNINGS).map(|it| cut(it)).collect();
                let verdict = Self { warnings, ..Self::default() };
                return serde_json::to_vec(&verdict.to_review(uid)).unwrap_or_default();
            }
            // Without the patch the object would be stored without its defaults.
            None => Denial {
                code: StatusCode::PAYLOAD_TOO_LARGE.as_u16(),
                message: format!("the defaults of the object have more than {LONGEST_BODY} bytes"),
                errors: Vec::new(),
            },
        };
        let verdict = Self { denial: Some(denial), ..Self::default() };
        serde_json::to_vec(&verdict.to_review(uid)).unwrap_or_default()
    }

    /// The AdmissionReview that is sent back.
    pub(super) fn to_review(&self, uid: &str) -> Value {
        let mut response = json!({ "uid": uid, "allowed": self.denial.is_none() });
        if let Some(denial) = &self.denial {
            response["status"] = denial.to_status();
        }
        if !self.warnings.is_empty() {
            response["warnings"] = json!(self.warnings);
        }
        if let Some(patch) = self.patch.as_ref().filter(|it| !it.0.is_empty() && self.denial.is_none()) {
            response["patchType"] = "JSONPatch".into();
            response["patch"] = json!(ByteString(serde_json::to_vec(patch).unwrap_or_default()));
        }
        json!({ "apiVersion": API_VERSION, "kind": KIND, "response": response })
    }
}

impl Denial {
    /// Kubernetes' word for the code.
    fn reason(&self) -> &'static str {
        match self.code {
            400 => "BadRequest",
            403 => "Forbidden",
            413 => "RequestEntityTooLarge",
            503 => "ServiceUnavailable",
            504 => "Timeout",
            _ => "InternalError",
        }
    }

    fn to_status(&self) -> Value {
        let mut status = json!({
            "status": "Failure",
            "code": self.code,
            "reason": self.reason(),
            "message": self.message,
        });
        if !self.errors.is_empty() {
            let causes: Vec<Value> = self.errors.iter().map(cause).collect();
            status["details"] = json!({ "causes": causes });
        }
        status
    }
}

fn cut(text: &str) -> String {
    if text.len() <= LONGEST_TEXT {
        return text.to_owned();
    }
    format!("{} ... (cut)", &text[..text.floor_char_boundary(LONGEST_TEXT)])
}

/// A finding as machines read it.
fn cause(error: &Error) -> Value {
    json!({ "reason": rule(error.kind), "field": error.path.to_string(), "message": error.message() })
}

/// Kubernetes' word for the kind of a finding.
fn rule(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Required => "FieldValueRequired",
        ErrorKind::Invalid | ErrorKind::Unknown => "FieldValueInvalid",
        ErrorKind::NotSupported => "FieldValueNotSupported",
        ErrorKind::Duplicate => "FieldValueDuplicate",
        ErrorKind::Forbidden => "FieldValueForbidden",
        ErrorKind::NotFound => "FieldValueNotFound",
        ErrorKind::TooLong => "FieldValueTooLong",
        ErrorKind::TooMany => "FieldValueTooMany",
        ErrorKind::TypeInvalid => "FieldValueTypeInvalid",
    }
}
