//! What a check reports. Every finding is one line, so that it can be read, counted and grepped.

use std::fmt;

/// One violation: where it is, what is wrong there, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// A path in the repository or the name of a crate.
    subject: String,
    /// What is wrong, then what to do.
    problem: String,
}

impl Finding {
    pub(crate) fn new(subject: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { subject: subject.into(), problem: problem.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.problem)
    }
}
