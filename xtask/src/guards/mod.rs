//! Guards against known bugs: each is taken away in a copy of the sources, and the test that is there for it has to fail.
//! A test that passes without its guard guards nothing.

mod fit;
#[cfg(test)]
mod fixture;
mod page;
mod scratch;
mod selection;
mod table;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use scratch::Scratch;
pub(crate) use selection::Selection;
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

/// Takes away the guards of `selection`, one after the other. Whether every test noticed.
pub(crate) fn run(
    root: &Path,
    target: &Path,
    selection: &Selection,
    say: impl Fn(&str),
) -> Result<bool, String> {
    let began = Instant::now();
    let mut guards = table::load(root)?;
    selection.choose(&mut guards, root)?;
    if guards.is_empty() {
        say("no guard is in a file that changed");
        return Ok(true);
    }
    let scratch = Scratch::copy(root, target)?;
    say(&format!("{} guards, in {}", guards.len(), scratch.tree.display()));
    let (mut tried, mut faults, mut last) = (0, 0, Duration::ZERO);
    'all: for (suite, guards_here) in suites(&guards) {
        if !selection.has_time(began.elapsed(), last) {
            break;
        }
        let faults_before = faults;
        let built = Instant::now();
        let tests: BTreeSet<&str> = guards_here.iter().map(|it| it.test.path.as_str()).collect();
        let tests: Vec<&str> = tests.into_iter().collect();
        let verdicts = trial::run(&scratch, suite, &tests)?;
        for (test, verdict) in tests.iter().zip(verdicts).filter(|it| it.1 != Verdict::Passed) {
            faults += 1;
            say(&format!("{test} of {} does not pass as it is: {}", suite.package, words(&verdict)));
        }
        if faults > faults_before {
            continue;
        }
        let (count, took) = (tests.len(), built.elapsed().as_secs());
        say(&format!("{count} tests of {} pass as they are ({took} s)", suite.package));
        for guard in guards_here {
            if !selection.has_time(began.elapsed(), last) {
                break 'all;
            }
            let built = Instant::now();
            let attempt = || trial::run(&scratch, suite, &[guard.test.path.as_str()]);
            let verdict = scratch.without(guard, attempt).map(|it| it.into_iter().next());
            let (is_noticed, line) = judged(guard, verdict);
            faults += usize::from(!is_noticed);
            tried += 1;
            last = built.elapsed();
            say(&format!("[{tried:2}/{}] {line} ({} s)", guards.len(), last.as_secs()));
        }
    }
    say(&outcome(tried, guards.len(), faults));
    Ok(faults == 0)
}

/// The last line.
fn outcome(tried: usize, all: usize, faults: usize) -> String {
    let untried = match all - tried {
        0 => String::new(),
        left => format!(", {left} not tried"),
    };
    match faults {
        0 => format!("{tried} guards, and every one is missed by its test{untried}"),
        _ => format!("{tried} guards, {faults} faults{untried}"),
    }
}

/// The guards of each suite, which is built once for all of them; the suite with the most guards first.
fn suites(guards: &[Guard]) -> Vec<(&Suite, Vec<&Guard>)> {
    let mut suites: BTreeMap<&Suite, Vec<&Guard>> = BTreeMap::new();
    for guard in guards {
        suites.entry(&guard.test.suite).or_default().push(guard);
    }
    let mut suites: Vec<_> = suites.into_iter().collect();
    suites.sort_by_key(|(_, guards)| std::cmp::Reverse(guards.len()));
    suites
}

/// Whether the test noticed that the guard is away, and a line about it.
fn judged(guard: &Guard, verdict: Result<Option<Verdict>, String>) -> (bool, String) {
    let (title, test) = (guard.title(), &guard.test.path);
    match verdict {
        Ok(Some(Verdict::Failed)) => (true, format!("missed      {title}: {test} fails without it")),
        Ok(Some(Verdict::Passed)) => (false, format!("NOT MISSED  {title}: {test} passes without it")),
        Ok(Some(Verdict::Endless)) => (false, format!("ENDLESS     {title}: {test} does not end without it")),
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
        Verdict::Endless => "it does not end",
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
    fn the_suite_with_the_most_guards_is_first() {
        let mut other = guard("three");
        other.test.suite.package = "a".to_owned();
        let guards = [other, guard("one"), guard("two")];
        let names: Vec<Vec<&str>> =
            suites(&guards).iter().map(|it| it.1.iter().map(|it| it.name.as_str()).collect()).collect();
        assert_eq!(names, [vec!["one", "two"], vec!["three"]]);
    }

    #[test]
    fn what_was_not_tried_is_told() {
        assert_eq!(outcome(3, 3, 0), "3 guards, and every one is missed by its test");
        assert_eq!(outcome(2, 3, 0), "2 guards, and every one is missed by its test, 1 not tried");
        assert_eq!(outcome(2, 3, 1), "2 guards, 1 faults, 1 not tried");
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
        assert!(!of(Ok(Some(Verdict::Endless))).0);
        assert!(!of(Ok(Some(Verdict::Absent("error: could not compile".to_owned())))).0);
        assert!(!of(Ok(None)).0);
        assert!(!of(Err("no".to_owned())).0);
    }
}
