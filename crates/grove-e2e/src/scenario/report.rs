//! One line for each scenario, and a closing line.

use std::time::Duration;

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
}

impl Tally {
    /// Prints the line of a scenario.
    pub(super) fn add(&mut self, name: &str, on: &str, took: Duration, ending: Ending) {
        let time = format!("{:6.1} s", took.as_secs_f64());
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

    /// Prints the closing line; whether all is well.
    pub(super) fn close(&self) -> bool {
        anstream::println!("\n{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
        self.failed == 0 && self.passed > 0
    }
}
