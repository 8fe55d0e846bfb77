//! How the server says no: a `Status` with the code, the reason and the words of the real server.

use serde_json::{Map, Value, json};

use crate::resource::Resource;

/// A refusal, as it goes to the client in the form of a `Status`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The HTTP status.
    pub code: u16,
    /// The word that programs look at, such as `NotFound`.
    pub reason: String,
    /// The sentence that people look at.
    pub message: String,
    /// What it is about. Boxed, because failures travel through every result.
    pub details: Option<Box<Details>>,
}

/// What a [`Failure`] is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The name of the object.
    pub name: String,
    /// The group of the resource.
    pub group: String,
    /// The resource, or the kind where the object itself is wrong.
    pub kind: String,
    /// Each single thing that is wrong.
    pub causes: Vec<Cause>,
    /// When to try again.
    pub retry_after_seconds: Option<u32>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The word that programs look at, such as `FieldValueInvalid`.
    pub reason: String,
    /// The sentence that people look at.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

impl Cause {
    /// A field that must be there and is not.
    pub(crate) fn required(field: &str, detail: &str) -> Self {
        Self::new("FieldValueRequired", field, "Required value", detail)
    }

    /// A field with a value that cannot be. `value` comes as it is to be shown.
    pub(crate) fn invalid(field: &str, value: &str, detail: &str) -> Self {
        Self::new("FieldValueInvalid", field, &format!("Invalid value: {value}"), detail)
    }

    /// A field that may not be there.
    pub(crate) fn forbidden(field: &str, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, "Forbidden", detail)
    }

    /// A field with a value that is not one of those that may be.
    pub(crate) fn not_supported(field: &str, value: &str, supported: &[&str]) -> Self {
        Self::not_supported_shown(field, &format!("{value:?}"), supported)
    }

    /// Likewise; `value` comes as it is to be shown.
    pub(crate) fn not_supported_shown(field: &str, value: &str, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|it| format!("{it:?}")).collect();
        let head = format!("Unsupported value: {value}");
        Self::new(
            "FieldValueNotSupported",
            field,
            &head,
            &format!("supported values: {}", supported.join(", ")),
        )
    }

    /// A field with a value that is there already.
    pub(crate) fn duplicate(field: &str, value: &str) -> Self {
        Self::new("FieldValueDuplicate", field, &format!("Duplicate value: {value:?}"), "")
    }

    /// A field with more in it than there may be.
    pub(crate) fn too_long(field: &str, most: usize) -> Self {
        Self::new("FieldValueTooLong", field, "Too long", &format!("may not be more than {most} bytes"))
    }

    /// The same, of a value that is itself somewhere.
    pub(crate) fn below(self, path: &str) -> Self {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        Self { field: format!("{path}{dot}{}", self.field), ..self }
    }

    pub(crate) fn new(reason: &str, field: &str, head: &str, detail: &str) -> Self {
        let message = if detail.is_empty() { head.to_owned() } else { format!("{head}: {detail}") };
        Self { reason: reason.to_owned(), message, field: field.to_owned() }
    }
}

impl Failure {
    /// A failure without details.
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self { code, reason: reason.to_owned(), message: message.into(), details: None }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// The server does not do such things.
    pub(crate) fn not_implemented(message: impl Into<String>) -> Self {
        Self::new(501, "NotImplemented", message)
    }

