//! What a path leads to in an object.

use std::fmt;

use serde_json::Value;

use super::{JsonPath, To};
use crate::limits::MAX_JSON_PATH_RESULTS;

/// Why a path leads nowhere in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// A step does not fit what is there: a key of a list, say.
    Mismatch {
        /// The path up to there; empty for the object itself.
        at: String,
        /// What is there.
        is: &'static str,
        /// What the next step needs.
        wanted: &'static str,
    },
    /// It finds more than anybody needs.
    TooMany,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch { at, is, wanted } => {
                let at = if at.is_empty() { "what it begins with" } else { at };
                write!(f, "{at} is {is}, and the next step needs {wanted}")
            }
            Self::TooMany => write!(f, "it finds more than {MAX_JSON_PATH_RESULTS} values"),
        }
    }
}

impl JsonPath {
    /// All that the path leads to from `here`, a part of `root`; nothing where a field is absent or null.
    pub fn find<'a>(&self, here: &'a Value, root: &'a Value) -> Result<Vec<&'a Value>, NotFound> {
        let mut found = vec![if self.from_root { root } else { here }];
        let mut begin = 0;
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found.into_iter().filter(|it| !it.is_null()) {
                match (&step.to, value) {
                    (To::Key(key), Value::Object(fields)) => next.extend(fields.get(key)),
                    (To::Index(index), Value::Array(items)) => next.extend(items.get(*index)),
                    (To::All, Value::Array(items)) => next.extend(items),
                    (To::All, Value::Object(fields)) => next.extend(fields.values()),
                    (to, other) => return Err(self.mismatch(begin, to, other)),
                }
                if next.len() > MAX_JSON_PATH_RESULTS {
                    return Err(NotFound::TooMany);
                }
            }
            found = next;
            begin = step.end;
        }
        found.retain(|it| !it.is_null());
        Ok(found)
    }

    fn mismatch(&self, begin: usize, to: &To, value: &Value) -> NotFound {
        let is = match value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "a map",
        };
        let wanted = match to {
            To::Key(_) => "a map",
            To::Index(_) => "a list",
            To::All => "a list or a map",
        };
        NotFound::Mismatch { at: self.text.get(..begin).unwrap_or_default().to_owned(), is, wanted }
    }
}
