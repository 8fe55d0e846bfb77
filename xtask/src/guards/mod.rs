//! Guards against known bugs: each is taken away in a copy of the sources, and the test that is there for it has to fail.
//! A test that passes without its guard guards nothing.

mod fit;
#[cfg(test)]
mod fixture;
mod page;
mod scratch;
mod table;
mod trial;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use scratch::Scratch;
use table::{Guard, Suite};
use trial::Verdict;

use crate::finding::Finding;
use crate::tracked::TextFile;

/// Whether the table fits the sources; builds nothing.
pub(crate) fn check(root: &Path, files: &[TextFile]) -> Result<Vec<Finding>, String> {
    Ok(fit::check(&table::load(root)?, files))
}

/// Writes the table of the page that people read.
pub(crate) fn write_page(root: &Path) -> Result<(), String> {
    let (path, guards) = (root.join(page::PATH), table::load(root)?);
    let cannot = |error| format!("{}: {error}", page::PATH);
    let before = fs::read_to_string(&path).map_err(cannot)?;
    let after = page::written(&before, &guards).ok_or(format!("{} has no mark", page::PATH))?;
    fs::write(path, after).map_err(cannot)
}

/// Takes away every guard whose title contains `only`, one after the other. Whether every test noticed.
pub(crate) fn run(root: &Path, target: &Path, only: &str, say: impl Fn(&str)) -> Result<bool, String> {
    let mut guards = table::load(root)?;
    guards.retain(|it| it.mutation.is_some() && it.title().contains(only));
    if guards.is_empty() {
        return Err(format!("no guard is called {only:?}"));
    }
    let scratch = Scratch::copy(root, target)?;
    say(&format!("{} guards; first their tests as they are, in {}", guards.len(), scratch.tree.display()));
    let mut faults = 0;
    for (suite, tests) in suites(&guards) {
        let verdicts = trial::run(&scratch, suite, &tests)?;
        for (test, verdict) in tests.iter().zip(verdicts).filter(|it| it.1 != Verdict::Passed) {
            faults += 1;
            say(&format!("{test} of {} does not pass as it is: {}", suite.package, words(&verdict)));
        }
    }
    if faults > 0 {
        return Ok(false);
    }
    for (number, guard) in (1..).zip(&guards) {
        let began = Instant::now();
        let test = &guard.test;
        let attempt = || trial::run(&scratch, &test.suite, &[test.path.as_str()]);
        let verdict = scratch.without(guard, attempt).map(|it| it.into_iter().next());
        let (is_noticed, line) = judged(guard, verdict);
        faults += usize::from(!is_noticed);
        say(&format!("[{number:2}/{}] {line} ({} s)", guards.len(), began.elapsed().as_secs()));
    }
    match faults {
        0 => say(&format!("{} guards, and every one is missed by its test", guards.len())),
        _ => say(&format!("{faults} of {} guards are not missed by their tests", guards.len())),
    }
    Ok(faults == 0)
}

/// The tests of each suite, each once: a suite is built once for all of them.
fn suites(guards: &[Guard]) -> BTreeMap<&Suite, Vec<&str>> {
    let mut suites: BTreeMap<&Suite, Vec<&str>> = BTreeMap::new();
    for guard in guards {
        let tests = suites.entry(&guard.test.suite).or_default();
        if !tests.contains(&guard.test.path.as_str()) {
            tests.push(&guard.test.path);
        }
    }
    suites
}

/// Whether the test noticed that the guard is away, and a line about it.
fn judged(guard: &Guard, verdict: Result<Option<Verdict>, String>) -> (bool, String) {
    let (title, test) = (guard.title(), &guard.test.path);
    match verdict {
        Ok(Some(Verdict::Failed)) => (true, format!("missed      {title}: {test} fails without it")),
        Ok(Some(Verdict::Passed)) => (false, format!("NOT MISSED  {title}: {test} passes without it")),
        Ok(Some(Verdict::Absent(words))) => (false, format!("NOT TRIED   {title}: {words}")),
        Ok(None) => (false, format!("NOT TRIED   {title}")),
        Err(error) => (false, format!("NOT TRIED   {title}: {error}")),
    }
}

fn words(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Passed => "it passes",
        Verdict::Failed => "it fails",
        Verdict::Absent(words) => words,
    }
}

/// Where cargo builds for this workspace.
pub(crate) fn target(root: &Path) -> Result<PathBuf, String> {
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    // The copy is built from another folder than this one.
    std::path::absolute(folder).map_err(|error| format!("cannot find the target folder: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::guard;

    #[test]
    fn a_suite_is_asked_once_for_each_test() {
        let (mut second, mut third) = (guard("two"), guard("three"));
        second.test.path = "tests::another".to_owned();
        third.test.suite.file = Some("children".to_owned());
        let guards = [guard("one"), guard("again"), second, third];
        let suites = suites(&guards);
        let tests: Vec<_> = suites.values().cloned().collect();
        assert_eq!(tests, [vec!["tests::it_stands", "tests::another"], vec!["tests::it_stands"]]);
    }

    /// Only a test that ran and failed has missed its guard.
    #[test]
    fn what_does_not_fail_is_a_fault() {
        let of = |verdict| judged(&guard("one"), verdict);
        assert_eq!(
            of(Ok(Some(Verdict::Failed))),
            (true, "missed      area/one: tests::it_stands fails without it".to_owned())
        );
        assert!(!of(Ok(Some(Verdict::Passed))).0);
        assert!(!of(Ok(Some(Verdict::Absent("error: could not compile".to_owned())))).0);
        assert!(!of(Ok(None)).0);
        assert!(!of(Err("no".to_owned())).0);
    }
}
