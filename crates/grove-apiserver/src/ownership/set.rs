//! Sets of fields, in the form in which objects carry them (`FieldsV1`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Fields of an object, as a tree. Steps are written as in `FieldsV1`: `f:name`, `k:{"key":"value"}`, `v:"value"`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldSet {
    /// Whether what is here belongs to the set, besides what is below.
    pub(super) owned: bool,
    pub(super) below: BTreeMap<String, FieldSet>,
}

impl FieldSet {
    /// Nothing but what is here.
    pub(super) fn leaf() -> Self {
        Self { owned: true, below: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.owned && self.below.is_empty()
    }

    /// What is below a step.
    pub(super) fn at(&self, step: &str) -> Option<&Self> {
        self.below.get(step)
    }

    /// Adds what is below a step, unless that is nothing.
    pub(super) fn put(&mut self, step: String, below: Self) {
        if !below.is_empty() {
            self.below.insert(step, below);
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.owned |= other.owned;
        for (step, below) in &other.below {
            self.below.entry(step.clone()).or_default().add(below);
        }
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        self.keep(other, |mine, theirs| mine && !theirs)
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        self.keep(other, |mine, theirs| mine && theirs)
    }

    fn keep(&self, other: &Self, keeps: fn(bool, bool) -> bool) -> Self {
        let nothing = Self::default();
        let mut out = Self { owned: keeps(self.owned, other.owned), below: BTreeMap::new() };
        for (step, below) in &self.below {
            out.put(step.clone(), below.keep(other.at(step).unwrap_or(&nothing), keeps));
        }
        out
    }

    /// What of these nobody in `others` has, nor anything below it.
    pub(super) fn unclaimed(&self, others: &Self) -> Self {
        let mut out = Self { owned: self.owned && others.is_empty(), below: BTreeMap::new() };
        for (step, below) in &self.below {
            out.put(step.clone(), below.unclaimed(others.at(step).unwrap_or(&Self::default())));
        }
        out
    }

    /// The paths, as people write them.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect("", &mut out);
        out
    }

    fn collect(&self, path: &str, out: &mut Vec<String>) {
        if self.owned {
            out.push(path.to_owned());
        }
        for (step, below) in &self.below {
            below.collect(&format!("{path}{}", shown(step)), out);
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let own = (self.owned && !self.below.is_empty()).then(|| (".".to_owned(), Value::Object(Map::new())));
        let below = self.below.iter().map(|(step, below)| (step.clone(), below.to_json()));
        Value::Object(own.into_iter().chain(below).collect())
    }

    pub(super) fn from_json(json: &Value) -> Self {
        let mut out = Self::default();
        for (step, below) in json.as_object().into_iter().flatten() {
            if step == "." {
                out.owned = true;
                continue;
            }
            let mut below = Self::from_json(below);
            // What has nothing below it is there for itself.
            below.owned |= below.below.is_empty();
            out.below.insert(step.clone(), below);
        }
        out
    }
}

/// A step as people write it: `.name`, `[key="value"]`, `[="value"]`.
fn shown(step: &str) -> String {
    match step.split_once(':') {
        Some(("k", keys)) => {
            let keys: BTreeMap<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", keys.join(","))
        }
        Some(("v", value)) => format!("[={value}]"),
        _ => format!(".{}", step.trim_start_matches("f:")),
    }
}
