//! Checks that no crate can contain unsafe code: the workspace forbids it, and each crate inherits the lints of the workspace.
//! Cargo compiles a crate that does not inherit them without a word, and a level below `forbid` can be lifted in the source.

use toml::{Table, Value};

use crate::finding::Finding;
use crate::tracked::TextFile;

/// The manifest of the workspace.
const WORKSPACE: &str = "Cargo.toml";

/// Reports a workspace that does not forbid unsafe code, and crates that do not inherit its lints.
pub(crate) fn check(files: &[TextFile]) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|it| it.path.rsplit('/').next() == Some("Cargo.toml")) {
        let manifest: Table =
            file.text.parse().map_err(|error: toml::de::Error| format!("{}: {error}", file.path))?;
        if file.path == WORKSPACE && !forbids_unsafe_code(&manifest) {
            findings.push(Finding::new(
                WORKSPACE,
                "does not forbid unsafe code, set unsafe_code = \"forbid\" in [workspace.lints.rust]",
            ));
        }
        if manifest.contains_key("package") && !inherits_lints(&manifest) {
            findings.push(Finding::new(
                &file.path,
                "does not inherit the lints of the workspace, which forbid unsafe code, set workspace = true in [lints]",
            ));
        }
    }
    Ok(findings)
}

fn forbids_unsafe_code(workspace: &Table) -> bool {
    let lint = value(workspace, &["workspace", "lints", "rust", "unsafe_code"]);
    // With a priority, the level is a key of its own.
    let level = lint.map(|it| it.get("level").unwrap_or(it));
    level.and_then(Value::as_str) == Some("forbid")
}

fn inherits_lints(manifest: &Table) -> bool {
    value(manifest, &["lints", "workspace"]).and_then(Value::as_bool) == Some(true)
}

/// What is in a table within tables.
fn value<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(*key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::lines;

    const FORBIDS: &str = "[workspace]\nmembers = []\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
    const INHERITS: &str = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n";

    fn found(workspace: &str, member: &str) -> Vec<String> {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let others = [file("crates/a/src/lib.rs", "no manifest"), file("docs/Cargo.toml.md", "no manifest")];
        let manifests = [file("Cargo.toml", workspace), file("crates/a/Cargo.toml", member)];
        lines(&check(&manifests.into_iter().chain(others).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn what_is_forbidden_and_inherited_is_fine() {
        assert_eq!(found(FORBIDS, INHERITS), Vec::<String>::new());
        let with_priority = FORBIDS.replace("\"forbid\"", "{ level = \"forbid\", priority = 1 }");
        assert_eq!(found(&with_priority, INHERITS), Vec::<String>::new());
    }

    #[test]
    fn a_workspace_that_does_not_forbid_it_is_found() {
        let want = [
            "Cargo.toml: does not forbid unsafe code, set unsafe_code = \"forbid\" in [workspace.lints.rust]",
        ];
        for workspace in [
            FORBIDS.replace("forbid", "deny"),
            FORBIDS.replace("\"forbid\"", "{ level = \"deny\" }"),
            FORBIDS.replace("unsafe_code", "unused"),
            FORBIDS.replace("lints.rust", "lints.clippy"),
        ] {
            assert_eq!(found(&workspace, INHERITS), want, "{workspace}");
        }
    }

    #[test]
    fn a_crate_that_does_not_inherit_the_lints_is_found() {
        let want = [
            "crates/a/Cargo.toml: does not inherit the lints of the workspace, which forbid unsafe code, set \
                     workspace = true in [lints]",
        ];
        for member in [
            INHERITS.replace("true", "false"),
            INHERITS.replace("[lints]\nworkspace = true\n", ""),
            INHERITS.replace("[lints]\nworkspace = true", "[lints.rust]\nunsafe_code = \"allow\""),
        ] {
            assert_eq!(found(FORBIDS, &member), want, "{member}");
        }
    }

    #[test]
    fn a_crate_at_the_root_of_the_workspace_is_checked_too() {
        let both = format!("{FORBIDS}{INHERITS}");
        assert_eq!(found(&both, INHERITS), Vec::<String>::new());
        assert_eq!(found(&both.replace("[lints]\nworkspace = true\n", ""), INHERITS).len(), 1);
    }

    #[test]
    fn a_manifest_that_cannot_be_read_is_an_error() {
        let broken = TextFile { path: "crates/a/Cargo.toml".to_owned(), text: "[package".to_owned() };
        assert!(check(&[broken]).unwrap_err().starts_with("crates/a/Cargo.toml: "));
    }
}
