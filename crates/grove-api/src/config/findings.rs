//! What loading has found so far, and in which order it is reported.

use super::keys;
use crate::field::{Error, Errors, Path, Warning};

/// Errors and warnings, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) errors: Errors,
    pub(super) warnings: Vec<Warning>,
}

impl Findings {
    /// Adds an error, unless its field or one above it is known to be wrong: the value seen there is not the
    /// user's, and what follows from it would only confuse.
    pub(super) fn add(&mut self, error: Error) {
        if !self.is_wrong(&error.path) {
            self.errors.push(error);
        }
    }

    /// Whether an error was found at `path` or above it.
    pub(super) fn is_wrong(&self, path: &Path) -> bool {
        self.errors.iter().any(|error| path.segments().starts_with(error.path.segments()))
    }

    /// The warnings, or every error, in the order of the fields.
    pub(super) fn into_result(mut self) -> Result<Vec<Warning>, Errors> {
        // The sorts are stable: findings inside a scheduler's own configuration keep the backend's order.
        self.errors.sort_by_cached_key(|error| keys::position(&error.path));
        self.warnings.sort_by_cached_key(|warning| keys::position(&warning.path));
        if self.errors.is_empty() { Ok(self.warnings) } else { Err(self.errors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_field_hides_what_is_below_it() {
        let mut findings = Findings::default();
        for path in ["server", "server.webhooks.port", "server", "scheduler", "serverless"] {
            findings.add(Error::required(Path::parse(path), ""));
        }
        let paths: Vec<_> = findings.errors.iter().map(|error| error.path.to_string()).collect();
        assert_eq!(paths, ["server", "scheduler", "serverless"]);
    }

    #[test]
    fn errors_come_in_field_order() {
        let mut findings = Findings::default();
        let mixed =
            ["scheduler.profiles[10].name", "typo", "scheduler.profiles[9].config.x", "logLevel", "kind"];
        for path in mixed {
            findings.add(Error::required(Path::parse(path), ""));
        }
        let paths: Vec<_> =
            findings.into_result().unwrap_err().iter().map(|it| it.path.to_string()).collect();
        let ordered =
            ["kind", "logLevel", "scheduler.profiles[9].config.x", "scheduler.profiles[10].name", "typo"];
        assert_eq!(paths, ordered);
    }
}
