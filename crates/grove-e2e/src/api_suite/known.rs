//! The checked-in list of differences between answers of the embedded API server and of a real one, and why they are there.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use grove_api::manifest;
use serde::Deserialize;
use serde_json::Value;

use super::whole::Difference;

/// The list.
pub(super) const TEXT: &str = include_str!("../../../../e2e/api-differences.yaml");

/// Characters of a value that a report shows.
const SHOWN: usize = 700;

/// One line of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    /// The rows: a whole name, or the beginning of names with `*` behind it.
    rows: String,
    /// Where the answers differ: JSON pointers, in which `*` is any one segment, and at the end also all beneath it.
    at: Vec<String>,
    /// Only what ours does not have at all.
    #[serde(default)]
    lacks: bool,
    #[serde(rename = "why")]
    _why: String,
}

/// The differences of a row.
pub(super) struct Differing {
    pub(super) row: String,
    pub(super) differences: Vec<Difference>,
}

/// What is wrong: differences that are not on the list, and lines of the list that explain none.
pub(super) fn judge(list: &str, rows: &[Differing]) -> Result<Vec<String>> {
    let document = manifest::parse(list)?.into_iter().next().context("the list is empty")?;
    let known: Vec<Known> = serde_json::from_value(document.value)?;
    let mut used: Vec<Vec<bool>> = known.iter().map(|it| vec![false; it.at.len()]).collect();
    let mut complaints = Vec::new();
    for Differing { row, differences } in rows {
        let mut words = String::new();
        for difference in differences {
            let mut explained = false;
            let may = |line: &Known| is_of(&line.rows, row) && (!line.lacks || difference.ours.is_none());
            for (line, used) in known.iter().zip(&mut used).filter(|(line, _)| may(line)) {
                for (pattern, used) in line.at.iter().zip(used) {
                    if is_at(pattern, &difference.at) {
                        *used = true;
                        explained = true;
                    }
                }
            }
            if !explained {
                let shown = |it: &Option<Value>| it.as_ref().map_or_else(|| "nothing".to_owned(), short);
                let (real, ours) = (shown(&difference.real), shown(&difference.ours));
                let _ = write!(words, "\n    {}: {real} on the real server, {ours} on ours", difference.at);
            }
        }
        if !words.is_empty() {
            complaints.push(format!("{row}{words}"));
        }
    }
    for (line, used) in known.iter().zip(used) {
        for (at, _) in line.at.iter().zip(used).filter(|it| !it.1) {
            complaints.push(format!("e2e/api-differences.yaml: {}: nothing differs at {at}", line.rows));
        }
    }
    Ok(complaints)
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(SHOWN).collect()
}

fn is_of(pattern: &str, row: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == row, |it| row.starts_with(it))
}

fn is_at(pattern: &str, pointer: &str) -> bool {
    let mut segments = pointer.split('/');
    let mut wanted = pattern.split('/').peekable();
    while let Some(want) = wanted.next() {
        let Some(segment) = segments.next() else { return false };
        if want == "*" && wanted.peek().is_none() {
            return true;
        }
        if want != "*" && want != segment {
            return false;
        }
    }
    segments.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "- { rows: 'a: *', at: [/body/items/*/x, /body/deep/*], why: they are not served }\n";

    fn complaints(row: &str, at: &[&str]) -> usize {
        let differences = at
            .iter()
            .map(|at| Difference { at: (*at).to_owned(), real: None, ours: Some(1.into()) })
            .collect();
        judge(LIST, &[Differing { row: row.to_owned(), differences }]).unwrap().len()
    }

    #[test]
    fn a_difference_has_to_be_on_the_list_and_the_list_has_to_be_true() {
        assert_eq!(complaints("a: one", &["/body/items/3/x", "/body/deep/b/c"]), 0);
        // Not on the list.
        assert_eq!(complaints("a: one", &["/body/items/3/x", "/body/deep/b/c", "/body/items/3/y"]), 1);
        assert_eq!(complaints("a: one", &["/body/items/3/x", "/body/deep/b/c", "/body/items/x"]), 1);
        // Another row, and a list that explains nothing.
        assert_eq!(complaints("b: one", &["/body/items/3/x"]), 3);
        assert_eq!(complaints("a: one", &["/body/items/3/x"]), 1);
    }

    #[test]
    fn the_list_is_well_formed() {
        assert!(judge(TEXT, &[]).is_ok());
    }
}
