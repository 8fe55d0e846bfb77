//! Paths to fields of objects, in the part of JSONPath that the printer columns of CRDs and `kubectl -o jsonpath` share:
//! `.spec.groups[0].replicas`, `.metadata.labels['example.com/role']`, `.spec.groups[*].replicas`.
//!
//! A path begins where it is read, or with `$` at the object that this is a part of. It is bounded in its length, its steps
//! and in what it finds: both it and the object are somebody else's.

mod find;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

pub use find::NotFound;
pub use parse::Malformed;

/// A path that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    text: String,
    from_root: bool,
    steps: Vec<Step>,
}

/// One step, and where in the text it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    to: To,
    end: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum To {
    /// An entry of a map.
    Key(String),
    /// An item of a list, from 0.
    Index(usize),
    /// All entries of a map, or all items of a list.
    All,
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
