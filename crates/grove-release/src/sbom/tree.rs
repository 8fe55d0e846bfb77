//! Reads what `cargo tree --prefix depth` prints.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

/// What `cargo tree` is to print of a crate, after its depth.
pub(super) const FORMAT: &str = "\t{p}\t{l}";

/// One version of one crate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) name: String,
    pub(super) version: String,
}

/// What is known of a crate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Crate {
    /// SPDX expression; empty where the manifest has none.
    pub(super) licence: String,
    pub(super) dependencies: BTreeSet<Id>,
}

/// The crates of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) root: Id,
    pub(super) crates: BTreeMap<Id, Crate>,
}

/// Reads a tree. Crates that were printed before are printed again without what is below them.
pub(super) fn parse(text: &str) -> Result<Tree> {
    let mut crates: BTreeMap<Id, Crate> = BTreeMap::new();
    let mut above: Vec<Id> = Vec::new();
    for line in text.lines().filter(|it| !it.is_empty()) {
        let (depth, id, licence) = read(line).with_context(|| format!("cargo tree printed {line:?}"))?;
        if depth > above.len() {
            bail!("cargo tree printed {line:?}, which is below nothing");
        }
        above.truncate(depth);
        if let Some(parent) = above.last() {
            crates.entry(parent.clone()).or_default().dependencies.insert(id.clone());
        }
        // Older manifests write OR as a slash.
        crates.entry(id.clone()).or_default().licence = licence.replace(" / ", " OR ").replace('/', " OR ");
        above.push(id);
    }
    let root = above.into_iter().next().context("cargo tree printed nothing")?;
    Ok(Tree { root, crates })
}

/// Depth, crate and licence of a line such as `2 TAB serde v1.0.229 (proc-macro) TAB MIT OR Apache-2.0 (*)`.
fn read(line: &str) -> Option<(usize, Id, &str)> {
    let mut parts = line.splitn(3, '\t');
    let depth = parts.next()?.parse().ok()?;
    let mut words = parts.next()?.split(' ');
    let name = words.next()?.to_owned();
    let version = words.next()?.strip_prefix('v')?.to_owned();
    let licence = parts.next()?.trim_end_matches("(*)").trim();
    Some((depth, Id { name, version }, licence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str, version: &str) -> Id {
        Id { name: name.to_owned(), version: version.to_owned() }
    }

    #[test]
    fn crates_are_below_the_line_before_with_less_depth() {
        let text = "0\ttop v0.1.0 (/x/top)\tApache-2.0\n\
                    1\ta v1.0.0\tMIT/Apache-2.0\n\
                    2\tb v2.0.0-rc.1 (proc-macro)\tMIT\n\
                    1\tb v2.0.0-rc.1 (proc-macro)\tMIT (*)\n\
                    1\tc v3.0.0\t\n";
        let tree = parse(text).unwrap();
        assert_eq!(tree.root, id("top", "0.1.0"));
        let dependencies = |it: &Id| tree.crates[it].dependencies.iter().cloned().collect::<Vec<_>>();
        let (a, b, c) = (id("a", "1.0.0"), id("b", "2.0.0-rc.1"), id("c", "3.0.0"));
        assert_eq!(dependencies(&tree.root), [a.clone(), b.clone(), c.clone()]);
        assert_eq!(dependencies(&a), std::slice::from_ref(&b));
        assert!(dependencies(&b).is_empty() && dependencies(&c).is_empty());
        let licences = [&a, &b, &c].map(|it| tree.crates[it].licence.as_str());
        assert_eq!(licences, ["MIT OR Apache-2.0", "MIT", ""]);
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for (text, says) in [
            ("", "printed nothing"),
            ("1\ta v1.0.0\tMIT", "is below nothing"),
            ("0\ta 1.0.0\tMIT", "cargo tree printed \"0\\ta 1.0.0\\tMIT\""),
            ("a v1.0.0", "cargo tree printed"),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }
}
