//! Checks the dependency edges between workspace crates against the table in `layers.rs`.

use crate::finding::Finding;
use crate::layers::Table;
use crate::metadata::{Kind, Metadata};

/// Reports edges that `table` lacks, and members that it does not know.
///
/// Declared dependencies count, not resolved ones: an edge behind a feature or a target is still an edge.
pub(crate) fn check(metadata: &Metadata, table: Table) -> Vec<Finding> {
    let members: Vec<_> = metadata.members().collect();
    let mut findings = Vec::new();
    for member in &members {
        let Some((_, allowed)) = table.iter().find(|(name, _)| *name == member.name) else {
            findings.push(Finding::new(
                &member.name,
                "not in the crate table, add it to xtask/src/layers.rs and to docs/architecture.md",
            ));
            continue;
        };
        for dep in &member.dependencies {
            let in_workspace = dep.is_local && members.iter().any(|other| other.name == dep.name);
            if in_workspace && dep.kind != Kind::Dev && !allowed.permits(&dep.name) {
                findings.push(Finding::new(
                    &member.name,
                    format!(
                        "may not depend on {} ({} dependency), drop the edge or argue for it in \
                         docs/architecture.md and xtask/src/layers.rs",
                        dep.name, dep.kind,
                    ),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::fixture::lines;
    use crate::layers::Allowed;

    const TABLE: Table =
        &[("low", Allowed::Only(&[])), ("mid", Allowed::Only(&["low"])), ("top", Allowed::All)];

    /// A workspace of `low`, `mid`, `top` and `extra` members, where `from` has one dependency on `to`.
    fn workspace(from: &str, to: &str, kind: Option<&str>, extra: &[&str]) -> Metadata {
        let names: Vec<&str> = ["low", "mid", "top"].into_iter().chain(extra.iter().copied()).collect();
        let packages: Vec<Value> = names
            .iter()
            .map(|name| {
                let dep = json!({ "name": to, "kind": kind, "source": null });
                let deps = if *name == from { vec![dep] } else { vec![] };
                json!({ "id": name, "name": name, "version": "0.1.0", "dependencies": deps })
            })
            .collect();
        let value = json!({ "packages": packages, "workspace_members": names, "resolve": { "nodes": [] } });
        Metadata::from_json(&value).unwrap()
    }

    fn found(from: &str, to: &str, kind: Option<&str>) -> Vec<String> {
        lines(&check(&workspace(from, to, kind, &[]), TABLE))
    }

    #[test]
    fn an_edge_of_the_table_is_fine() {
        assert_eq!(found("mid", "low", None), Vec::<String>::new());
        assert_eq!(found("top", "mid", None), Vec::<String>::new());
    }

    #[test]
    fn a_forbidden_edge_is_found() {
        let got = found("low", "mid", None);
        assert_eq!(got.len(), 1, "{got:?}");
        assert!(got[0].starts_with("low: may not depend on mid (normal dependency), "), "{got:?}");
    }

    #[test]
    fn a_forbidden_build_edge_is_found() {
        let got = found("low", "mid", Some("build"));
        assert_eq!(got.len(), 1, "{got:?}");
        assert!(got[0].starts_with("low: may not depend on mid (build dependency), "), "{got:?}");
    }

    #[test]
    fn a_dev_edge_is_ignored() {
        assert_eq!(found("low", "mid", Some("dev")), Vec::<String>::new());
    }

    #[test]
    fn an_outside_crate_is_ignored() {
        assert_eq!(found("low", "serde", None), Vec::<String>::new());
    }

    #[test]
    fn a_registry_crate_of_the_same_name_is_not_an_edge() {
        let dep = json!({ "name": "low", "kind": null, "source": "registry+somewhere" });
        let value = json!({
            "packages": [
                { "id": "low", "name": "low", "version": "0.1.0", "dependencies": [dep] },
            ],
            "workspace_members": ["low"],
            "resolve": { "nodes": [] },
        });
        assert_eq!(check(&Metadata::from_json(&value).unwrap(), TABLE), []);
    }

    #[test]
    fn an_unknown_member_is_found() {
        let got = lines(&check(&workspace("top", "new", None, &["new"]), TABLE));
        assert_eq!(
            got,
            ["new: not in the crate table, add it to xtask/src/layers.rs and to docs/architecture.md"]
        );
    }
}
