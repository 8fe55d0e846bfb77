//! Checks that no Rust file grows beyond what one reads in a sitting.

use crate::finding::Finding;
use crate::tracked::TextFile;

/// A file above this is worth a look.
const REVIEW_ABOVE: usize = 400;
/// A file above this fails the check.
const FAIL_ABOVE: usize = 600;

/// Files that may be longer, each with the reason. Only tests and tables qualify.
pub(crate) const EXEMPT: Exemptions = &[];

/// Path and reason.
pub(crate) type Exemptions = &'static [(&'static str, &'static str)];

/// What the check has to say.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Fail the check.
    pub(crate) findings: Vec<Finding>,
    /// Do not.
    pub(crate) warnings: Vec<Finding>,
}

/// Reports long Rust files, and exemptions that no file needs any more.
pub(crate) fn check(files: &[TextFile], exempt: Exemptions) -> Report {
    let mut report = Report::default();
    for file in files.iter().filter(|it| is_rust(&it.path)) {
        let lines = file.text.lines().count();
        let is_exempt = exempt.iter().any(|(path, _)| *path == file.path);
        if lines > FAIL_ABOVE && !is_exempt {
            report.findings.push(Finding::new(
                &file.path,
                format!("{lines} lines, more than {FAIL_ABOVE}: split it by what its parts decide"),
            ));
        } else if lines > REVIEW_ABOVE && !is_exempt {
            report.warnings.push(Finding::new(
                &file.path,
                format!("{lines} lines, more than {REVIEW_ABOVE}: look whether it holds two ideas"),
            ));
        }
    }
    for (path, _) in exempt {
        let file = files.iter().find(|it| it.path == *path);
        if file.is_none_or(|it| it.text.lines().count() <= FAIL_ABOVE) {
            report.findings.push(Finding::new(
                *path,
                "exempt from the size limit without need, remove it from EXEMPT in xtask/src/sizes.rs",
            ));
        }
    }
    report
}

fn is_rust(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == "rs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::lines;

    fn file(path: &str, lines: usize) -> TextFile {
        TextFile { path: path.to_owned(), text: "x\n".repeat(lines) }
    }

    #[test]
    fn limits() {
        let table = [
            ("a.rs", 400, 0, 0),
            ("a.rs", 401, 0, 1),
            ("a.rs", 600, 0, 1),
            ("a.rs", 601, 1, 0),
            ("a.md", 601, 0, 0),
            ("rs", 601, 0, 0),
        ];
        for (path, length, findings, warnings) in table {
            let report = check(&[file(path, length)], &[]);
            let got = (report.findings.len(), report.warnings.len());
            assert_eq!(got, (findings, warnings), "{path} of {length} lines");
        }
    }

    #[test]
    fn the_finding_names_file_and_length() {
        let report = check(&[file("src/a.rs", 700)], &[]);
        assert_eq!(
            lines(&report.findings),
            ["src/a.rs: 700 lines, more than 600: split it by what its parts decide"]
        );
    }

    #[test]
    fn a_listed_file_may_be_longer() {
        let report = check(&[file("tests/table.rs", 900)], &[("tests/table.rs", "one row a case")]);
        assert!(report.findings.is_empty() && report.warnings.is_empty(), "{report:?}");
    }

    #[test]
    fn an_exemption_without_need_is_found() {
        for files in [vec![], vec![file("tests/table.rs", 600)]] {
            let report = check(&files, &[("tests/table.rs", "one row a case")]);
            assert_eq!(
                lines(&report.findings),
                ["tests/table.rs: exempt from the size limit without need, remove it from EXEMPT in \
                     xtask/src/sizes.rs"]
            );
        }
    }

    #[test]
    fn every_exemption_has_a_reason() {
        assert!(EXEMPT.iter().all(|(_, reason)| !reason.is_empty()));
    }
}
