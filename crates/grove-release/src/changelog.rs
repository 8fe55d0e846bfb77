//! What `CHANGELOG.md` says of one version.

use anyhow::{Context, Result, ensure};

/// The section of `version`, without its heading.
pub fn section<'a>(changelog: &'a str, version: &str) -> Result<&'a str> {
    let heading = format!("## {version}");
    let starts =
        |it: &str| it.strip_prefix(&heading).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let mut rest = changelog;
    loop {
        let (line, after) =
            rest.split_once('\n').with_context(|| format!("CHANGELOG.md has no section {heading:?}"))?;
        rest = after;
        if starts(line.trim_end()) {
            break;
        }
    }
    let end = if rest.starts_with("## ") { Some(0) } else { rest.find("\n## ") };
    let section = rest[..end.unwrap_or(rest.len())].trim();
    ensure!(!section.is_empty(), "the section {heading:?} of CHANGELOG.md is empty");
    Ok(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Changes\n\n## 0.10.0\n\n## 0.2.0 (2026-11-19)\n\n* new\n\n### More\n\n* text\n\n## 0.1.0\n* first\n";

    #[test]
    fn a_section_ends_with_the_next() {
        assert_eq!(section(TEXT, "0.2.0").unwrap(), "* new\n\n### More\n\n* text");
        assert_eq!(section(TEXT, "0.1.0").unwrap(), "* first");
    }

    #[test]
    fn a_release_without_a_section_is_refused() {
        for (version, says) in [
            ("0.1", "CHANGELOG.md has no section \"## 0.1\""),
            ("0.3.0", "CHANGELOG.md has no section \"## 0.3.0\""),
            ("0.10.0", "the section \"## 0.10.0\" of CHANGELOG.md is empty"),
        ] {
            assert_eq!(section(TEXT, version).unwrap_err().to_string(), says);
        }
    }

    #[test]
    fn this_version_has_a_section() {
        let changelog = include_str!("../../../CHANGELOG.md");
        assert!(section(changelog, env!("CARGO_PKG_VERSION")).is_ok());
    }
}
