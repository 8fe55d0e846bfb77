//! Reads YAML and JSON manifests the way Kubernetes does, and remembers where everything stood.
//!
//! The traps are settled here once: `0644` is octal, duplicate keys are errors, anchors and merge keys work, and
//! size, nesting and alias expansion are bounded.

mod document;
mod node;
mod nulls;
mod parse;

pub use document::Document;
pub use nulls::without_nulls;
pub use parse::{ParseError, parse};
