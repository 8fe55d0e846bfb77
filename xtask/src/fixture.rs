//! What the tests of several checks share.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::finding::Finding;
use crate::metadata::Metadata;

/// Findings as text, for comparison with what a person would read.
pub(crate) fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

/// A workspace of one member `app`, in which each `(from, to)` is a resolved edge between `name@version` ids.
/// Every other package is external and MIT.
pub(crate) fn graph(edges: &[(&str, &str)]) -> Metadata {
    let ids: BTreeSet<&str> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
    let packages: Vec<Value> = ids
        .iter()
        .map(|id| {
            let (name, version) = id.split_once('@').unwrap_or((id, "0.1.0"));
            json!({ "id": id, "name": name, "version": version, "license": "MIT", "dependencies": [] })
        })
        .collect();
    let nodes: Vec<Value> = ids
        .iter()
        .map(|id| {
            let to: Vec<&str> = edges.iter().filter(|(from, _)| from == id).map(|(_, to)| *to).collect();
            json!({ "id": id, "dependencies": to })
        })
        .collect();
    let value = json!({ "packages": packages, "workspace_members": ["app"], "resolve": { "nodes": nodes } });
    Metadata::from_json(&value).unwrap()
}
