//! Holds a document against a table of keys: finds unknown, missing and wrong ones, all of them at once, and hands
//! back what is usable of the rest.
//!
//! The walk knows nothing of the operator: backends check their own settings with it.

use serde_json::{Map, Value};

use super::{
    findings::Findings,
    shape::{Key, Shape, is_absent, leaf, wanted},
};
use crate::field::{self, Error, Errors, Path, Warning};

/// A key that is accepted with a warning, whether or not it has a meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub(super) path: &'static str,
    pub(super) warning: &'static str,
}

/// Checks that `value` is an object with `keys` and no others. Meant for the settings of a scheduler backend.
pub fn check_keys(value: &Value, path: &Path, keys: &'static [Key]) -> Errors {
    let mut findings = Findings::default();
    read(value, &Shape::Object(keys), path, &[], &mut findings);
    findings.errors
}

/// Holds `value` against `shape`: reports what is wrong, returns what is usable.
pub(super) fn read(
    value: &Value,
    shape: &Shape,
    path: &Path,
    accepted: &[Accepted],
    findings: &mut Findings,
) -> Option<Value> {
    Walk { accepted, findings }.value(value, shape, path)
}

struct Walk<'a> {
    accepted: &'a [Accepted],
    findings: &'a mut Findings,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, shape: &Shape, path: &Path) -> Option<Value> {
        match (shape, value) {
            (Shape::Object(keys), Value::Object(object)) => Some(self.object(object, keys, path)),
            (Shape::List(element), Value::Array(list)) => Some(self.list(list, element, path)),
            _ => leaf(value, shape, path).map_err(|error| self.error(error)).ok(),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, keys: &[Key], path: &Path) -> Value {
        let mut usable = Map::new();
        for (name, value) in object {
            let here = path.child(name);
            let accepted = self.accepted.iter().find(|it| it.path == here.to_string());
            if let Some(accepted) = accepted.filter(|_| !is_absent(value, &Shape::Text)) {
                let text = accepted.warning.to_owned();
                self.findings.warnings.push(Warning { path: here.clone(), text });
            }
            match keys.iter().find(|key| key.name == name) {
                Some(key) if is_absent(value, &key.shape) => {}
                Some(key) => {
                    if let Some(value) = self.value(value, &key.shape, &here) {
                        usable.insert(name.clone(), value);
                    }
                }
                None if accepted.is_some() => {}
                None => {
                    self.error(Error::unknown(here, field::closest(name, keys.iter().map(|key| key.name))));
                }
            }
        }
        for key in keys.iter().filter(|key| key.required) {
            if is_absent(object.get(key.name).unwrap_or(&Value::Null), &key.shape) {
                self.missing(path.child(key.name), &key.shape);
            }
        }
        Value::Object(usable)
    }

    fn list(&mut self, list: &[Value], element: &Shape, path: &Path) -> Value {
        let mut usable = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            let here = path.index(index);
            let read = if is_absent(value, element) {
                self.missing(here, element);
                None
            } else {
                self.value(value, element, &here)
            };
            match (read, element) {
                (Some(value), _) => usable.push(value),
                // Holds the place, so that later checks name the right index.
                (None, Shape::Object(_)) => usable.push(Value::Object(Map::new())),
                (None, _) => {}
            }
        }
        Value::Array(usable)
    }

    fn missing(&mut self, path: Path, shape: &Shape) {
        self.error(Error::required(path, format!("must be {}", wanted(shape))));
    }

    fn error(&mut self, error: Error) {
        self.findings.errors.push(error);
    }
}

#[cfg(test)]
mod tests;
