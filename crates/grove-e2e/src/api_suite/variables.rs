//! `${name}` in paths, bodies and patterns stands for something that an earlier row saved.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

/// What is known so far.
#[derive(Default)]
pub(super) struct Variables(BTreeMap<String, Value>);

impl Variables {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// The text with every `${name}` replaced.
    pub(super) fn fill_text(&self, text: &str) -> Result<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = next(rest) {
            out.push_str(before);
            match self.get(name)? {
                Value::String(text) => out.push_str(text),
                other => out.push_str(&other.to_string()),
            }
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The value with every `${name}` in its texts replaced. A text that is nothing but `${name}` becomes what was
    /// saved, so that numbers stay numbers.
    pub(super) fn fill(&self, value: &Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) => match next(text) {
                Some(("", name, "")) => self.get(name)?.clone(),
                _ => Value::String(self.fill_text(text)?),
            },
            Value::Array(items) => Value::Array(items.iter().map(|it| self.fill(it)).collect::<Result<_>>()?),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, it)| Ok((key.clone(), self.fill(it)?)));
                Value::Object(fields.collect::<Result<_>>()?)
            }
            other => other.clone(),
        })
    }

    fn get(&self, name: &str) -> Result<&Value> {
        self.0.get(name).with_context(|| format!("${{{name}}} was not saved: see the row that saves it"))
    }
}

/// Splits a text at its first `${name}`.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// Every name that a text refers to.
#[cfg(test)]
pub(super) fn names(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((_, name, after)) = next(rest) {
        out.push(name.to_owned());
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variables() -> Variables {
        let mut variables = Variables::default();
        variables.set("ns", json!("blue"));
        variables.set("count", json!(3));
        variables
    }

    #[test]
    fn texts_are_filled_in() {
        let variables = variables();
        assert_eq!(variables.fill_text("/ns/${ns}/x?limit=${count}").unwrap(), "/ns/blue/x?limit=3");
        assert_eq!(variables.fill_text("no $name, no ${end").unwrap(), "no $name, no ${end");
    }

    #[test]
    fn a_lone_variable_keeps_its_type() {
        let filled = variables().fill(&json!({ "a": "${count}", "b": ["${ns}-${count}", null, 1] })).unwrap();
        assert_eq!(filled, json!({ "a": 3, "b": ["blue-3", null, 1] }));
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let error = variables().fill(&json!(["${rv}"])).unwrap_err().to_string();
        assert!(error.contains("${rv}"), "{error}");
    }
}
