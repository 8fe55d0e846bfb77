//! One line for each scenario, a closing line, and a line for the documentation.

use std::{fs, path::Path, thread, time::Duration};

use anyhow::{Context as _, Result};
use k8s_openapi::jiff::Timestamp;
use owo_colors::OwoColorize;

/// How a scenario ended.
pub(super) enum Ending {
    Passed,
    Failed(String),
    Skipped(String),
}

/// A failure that counts, unless a retry passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) name: String,
    /// The kind of cluster.
    pub(super) on: String,
    /// Its message and evidence, of the first try.
    pub(super) text: String,
}

/// The count of a run.
#[derive(Default)]
pub(super) struct Tally {
    passed: usize,
    skipped: usize,
    failures: Vec<Failure>,
    /// What failed at first and passed when it was run again.
    unstable: Vec<Failure>,
    /// What all scenarios took together.
    spent: Duration,
}

impl Tally {
    /// Prints the line of a scenario.
    pub(super) fn add(&mut self, name: &str, on: &str, took: Duration, ending: Ending) {
        let time = format!("{:6.1} s", took.as_secs_f64());
        self.spent += took;
        let earlier = self.failures.iter().position(|it| it.name == name && it.on == on);
        match ending {
            Ending::Passed => {
                self.passed += 1;
                self.unstable.extend(earlier.map(|it| self.failures.remove(it)));
                anstream::println!("{} {time}  {name} [{on}]", "ok  ".green());
            }
            Ending::Skipped(reason) => {
                self.skipped += 1;
                self.unstable.extend(earlier.map(|it| self.failures.remove(it)));
                anstream::println!("{} {time}  {name} [{on}]: {reason}", "skip".yellow());
            }
            Ending::Failed(text) => {
                anstream::println!("{} {time}  {name} [{on}]\n{text}", "FAIL".red());
                // One that fails again is one failure.
                if earlier.is_none() {
                    self.failures.push(Failure { name: name.to_owned(), on: on.to_owned(), text });
                }
            }
        }
    }

    /// What failed and did not pass since.
    pub(super) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Prints the closing lines; whether all is well.
    pub(super) fn close(&self, took: Duration) -> bool {
        for Failure { name, on, text } in &self.unstable {
            let message = text.lines().next().unwrap_or_default().trim();
            anstream::println!("{} {name} [{on}] failed at first: {message}", "unstable".yellow());
        }
        anstream::println!("\n{} minutes of scenarios in {} minutes", minutes(self.spent), minutes(took));
        anstream::println!(
            "{} passed, {} failed, {} skipped",
            self.passed,
            self.failures.len(),
            self.skipped
        );
        self.failures.is_empty() && self.passed > 0
    }
}

fn minutes(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() / 60.0)
}

/// How the line about the whole matrix begins, on the page where it stands.
const LINE: &str = "`make e2e-full`, last run ";

/// Notes the outcome of the whole matrix on a page of the documentation.
pub(super) fn record(page: &Path, tally: &Tally, took: Duration) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let today = Timestamp::now().strftime("%Y-%m-%d").to_string();
    let unstable = match tally.unstable.len() {
        0 => String::new(),
        count => format!(" ({count} unstable)"),
    };
    let line = format!(
        "{LINE}{today} on {cores} cores: {} passed{unstable}, {} failed, {} skipped, in {} minutes with the programs in the cache.",
        tally.passed,
        tally.failures.len(),
        tally.skipped,
        minutes(took)
    );
    let name = page.display();
    let before = fs::read_to_string(page).with_context(|| name.to_string())?;
    let after =
        replaced(&before, &line).with_context(|| format!("{name} has no line that begins with {LINE}"))?;
    fs::write(page, after).with_context(|| name.to_string())
}

/// `page` with another line about the whole matrix.
fn replaced(page: &str, line: &str) -> Option<String> {
    page.lines().any(|it| it.starts_with(LINE)).then(|| {
        let lines = page.lines().map(|it| if it.starts_with(LINE) { line } else { it });
        lines.flat_map(|it| [it, "\n"]).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_page_is_replaced() {
        let page = "# Status\n\n`make e2e-full`, last run 2026-01-01: 1 passed.\n\nMore.\n";
        let line = "`make e2e-full`, last run 2026-02-02: 2 passed.";
        let want = "# Status\n\n`make e2e-full`, last run 2026-02-02: 2 passed.\n\nMore.\n";
        assert_eq!(replaced(page, line).as_deref(), Some(want));
        assert_eq!(replaced("# Status\n", line), None);
    }

    #[test]
    fn a_retry_that_passes_moves_a_failure_to_the_unstable() {
        let mut tally = Tally::default();
        let mut add = |name: &str, ending: Ending| tally.add(name, "kube", Duration::ZERO, ending);
        add("a", Ending::Failed("  first\nevidence".to_owned()));
        add("b", Ending::Failed("  b".to_owned()));
        add("c", Ending::Passed);
        // The retry.
        add("a", Ending::Passed);
        add("b", Ending::Failed("  b again".to_owned()));
        let names = |all: &[Failure]| all.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
        assert_eq!((tally.passed, tally.skipped), (2, 0));
        assert_eq!((names(&tally.failures), names(&tally.unstable)), (vec!["b".into()], vec!["a".into()]));
        assert_eq!(tally.unstable[0].text, "  first\nevidence");
        assert!(!tally.close(Duration::ZERO));
        tally.add("b", "kube", Duration::ZERO, Ending::Passed);
        assert!(tally.close(Duration::ZERO), "an unstable scenario counts as passed");
    }

    #[test]
    fn our_page_has_the_line() {
        assert!(replaced(include_str!("../../../../docs/status.md"), LINE).is_some());
    }
}
