//! Structural schemas: what a CustomResourceDefinition says about the fields of its objects.
//!
//! ```text
//! JSON ─ compile ─► Schema ─┬─ prune      removes fields that it does not have
//!                           ├─ defaults   fills in fields that are left out
//!                           ├─ validate   types, bounds, patterns; all causes at once
//!                           └─ rules      `x-kubernetes-validations`, see crate::cel
//! ```
//!
//! A schema is compiled once per version of a definition. Where it is walked, `correlate` pairs the values of an update
//! with the old ones, so that what was wrong before and has not changed is tolerated.

mod causes;
mod compile;
mod correlate;
mod defaults;
mod duration;
mod formats;
mod path;
mod prune;
mod rules;
#[cfg(test)]
mod tests;
mod validate;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use compile::compile;
pub(crate) use duration::is_duration;
pub(crate) use path::Path;
pub(crate) use prune::{prune, unknown_fields};

use crate::cel::Budget;
use crate::failure::Cause;
use crate::pattern::Pattern;
use rules::Rule;

/// As many things as one refusal names.
const MOST_CAUSES: usize = 100;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

/// What tells the items of a list apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

/// What there may be besides the properties.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    /// Nothing is said.
    #[default]
    Unsaid,
    /// Anything.
    Any,
    /// Values of this schema.
    Schema(Box<Schema>),
}

/// What is known of a value.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    /// None where a value may be of several types.
    pub(crate) kind: Option<Kind>,
    pub(crate) nullable: bool,
    pub(crate) int_or_string: bool,
    /// Whether fields that it does not know stay.
    pub(crate) preserves_unknown: bool,
    /// Whether the value is a whole object, with kind and metadata: the root, or one that is embedded.
    pub(crate) is_resource: bool,
    pub(crate) properties: BTreeMap<String, Schema>,
    pub(crate) additional: Additional,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) default: Option<Value>,
    pub(crate) list_type: ListType,
    /// Whether a map is one value, whose parts cannot be followed from old to new.
    pub(crate) is_atomic_map: bool,
    pub(crate) format: String,
    checks: Option<Box<Checks>>,
    rules: Vec<Rule>,
    /// Whether there are rules here or further inside.
    has_rules: bool,
}

/// What values must fulfil besides their type.
#[derive(Debug, Default)]
struct Checks {
    required: Vec<String>,
    choices: Option<Vec<Value>>,
    minimum: Option<(f64, bool)>,
    maximum: Option<(f64, bool)>,
    multiple_of: Option<f64>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    pattern: Option<Pattern>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    min_properties: Option<u64>,
    max_properties: Option<u64>,
    all_of: Vec<Schema>,
    any_of: Vec<Schema>,
    one_of: Vec<Schema>,
    not: Option<Schema>,
}

/// Said where rules are left out.
const NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/// Whether rules may not rely on the object any more.
fn is_blocking(cause: &Cause) -> bool {
    matches!(
        cause.reason.as_str(),
        "FieldValueNotSupported"
            | "FieldValueRequired"
            | "FieldValueTooLong"
            | "FieldValueTooMany"
            | "FieldValueTypeInvalid"
    )
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

impl Schema {
    /// The schema of a property, or of an entry of a map.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or_else(|| self.additional_schema())
    }

    pub(crate) fn additional_schema(&self) -> Option<&Self> {
        if let Additional::Schema(schema) = &self.additional { Some(schema) } else { None }
    }

    /// Whether its values are messages, whose fields have names, rather than maps.
    pub(crate) fn is_message(&self) -> bool {
        !self.properties.is_empty()
    }

    fn type_name(&self) -> &'static str {
        self.kind.map(Kind::name).unwrap_or_default()
    }

    /// Notes, from the inside out, where rules are, so that walks in search of them are short.
    fn note_rules(&mut self) {
        let children = self.properties.values_mut().chain(self.items.as_deref_mut());
        let children = children.chain(match &mut self.additional {
            Additional::Schema(schema) => Some(&mut **schema),
            _ => None,
        });
        let mut inside = false;
        for child in children {
            child.note_rules();
            inside |= child.has_rules;
        }
        self.has_rules = inside || !self.rules.is_empty();
    }

    /// Prunes an object of a client or of the store, and fills in its defaults.
    pub(crate) fn normalise(&self, object: &mut Value) {
        prune(self, object);
        defaults::fill(self, object);
    }

    /// What is wrong with an object; in an update, what has become wrong. What else is known to be wrong comes before the rules.
    pub(crate) fn check(&self, object: &Value, old: Option<&Value>, known: Vec<Cause>) -> Vec<Cause> {
        let mut budget = Budget::new(crate::cel::MOST_PER_WRITE);
        let mut causes = Vec::new();
        validate::validate(self, object, old, &mut budget, &mut causes);
        causes.extend(known);
        if !causes.iter().any(is_blocking) {
            rules::check(self, object, old, &mut budget, &mut causes);
        } else if self.has_rules {
            causes.push(causes::whole("null", NOT_CHECKED));
        }
        causes.truncate(MOST_CAUSES);
        causes
    }
}
