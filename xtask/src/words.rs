//! Checks that no tracked file names a path of somebody's machine. Such a path works for one person and tells
//! everybody else nothing.

use crate::finding::Finding;
use crate::tracked::TextFile;

/// Parts of paths that exist on one machine only.
const UNWANTED: &[&str] = &["/root/", "/home/", "/Users/"];

/// Files that hold such text of necessity: this list, and hashes and addresses that cargo wrote.
const SKIPPED: &[&str] = &["xtask/src/words.rs", "Cargo.lock"];

/// Reports each line that names such a path.
pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|it| !SKIPPED.contains(&it.path.as_str())) {
        for (number, line) in (1..).zip(file.text.lines()) {
            for word in UNWANTED.iter().filter(|word| line.contains(**word)) {
                findings.push(Finding::new(
                    format!("{}:{number}", file.path),
                    format!("names a path of one machine (`{word}`), write it relative to the repository or cut it"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::lines;

    fn found(path: &str, text: &str) -> Vec<String> {
        lines(&check(&[TextFile { path: path.to_owned(), text: text.to_owned() }]))
    }

    #[test]
    fn every_word_is_found_with_its_line() {
        for word in UNWANTED {
            let got = found("docs/a.md", &format!("first\nsee {word}notes\n"));
            assert_eq!(got.len(), 1, "{got:?}");
            assert!(got[0].starts_with("docs/a.md:2: names a path of one machine (`"), "{got:?}");
            assert!(got[0].contains(word), "{got:?}");
        }
    }

    #[test]
    fn other_paths_are_fine() {
        let text = ".github/workflows/ci.yaml\n/var/run/secrets/kubernetes.io\nworkspace root, homework\n";
        assert_eq!(found("docs/a.md", text), Vec::<String>::new());
    }

    #[test]
    fn skipped_files_are_skipped() {
        for path in SKIPPED {
            assert_eq!(found(path, "/home/me\n"), Vec::<String>::new());
        }
        assert_eq!(found("sub/Cargo.lock", "/home/me\n").len(), 1);
    }
}