    /// There is no such resource, as opposed to no such object.
    pub(crate) fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource").with_no_details()
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).with_no_details()
    }

    pub(crate) fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json";
        Self::new(406, "NotAcceptable", message).with_no_details()
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {limit}"))
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {name:?} not found", resource.id());
        Self::new(404, "NotFound", message).about(resource, name)
    }

    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", resource.id());
        Self::new(409, "AlreadyExists", message).about(resource, name)
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", resource.id());
        Self::new(409, "Conflict", message).about(resource, name)
    }

    /// A precondition of a deletion is not met. Here the real server says the kind for the plural.
    pub(crate) fn precondition(resource: &Resource, name: &str, why: &str) -> Self {
        let Resource { group, kind, .. } = resource;
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("Operation cannot be fulfilled on {kind}{dot}{group} {name:?}: {why}");
        let details =
            Details { name: name.to_owned(), group: group.clone(), kind: kind.clone(), ..Details::default() };
        Self::new(409, "Conflict", message).with_details(details)
    }

    /// Somebody else wrote first.
    pub(crate) fn modified(resource: &Resource, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// The object of that name is not the one that the client means.
    pub(crate) fn other_uid(resource: &Resource, name: &str, wanted: &str, found: &str) -> Self {
        let why = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}");
        Self::conflict(resource, name, &why)
    }

    /// An apply wants what others have otherwise.
    pub(crate) fn apply_conflict(message: String, causes: Vec<Cause>) -> Self {
        Self::new(409, "Conflict", message).with_details(Details { causes, ..Details::default() })
    }

    /// The object itself is wrong: details name its kind, not its resource.
    pub(crate) fn invalid(resource: &Resource, name: &str, causes: Vec<Cause>) -> Self {
        Self::invalid_kind(&resource.kind, &resource.group, name, causes)
    }

    /// What a patch makes cannot be read.
    pub(crate) fn invalid_patch(cause: Cause) -> Self {
        Self::invalid_kind("", "", "", vec![cause])
    }

    /// The options of a request are wrong.
    pub(crate) fn invalid_options(kind: &str, cause: Cause) -> Self {
        Self::invalid_kind(kind, "meta.k8s.io", "", vec![cause])
    }

    /// An object of a kind that is never stored is wrong.
    pub(crate) fn invalid_kind(kind: &str, group: &str, name: &str, causes: Vec<Cause>) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for line in causes.iter().map(|it| format!("{}: {}", it.field, it.message)) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let why = match lines.len() {
            1 => lines.remove(0),
            _ => format!("[{}]", lines.join(", ")),
        };
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("{kind}{dot}{group} {name:?} is invalid: {why}");
        let (name, group, kind) = (name.to_owned(), group.to_owned(), kind.to_owned());
        let details = Details { name, group, kind, causes, retry_after_seconds: None };
        Self::new(422, "Invalid", message).with_details(details)
    }

    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("{} {name:?} is forbidden: {why}", resource.id());
        Self::new(403, "Forbidden", message).about(resource, name)
    }

    /// Not now.
    pub(crate) fn too_many_requests(message: &str, cause: Cause) -> Self {
        let details = Details { causes: vec![cause], ..Details::default() };
        Self::new(429, "TooManyRequests", message).with_details(details)
    }

    /// The bodies of requests that are not answered yet take all of the memory that there is for them.
    pub(crate) fn too_many_bodies() -> Self {
        let message = "too many large requests at once, please try again later";
        let details = Details { retry_after_seconds: Some(1), ..Details::default() };
        Self::new(429, "TooManyRequests", message).with_details(details)
    }

    /// The namespace ends, so nothing new may come into it.
    pub(crate) fn namespace_terminating(resource: &Resource, name: &str, namespace: &str) -> Self {
        let why =
            format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut failure = Self::forbidden(resource, name, &why);
        if let Some(details) = &mut failure.details {
            details.causes.push(Cause {
                reason: "NamespaceTerminating".to_owned(),
                message: format!("namespace {namespace} is being terminated"),
                field: "metadata.namespace".to_owned(),
            });
        }
        failure
    }

    /// The definition of a resource changed again and again while an object of it was written.
    pub(crate) fn definition_changes() -> Self {
        Self::new(503, "ServiceUnavailable", "the definition of the resource is changing, please try again")
    }

    /// A list or a watch asks for a revision that is no longer remembered.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// Likewise, where the revision is in the query.
    pub(crate) fn expired_list() -> Self {
        Self::expired("The resourceVersion for the provided list is too old.")
    }

    /// A read asks for a revision that is yet to come, and it did not come in time.
    pub(crate) fn too_large_revision(wanted: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
        let cause = Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            field: String::new(),
        };
        let details = Details { causes: vec![cause], retry_after_seconds: Some(1), ..Details::default() };
        Self::new(504, "Timeout", message).with_details(details)
    }

    /// The `Status` object.
    pub fn to_json(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.as_str().into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.to_json();
        }
        status["code"] = self.code.into();
        status
    }

    fn about(self, resource: &Resource, name: &str) -> Self {
        let (group, kind) = (resource.group.clone(), resource.plural.clone());
        self.with_details(Details { name: name.to_owned(), group, kind, ..Details::default() })
    }

    /// With details that say nothing, as the real server has them in answers that do not come from its API.
    pub(crate) fn with_no_details(self) -> Self {
        self.with_details(Details::default())
    }

    fn with_details(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }
}

impl Details {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        for (key, text) in [("name", &self.name), ("group", &self.group), ("kind", &self.kind)] {
            if !text.is_empty() {
                out.insert(key.to_owned(), text.as_str().into());
            }
        }
        if !self.causes.is_empty() {
            out.insert("causes".to_owned(), self.causes.iter().map(Cause::to_json).collect());
        }
        if let Some(seconds) = self.retry_after_seconds {
            out.insert("retryAfterSeconds".to_owned(), seconds.into());
        }
        Value::Object(out)
    }
}

impl Cause {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        for (key, text) in [("reason", &self.reason), ("message", &self.message), ("field", &self.field)] {
            if !text.is_empty() {
                out.insert(key.to_owned(), text.as_str().into());
            }
        }
        Value::Object(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_twice_is_said_once_and_told_twice() {
        let cause = || Cause::required("spec.a", "");
        let failure = Failure::invalid_kind("Widget", "grove.io", "w", vec![cause(), cause()]);
        assert_eq!(failure.message, "Widget.grove.io \"w\" is invalid: spec.a: Required value");
        assert_eq!(failure.details.unwrap().causes.len(), 2);
    }

    #[test]
    fn a_precondition_is_about_a_kind() {
        let widget = Resource::custom("grove.io", "v1", "Widget", "widgets");
        let failure = Failure::precondition(&widget, "w", "no");
        assert_eq!(failure.message, "Operation cannot be fulfilled on Widget.grove.io \"w\": no");
        assert_eq!(failure.details.unwrap().kind, "Widget");
    }
}
