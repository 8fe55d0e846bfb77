//! Checks that the tests and scenarios that the documentation names exist. A page that says which test fails without a rule is
//! wrong as soon as that test is renamed.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::tracked::TextFile;

/// Where scenarios are registered.
const SCENARIOS: &str = "crates/grove-e2e/src/scenarios/";

/// What follows the name of a scenario there: the function that plays it, or the clusters that it runs on.
const AFTER_A_NAME: &[&str] = &["|context|", "on: "];

/// Targets of the Makefile that select scenarios by a part of their names, which is in `ONLY`.
const TARGETS: &[&str] = &["e2e", "e2e-full", "e2e-sandbox"];

/// Reports each test and each scenario that a page names and the sources do not have.
pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let scenarios = scenarios(files);
    let mut findings = Vec::new();
    for page in files.iter().filter(|it| is_page(&it.path)) {
        for (number, line) in (1..).zip(page.text.lines()) {
            let mut find = |problem: String| {
                findings.push(Finding::new(format!("{}:{number}", page.path), problem));
            };
            for (path, test) in test_names(line) {
                match files.iter().find(|it| it.path == path) {
                    None => find(format!("names the test {test} in {path}, and there is no such file")),
                    Some(file) if !file.defines(test) => find(format!("{path} has no test {test}")),
                    Some(_) => {}
                }
            }
            for part in selections(line) {
                if !scenarios.iter().any(|it| it.contains(part)) {
                    find(format!("ONLY={part} selects nothing: no scenario has that in its name"));
                }
            }
        }
    }
    findings
}

fn is_page(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == "md")
}

/// Path and name of each test that is written as `path/to/file.rs::name`.
fn test_names(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.match_indices(".rs::").filter_map(move |(at, mark)| {
        let name = word(&line[at + mark.len()..]);
        let not_of_a_path = |it: char| !(it.is_ascii_alphanumeric() || "_-./".contains(it));
        let stem = line[..at].rsplit(not_of_a_path).next().unwrap_or_default();
        let path = &line[at - stem.len()..at + ".rs".len()];
        (!name.is_empty()).then_some((path, name))
    })
}

/// What each `ONLY=` asks for that stands behind one of the targets.
fn selections(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("ONLY=").filter_map(move |(at, mark)| {
        let (_, command) = line[..at].rsplit_once("make ")?;
        let part = word(&line[at + mark.len()..]);
        (TARGETS.contains(&word(command)) && !part.is_empty()).then_some(part)
    })
}

/// The beginning of `text`, up to what is in no name.
fn word(text: &str) -> &str {
    text.split(|it: char| !(it.is_ascii_alphanumeric() || "_-".contains(it))).next().unwrap_or_default()
}

/// The names of all scenarios.
fn scenarios(files: &[TextFile]) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for file in files.iter().filter(|it| it.path.starts_with(SCENARIOS)) {
        for mark in AFTER_A_NAME {
            let before = file.text.split(mark).filter_map(|it| it.trim_end().strip_suffix("\","));
            names.extend(before.filter_map(|it| it.rsplit('"').next()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::lines;

    const TABLE: &str = r#"
        Scenario::on_kube("tenant_floods", |context| Box::pin(floods(context))),
        on(
            BEST,
            "backend_preferred_rack",
            |context| Box::pin(preferred(context)),
        ),
        Scenario {
            name: "gang_flat",
            on: &[(Kube, All)],
            run: |context| Box::pin(flat(context, Case { name: "case_of_a_table", pods: 2 })),
        },
    "#;

    fn found(page: &str) -> Vec<String> {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        lines(&check(&[
            file("docs/a.md", page),
            file("crates/p/src/a.rs", "#[test]\nfn it_holds() {}\n// crates/p/src/a.rs::it_is_no_page\n"),
            file("crates/grove-e2e/src/scenarios/mod.rs", TABLE),
        ]))
    }

    #[test]
    fn scenarios_are_read_from_their_tables() {
        let path = "crates/grove-e2e/src/scenarios/mod.rs".to_owned();
        let files = [TextFile { path, text: TABLE.to_owned() }];
        let names: Vec<&str> = scenarios(&files).into_iter().collect();
        assert_eq!(names, ["backend_preferred_rack", "gang_flat", "tenant_floods"]);
    }

    #[test]
    fn what_exists_is_fine() {
        for line in [
            "| a rule | `crates/p/src/a.rs::it_holds` |",
            "see crates/p/src/a.rs::it_holds.",
            "`make e2e ONLY=tenant_floods`, `make e2e-full ONLY=backend_`, `make e2e SCHEDULERS=kai ONLY=flat`",
            "make e2e    # the quick tier; ONLY=gang_ narrows it",
        ] {
            assert_eq!(found(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn what_is_asked_of_other_targets_is_no_scenario() {
        for line in ["make guards ONLY=updates", "`ONLY=nothing` alone", "`make e2e ONLY=` takes a part"] {
            assert_eq!(found(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn a_test_that_does_not_exist_is_found_with_its_line() {
        assert_eq!(
            found("# Tests\n\n`crates/p/src/a.rs::it_hold`, `crates/p/src/a.rs::it_holds`\n"),
            ["docs/a.md:3: crates/p/src/a.rs has no test it_hold"]
        );
        assert_eq!(
            found("(…crates/p/src/b.rs::it_holds)"),
            ["docs/a.md:1: names the test it_holds in crates/p/src/b.rs, and there is no such file"]
        );
    }

    #[test]
    fn a_selection_without_scenarios_is_found_with_its_line() {
        assert_eq!(
            found("\n| `make e2e ONLY=tenant_` | `make e2e-sandbox ONLY=tenants_` |"),
            ["docs/a.md:2: ONLY=tenants_ selects nothing: no scenario has that in its name"]
        );
        assert_eq!(
            found("`make e2e ONLY=case_of_a_table`"),
            ["docs/a.md:1: ONLY=case_of_a_table selects nothing: no scenario has that in its name"]
        );
    }
}
