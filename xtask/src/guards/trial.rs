//! Runs tests by cargo and tells what came of each.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::scratch::{self, Scratch};
use super::table::Suite;

/// How long tests may run once they are built. All of a suite take seconds.
const LIMIT: Duration = Duration::from_mins(3);

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    /// It did not run: there is no such test, or nothing that can be built. The words of cargo.
    Absent(String),
    /// It did not end: a regression would stop everything instead of failing.
    Endless,
}

/// Runs tests of one suite, and nothing else of it.
pub(crate) fn run(scratch: &Scratch, suite: &Suite, tests: &[&str]) -> Result<Vec<Verdict>, String> {
    // Cargo names itself to the programs that it runs, which keeps the toolchain the same.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let cargo_test = || {
        let mut command = Command::new(&cargo);
        command.args(["test", "--locked", "--color", "never", "--package", &suite.package]);
        // With the features of every other build (xtask/src/features.rs).
        command.args(["--package", "grove-dev"]);
        match &suite.file {
            None => command.arg("--lib"),
            Some(file) => command.args(["--test", file]),
        };
        command.current_dir(&scratch.tree).env("CARGO_TARGET_DIR", &scratch.build);
        let (variable, value) = scratch::APART;
        command.env(variable, value);
        command
    };
    // Built first, because only what runs has a limit. What cannot be built is told by the second command.
    cargo_test().arg("--no-run").output().map_err(|it| cannot_run(&it))?;
    let mut command = cargo_test();
    command.args(["--", "--exact"]).args(tests);
    let Some(output) = output_within(LIMIT, command)? else {
        return Ok(vec![Verdict::Endless; tests.len()]);
    };
    let (said, trouble) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok(tests.iter().map(|it| verdict(it, &said, &trouble)).collect())
}

/// Nothing where the command did not end in time. It is killed then, with everything that it started.
fn output_within(limit: Duration, mut command: Command) -> Result<Option<Output>, String> {
    // In a process group of its own, or the tests would outlive cargo.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|it| cannot_run(&it))?;
    let group = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    if let Ok(output) = receiver.recv_timeout(limit) {
        return output.map(Some).map_err(|it| cannot_run(&it));
    }
    let status = Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
    status.map_err(|error| format!("cannot end tests that run for ever: {error}"))?;
    Ok(None)
}

fn cannot_run(error: &std::io::Error) -> String {
    format!("cannot run cargo test: {error}")
}

fn verdict(test: &str, said: &str, trouble: &str) -> Verdict {
    let result = said.lines().find_map(|it| {
        let (name, result) = it.strip_prefix("test ")?.rsplit_once(" ... ")?;
        (name.trim_end_matches(" - should panic") == test).then_some(result)
    });
    match result {
        Some("ok") => Verdict::Passed,
        Some("FAILED") => Verdict::Failed,
        Some(other) => Verdict::Absent(format!("it was {other}")),
        None => {
            let errors: Vec<&str> = trouble.lines().filter(|it| it.starts_with("error")).take(2).collect();
            let words =
                if errors.is_empty() { "there is no such test".to_owned() } else { errors.join("; ") };
            Verdict::Absent(words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_from_what_is_printed() {
        let said = "\nrunning 3 tests\ntest a::one ... ok\ntest a::two ... FAILED\ntest a::three ... ignored\n\
                    test a::four - should panic ... ok\n\nfailures:\n";
        let of = |test: &str| verdict(test, said, "   Compiling p\nerror: test failed\n");
        assert_eq!(of("a::one"), Verdict::Passed);
        assert_eq!(of("a::two"), Verdict::Failed);
        assert_eq!(of("a::three"), Verdict::Absent("it was ignored".to_owned()));
        assert_eq!(of("a::four"), Verdict::Passed);
        assert_eq!(of("one"), Verdict::Absent("error: test failed".to_owned()));
    }

    #[test]
    fn what_does_not_end_is_killed_with_what_it_started() {
        let limit = Duration::from_millis(10);
        let mut command = Command::new("sh");
        // The pipe stays open for as long as either lives, so that the thread that reads it would not end.
        command.args(["-c", "sleep 1000 & sleep 1000"]);
        assert_eq!(output_within(limit, command), Ok(None));
        let mut command = Command::new("sh");
        command.args(["-c", "echo one"]);
        let output = output_within(LIMIT, command).unwrap().unwrap();
        assert_eq!(output.stdout, b"one\n");
    }

    /// What cannot be built says nothing of a test.
    #[test]
    fn what_cannot_be_built_has_no_verdict() {
        let trouble = "error[E0308]: mismatched types\n  --> src/a.rs\nerror: could not compile `p`\n";
        let want = "error[E0308]: mismatched types; error: could not compile `p`";
        assert_eq!(verdict("a", "", trouble), Verdict::Absent(want.to_owned()));
        assert_eq!(verdict("a", "", ""), Verdict::Absent("there is no such test".to_owned()));
    }
}
