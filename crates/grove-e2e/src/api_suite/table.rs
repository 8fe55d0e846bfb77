//! The rows of `e2e/api-suite.yaml`: what is asked, and what an API server answers.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use grove_api::manifest;
use serde::Deserialize;
use serde_json::Value;

/// The checked-in table.
pub(super) const TEXT: &str = include_str!("../../../../e2e/api-suite.yaml");

/// The whole table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// What rows have in common, used as `${name}`.
    pub(super) variables: BTreeMap<String, Value>,
    /// Run in this order.
    pub(super) rows: Vec<Row>,
}

/// One interaction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// What it shows, beginning with its area.
    pub(super) name: String,
    pub(super) request: Request,
    pub(super) answer: Answer,
    /// Values to remember, by JSON pointers into the answer's body; a watch's body is the list of its events.
    #[serde(default)]
    pub(super) save: BTreeMap<String, String>,
    /// Ask again until the answer is as expected: somebody else is at work.
    #[serde(default)]
    pub(super) eventually: bool,
    /// The request is a watch.
    pub(super) watch: Option<Watch>,
}

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    /// With the query.
    pub(super) path: String,
    /// `application/json` if nothing else is said.
    pub(super) content_type: Option<String>,
    pub(super) accept: Option<String>,
    /// Sent as JSON; a text is sent as it is.
    pub(super) body: Option<Value>,
}

/// What must come back. `headers` and `body` are patterns of [`super::matcher`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Value>,
    pub(super) body: Option<Value>,
}

/// What a watch must see.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Watch {
    /// Sent one after the other once the watch is open.
    #[serde(default)]
    pub(super) during: Vec<Request>,
    /// Patterns of the events, in this order.
    #[serde(default)]
    pub(super) until: Vec<Value>,
    /// Other events may come in between.
    #[serde(default)]
    pub(super) skip: bool,
    /// The server must end the watch after these events, and not before.
    #[serde(default)]
    pub(super) closes: bool,
}

/// Reads a table.
pub(super) fn parse(text: &str) -> Result<Table> {
    let document = manifest::parse(text)?.into_iter().next().context("the table is empty")?;
    Ok(serde_json::from_value(document.value)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::api_suite::variables;

    #[test]
    fn the_table_is_well_formed() {
        let table = parse(TEXT).unwrap();
        assert!(table.rows.len() >= 90, "{} rows", table.rows.len());
        let mut names = BTreeSet::new();
        for row in &table.rows {
            assert!(names.insert(&row.name), "two rows are called {:?}", row.name);
            assert!(row.name.contains(": "), "{:?} does not begin with its area", row.name);
            assert!(!row.eventually || row.request.method == "GET", "{:?} repeats what is no GET", row.name);
        }
    }

    #[test]
    fn rows_use_only_what_is_saved_before() {
        let text = manifest::parse(TEXT).unwrap().remove(0).value;
        let mut known: BTreeSet<String> = BTreeSet::from(["namespace".to_owned()]);
        known.extend(parse(TEXT).unwrap().variables.into_keys());
        for row in text["rows"].as_array().unwrap() {
            for name in variables::names(&row.to_string()) {
                assert!(known.contains(&name), "{}: ${{{name}}} is not known yet", row["name"]);
            }
            known.extend(row["save"].as_object().into_iter().flatten().map(|it| it.0.clone()));
        }
    }

    #[test]
    fn unknown_fields_are_refused() {
        let text = "variables: {}\nrows: [{ name: 'a: b', request: { method: GET, path: / }, answer: { status: 200, bdoy: {} } }]\n";
        assert!(parse(text).is_err());
    }
}
