//! Something a user should know about an object that is taken.

use std::fmt;

use super::Path;

/// Something a user should know about an object that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub path: Path,
    /// What happens, and what to do about it.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.text)
    }
}
