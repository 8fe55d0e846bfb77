//! One object of a manifest and where its fields stood.

use std::collections::BTreeMap;

use serde_json::Value;

use super::node::{Node, Shape};
use crate::field::{Path, Segment};

/// One object of a manifest.
pub struct Document {
    /// The object.
    pub value: Value,
    /// Line on which it begins, counted from 1.
    pub line: usize,
    lines: Lines,
}

/// Lines of an object's fields.
#[derive(Default)]
struct Lines {
    line: usize,
    children: BTreeMap<String, Lines>,
}

impl Document {
    pub(super) fn new(node: Node) -> Self {
        let line = node.line;
        let (value, lines) = split(node);
        Self { value, line, lines }
    }

    /// The line of the field at `path`, or of the nearest field above it that is there.
    pub fn line_of(&self, path: &Path) -> usize {
        let mut at = &self.lines;
        for segment in path.segments() {
            let child = match segment {
                Segment::Field(name) | Segment::Key(name) => at.children.get(name),
                Segment::Index(index) => at.children.get(&index.to_string()),
            };
            match child {
                Some(child) => at = child,
                None => break,
            }
        }
        at.line
    }

    /// The objects inside a `kind: List`, or the document itself.
    pub fn flatten(self) -> Vec<Self> {
        let is_list = self.value.get("kind").and_then(Value::as_str) == Some("List");
        let Some(Value::Array(items)) = self.value.get("items").filter(|_| is_list) else {
            return vec![self];
        };
        let items = items.clone();
        let mut lines = self
            .lines
            .children
            .into_iter()
            .find(|(name, _)| name == "items")
            .map_or_else(Lines::default, |it| it.1);
        let item = |(index, value): (usize, Value)| {
            let lines = lines.children.remove(&index.to_string()).unwrap_or_default();
            Self { value, line: lines.line, lines }
        };
        items.into_iter().enumerate().map(item).collect()
    }
}

/// Takes a node apart: its value as JSON, and the lines beside it.
fn split(node: Node) -> (Value, Lines) {
    let mut lines = Lines { line: node.line, children: BTreeMap::new() };
    let value = match node.shape {
        Shape::Scalar(value) => value,
        Shape::List(items) => {
            let item = |(index, item): (usize, Node)| {
                let (value, below) = split(item);
                lines.children.insert(index.to_string(), below);
                value
            };
            items.into_iter().enumerate().map(item).collect()
        }
        Shape::Map(entries) => {
            let entry = |(key, node): (super::node::Key, Node)| {
                let (value, mut below) = split(node);
                below.line = key.line;
                lines.children.insert(key.name.clone(), below);
                (key.name, value)
            };
            Value::Object(entries.into_iter().map(entry).collect())
        }
    };
    (value, lines)
}
