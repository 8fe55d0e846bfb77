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

/// The count of a run.
#[derive(Default)]
pub(super) struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// What all scenarios took together.
    spent: Duration,
}

impl Tally {
    /// Prints the line of a scenario.
    pub(super) fn add(&mut self, name: &str, on: &str, took: Duration, ending: Ending) {
        let time = format!("{:6.1} s", took.as_secs_f64());
        self.spent += took;
        match ending {
            Ending::Passed => {
                self.passed += 1;
                anstream::println!("{} {time}  {name} [{on}]", "ok  ".green());
            }
            Ending::Skipped(reason) => {
                self.skipped += 1;
                anstream::println!("{} {time}  {name} [{on}]: {reason}", "skip".yellow());
            }
            Ending::Failed(text) => {
                self.failed += 1;
                anstream::println!("{} {time}  {name} [{on}]\n{text}", "FAIL".red());
            }
        }
    }

    /// Prints the closing lines; whether all is well.
    pub(super) fn close(&self, took: Duration) -> bool {
        anstream::println!("\n{} minutes of scenarios in {} minutes", minutes(self.spent), minutes(took));
        anstream::println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
        self.failed == 0 && self.passed > 0
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
    let line = format!(
        "{LINE}{today} on {cores} cores: {} passed, {} failed, {} skipped, in {} minutes with the programs in the cache.",
        tally.passed,
        tally.failed,
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
    fn our_page_has_the_line() {
        assert!(replaced(include_str!("../../../../docs/status.md"), LINE).is_some());
    }
}
