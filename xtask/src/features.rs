//! Checks that every development build selects the same features of every third-party crate.
//!
//! Cargo compiles a crate again for each set of features, and the set follows from the packages that a command selects and from
//! whether it builds tests. One crate low in the graph that differs makes all above it differ, too: minutes.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::Command;

use crate::finding::Finding;

/// Crates and their features. A crate is there more than once if programs that build and programs that are built differ.
pub(crate) type Features = BTreeMap<String, Vec<String>>;

/// What `make test` and `make lint` select; all others are compared with it.
const WHOLE: &[&str] = &["--workspace", "--edges", "normal,build,dev"];

/// The other selections of the Makefile and of `guards`, by what they are for.
const OTHERS: &[(&str, &[&str])] = &[
    ("programs (cargo build --workspace --bin …)", &["--workspace", "--edges", "normal,build"]),
    (
        "guards (cargo test --package grove-plan --package grove-dev)",
        &["--package", "grove-plan", "--package", "grove-dev", "--edges", "normal,build,dev"],
    ),
    (
        "guards (cargo test --package grove-operator --package grove-dev)",
        &["--package", "grove-operator", "--package", "grove-dev", "--edges", "normal,build,dev"],
    ),
];

/// Asks cargo about the workspace at `root`.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let whole = selected(root, WHOLE)?;
    let mut findings = Vec::new();
    for (name, arguments) in OTHERS {
        findings.extend(compare(name, &selected(root, arguments)?, &whole));
    }
    Ok(findings)
}

fn selected(root: &Path, arguments: &[&str]) -> Result<Features, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p} [{f}]"])
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run cargo tree: {error}"))?;
    if !output.status.success() {
        let trouble = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo tree failed: {}", trouble.trim()));
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

/// Reads lines like `serde v1.0.0 (proc-macro) [default,derive] (*)`.
fn parse(tree: &str) -> Features {
    let mut features = Features::new();
    for line in tree.lines() {
        let Some((package, rest)) = line.split_once(" [") else { continue };
        let (Some((set, _)), Some(package)) = (rest.split_once(']'), package.split(" (").next()) else {
            continue;
        };
        let sets = features.entry(package.to_owned()).or_default();
        if !sets.iter().any(|it| it == set) {
            sets.push(set.to_owned());
        }
    }
    features
}

/// Crates of `selected` that have features with which `whole` does not build them.
fn compare(name: &str, selected: &Features, whole: &Features) -> Vec<Finding> {
    let differs = |(package, sets): (&String, &Vec<String>)| {
        let known = whole.get(package);
        let other = sets.iter().find(|set| known.is_none_or(|known| !known.contains(set)))?;
        let usual = known.map_or_else(|| "nothing".to_owned(), |known| format!("[{}]", known.join("], [")));
        Some(Finding::new(
            package,
            format!(
                "is compiled again for {name}: with [{other}], and {usual} for tests; add the missing features to \
                 crates/grove-dev/Cargo.toml"
            ),
        ))
    };
    selected.iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::lines;

    const TREE: &str = "\
app v0.1.0 (/somewhere/app) []
serde v1.0.0 [default,derive]
serde_derive v1.0.0 (proc-macro) [default]
serde v1.0.0 [default,derive] (*)

syn v2.0.0 [full]
syn v2.0.0 [parsing]
";

    #[test]
    fn every_set_is_read_once() {
        let features = parse(TREE);
        let of = |name: &str| features[name].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(of("serde v1.0.0"), ["default,derive"]);
        assert_eq!(of("serde_derive v1.0.0"), ["default"]);
        assert_eq!(of("syn v2.0.0"), ["full", "parsing"]);
        assert_eq!(of("app v0.1.0"), [""]);
        assert_eq!(features.len(), 4);
    }

    #[test]
    fn only_other_features_are_found() {
        let whole = parse(TREE);
        assert_eq!(compare("x", &parse("syn v2.0.0 [full]\n"), &whole), []);
        let other = parse("syn v2.0.0 [full,visit]\nserde v1.0.0 [default,derive]\nnew v1.0.0 [a]\n");
        let want = [
            "new v1.0.0: is compiled again for x: with [a], and nothing for tests; add the missing features to \
             crates/grove-dev/Cargo.toml",
            "syn v2.0.0: is compiled again for x: with [full,visit], and [full], [parsing] for tests; add the missing \
             features to crates/grove-dev/Cargo.toml",
        ];
        assert_eq!(lines(&compare("x", &other, &whole)), want);
    }
}
