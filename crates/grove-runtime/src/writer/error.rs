//! What a failed write means: who must act, and whether repeating it can help.

use std::error::Error as _;

use kube::core::Status;

use crate::workers::Failure;

/// A write that failed, with what was to be written where.
#[derive(Debug, thiserror::Error)]
#[error("{verb} {kind} {name}: {}", self.message())]
pub struct WriteError {
    /// What was to be done: `create`, `patch`, `delete` and so on.
    pub verb: &'static str,
    /// Kind of the object.
    pub kind: String,
    /// `namespace/name`, or the name alone in cluster scope.
    pub name: String,
    /// What the client says.
    pub source: Box<kube::Error>,
}

impl WriteError {
    /// The object was changed by somebody else since it was read.
    pub fn is_conflict(&self) -> bool {
        self.answer().is_some_and(|s| {
            !is_denial(s) && (s.reason == "Conflict" || (s.code == 409 && s.reason != "AlreadyExists"))
        })
    }

    /// The object, or its namespace, does not exist.
    pub fn is_not_found(&self) -> bool {
        self.answer().is_some_and(|s| !is_denial(s) && (s.reason == "NotFound" || s.code == 404))
    }

    /// There is an object of that name.
    pub fn is_already_exists(&self) -> bool {
        self.answer().is_some_and(|s| !is_denial(s) && s.reason == "AlreadyExists")
    }

    /// The server understood and said no to this object: repeating the same write cannot help.
    ///
    /// That is an invalid object, an exceeded quota, a missing permission, a webhook's denial, a namespace that is
    /// being deleted. It is not a conflict, an expired login, an overloaded server or one that cannot be reached.
    ///
    /// A request that was never sent, because the name is not one of an object, is a refusal too.
    pub fn is_refusal(&self) -> bool {
        let is_unsent =
            matches!(&*self.source, kube::Error::BuildRequest(kube::core::request::Error::Validation(_)));
        is_unsent
            || self.answer().is_some_and(|s| match s.code {
                _ if is_denial(s) => true,
                401 | 404 | 408 | 409 | 410 | 425 | 429 => false,
                code => (400..500).contains(&code),
            })
    }

    /// The namespace is being deleted and takes no new objects.
    pub fn is_namespace_terminating(&self) -> bool {
        self.answer().is_some_and(|s| {
            let mut causes = s.details.iter().flat_map(|details| &details.causes);
            causes.any(|cause| cause.reason == "NamespaceTerminating")
                || (s.code == 403 && s.message.contains("because it is being terminated"))
        })
    }

    /// A ResourceQuota of the namespace is exhausted: the same write may succeed when others use less of it.
    pub fn is_quota_exceeded(&self) -> bool {
        self.answer().is_some_and(|s| !is_denial(s) && s.code == 403 && s.message.contains("exceeded quota"))
    }

    /// The write may have been done: there was no answer, or one that does not say.
    pub fn is_outcome_unknown(&self) -> bool {
        self.answer().is_none_or(|s| !is_denial(s) && s.code >= 500)
    }

    /// The server's words, or the whole chain of causes when it did not answer.
    pub fn message(&self) -> String {
        match self.answer() {
            Some(status) if !status.message.is_empty() => status.message.clone(),
            Some(status) if !status.reason.is_empty() => status.reason.clone(),
            Some(status) => format!("HTTP status {}", status.code),
            None => chain(&self.source),
        }
    }

    /// The server's answer, if it was one.
    pub fn answer(&self) -> Option<&Status> {
        match &*self.source {
            kube::Error::Api(status) => Some(status),
            _ => None,
        }
    }

    /// The delete was for another object of the same name.
    pub(super) fn is_other_uid(&self) -> bool {
        let message = self.message().to_lowercase();
        let is_about_uid =
            ["uid in the precondition", "uid in precondition"].iter().any(|it| message.contains(it));
        self.is_conflict() && is_about_uid
    }
}

impl Failure for WriteError {
    fn reason(&self) -> &'static str {
        let Some(status) = self.answer() else { return "Transport" };
        match status.code {
            _ if is_denial(status) => "Denied",
            _ if self.is_already_exists() => "AlreadyExists",
            _ if self.is_conflict() => "Conflict",
            _ if self.is_not_found() => "NotFound",
            401 => "Unauthorized",
            403 => "Forbidden",
            422 => "Invalid",
            429 => "TooManyRequests",
            400..=499 => "Refused",
            _ => "ServerError",
        }
    }

    fn is_expected(&self) -> bool {
        self.is_conflict() || self.is_not_found() || self.is_already_exists()
    }
}

/// A webhook may deny with any code; only the API server's wording is fixed.
fn is_denial(status: &Status) -> bool {
    status.message.contains("admission webhook") && status.message.contains("denied the request")
}

/// All causes in one line. hyper and its kin say little at the top ("client error") and the rest below.
fn chain(error: &kube::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !words.contains(&next) {
            words = format!("{words}: {next}");
        }
        cause = error.source();
    }
    words
}
