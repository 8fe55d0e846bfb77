//! The object, or the part of one, that a rule reads.

use std::fmt;

use serde_json::Value;

use crate::{metadata, workload::Kind};

/// Where paths begin.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// Where `.a` begins.
    pub(super) here: &'a Value,
    /// Where `$.a` begins, and what is shown to people.
    pub(super) object: &'a Value,
    /// Which item it is, of those that the rule goes through.
    item: Option<usize>,
}

impl<'a> Scope<'a> {
    /// A whole object.
    pub(super) fn of(object: &'a Value) -> Self {
        Self { here: object, object, item: None }
    }

    /// An item of it.
    pub(super) fn item(self, index: usize, here: &'a Value) -> Self {
        Self { here, item: Some(index), ..self }
    }
}

impl fmt::Display for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.item {
            write!(f, "item {index} of ")?;
        }
        write!(f, "{} {}", Kind::of(self.object).kind, metadata::name(self.object))
    }
}
