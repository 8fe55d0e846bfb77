//! A gang as a tree, in one line of text: the same for PodGangs and for what schedulers are told.
//!
//! `0!block~host: 0-r [0-x-0!rack: 0-x-0-a 0-x-0-b!host]` is a gang that requires a block and prefers a host, with a group of
//! pods and a bundle of two, which requires a rack. Names are without that of the set.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use crate::nodes::{BLOCK, HOST, RACK, ZONE};

use super::{GB200, H100};

/// A gang, or a part of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) name: String,
    pub(super) required: Option<String>,
    pub(super) preferred: Option<String>,
    pub(super) parts: Vec<Tree>,
    /// The topologies that it names.
    pub(super) topologies: BTreeSet<String>,
}

impl Tree {
    /// The line, without the name of the set.
    pub(super) fn line(&self, set: &str) -> String {
        let topologies: Vec<&str> = self.topologies.iter().map(String::as_str).collect();
        let of = if topologies.is_empty() { String::new() } else { format!(" in {}", topologies.join(",")) };
        format!("{}{of}", self.text(&format!("{set}-")))
    }

    fn text(&self, before: &str) -> String {
        let level = |sign: &str, key: &Option<String>| {
            key.as_deref().map(|it| format!("{sign}{}", short(it))).unwrap_or_default()
        };
        let name = |it: &Tree| it.name.replace(before, "");
        let head = format!("{}{}{}", name(self), level("!", &self.required), level("~", &self.preferred));
        if self.parts.is_empty() {
            return head;
        }
        let mut parts: Vec<&Tree> = self.parts.iter().collect();
        parts.sort_by_key(|it| name(it));
        let part = |it: &Tree| {
            let text = it.text(before);
            if it.parts.is_empty() { text } else { format!("[{text}]") }
        };
        format!("{head}: {}", parts.into_iter().map(part).collect::<Vec<_>>().join(" "))
    }
}

/// Node labels are long. What is none of them stands as it is, in quotes: the name of a level is no node label.
fn short(key: &str) -> String {
    let known = match key {
        ZONE => "zone",
        BLOCK => "block",
        RACK => "rack",
        HOST => "host",
        H100 => "h100",
        GB200 => "gb200",
        // Volcano packs without being told a level.
        "" => "",
        other => return format!("{other:?}"),
    };
    known.to_owned()
}

/// Fails with the lines that differ.
pub(super) fn compare(set: &str, trees: &[Tree], wanted: &str) -> Result<()> {
    let found: BTreeSet<String> = trees.iter().map(|it| it.line(set)).collect();
    let wanted: BTreeSet<String> =
        wanted.lines().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect();
    let list = |these: &BTreeSet<String>, others: &BTreeSet<String>| {
        these.difference(others).fold(String::new(), |all, it| all + "\n    " + it)
    };
    let (missing, more) = (list(&wanted, &found), list(&found, &wanted));
    ensure!(missing.is_empty() && more.is_empty(), "missing:{missing}\n  and there is instead:{more}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(name: &str, required: &str, parts: Vec<Tree>) -> Tree {
        let required = Some(required.to_owned()).filter(|it| !it.is_empty());
        Tree { name: name.to_owned(), required, parts, ..Tree::default() }
    }

    #[test]
    fn a_tree_is_a_line() {
        let mut gang = tree(
            "s-0",
            BLOCK,
            vec![tree(
                "s-0-x-0",
                RACK,
                vec![tree("s-0-x-0-b", "rack", vec![]), tree("s-0-x-0-a", "", vec![])],
            )],
        );
        gang.preferred = Some(HOST.to_owned());
        gang.parts.push(tree("s-0-r", ZONE, vec![]));
        gang.topologies.insert("floor".to_owned());
        // The name of a level in the place of its label is seen.
        let line = r#"0!block~host: 0-r!zone [0-x-0!rack: 0-x-0-a 0-x-0-b!"rack"] in floor"#;
        assert_eq!(gang.line("s"), line);
    }

    #[test]
    fn a_difference_is_told_by_both_sides() {
        let gangs = [tree("s-0", RACK, vec![]), tree("s-1", "", vec![])];
        assert!(compare("s", &gangs, "  0!rack\n  1\n").is_ok());
        let told = compare("s", &gangs, "0!rack\n1!rack").unwrap_err().to_string();
        assert_eq!(told, "missing:\n    1!rack\n  and there is instead:\n    1");
    }
}
