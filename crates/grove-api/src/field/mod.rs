//! Field paths and field errors in the words of Kubernetes.
//!
//! Admission, the command line and the operator configuration report through these types,
//! so that a user reads one style of message everywhere.

mod error;
mod path;
mod warning;

pub use error::{Error, ErrorKind, Errors};
pub use path::{Path, Segment};
pub use warning::Warning;

/// The known name that `name` was most likely meant to be.
pub fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The comparison takes memory for both lengths multiplied, and nobody mistypes a name of this length.
    const MAX_COMPARED: usize = 64;
    if name.len() > MAX_COMPARED {
        return None;
    }
    let distance = |it: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &it.to_lowercase());
    let (best, distance) = known.map(|it| (it, distance(it))).min_by_key(|(_, distance)| *distance)?;
    (distance <= 3 && distance * 2 < name.len().max(3)).then_some(best)
}
