//! Runs tests by cargo and tells what came of each.

use std::env;
use std::process::Command;

use super::scratch::{self, Scratch};
use super::table::Suite;

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    /// It did not run: there is no such test, or nothing that can be built. The words of cargo.
    Absent(String),
}

/// Runs tests of one suite, and nothing else of it.
pub(crate) fn run(scratch: &Scratch, suite: &Suite, tests: &[&str]) -> Result<Vec<Verdict>, String> {
    // Cargo names itself to the programs that it runs, which keeps the toolchain the same.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--locked", "--color", "never", "--package", &suite.package]);
    // With the features of every other build (xtask/src/features.rs).
    command.args(["--package", "grove-dev"]);
    match &suite.file {
        None => command.arg("--lib"),
        Some(file) => command.args(["--test", file]),
    };
    command.args(["--", "--exact"]).args(tests);
    command.current_dir(&scratch.tree).env("CARGO_TARGET_DIR", &scratch.build);
    let (variable, value) = scratch::APART;
    command.env(variable, value);
    let output = command.output().map_err(|error| format!("cannot run cargo test: {error}"))?;
    let (said, trouble) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok(tests.iter().map(|it| verdict(it, &said, &trouble)).collect())
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

    /// What cannot be built says nothing of a test.
    #[test]
    fn what_cannot_be_built_has_no_verdict() {
        let trouble = "error[E0308]: mismatched types\n  --> src/a.rs\nerror: could not compile `p`\n";
        let want = "error[E0308]: mismatched types; error: could not compile `p`";
        assert_eq!(verdict("a", "", trouble), Verdict::Absent(want.to_owned()));
        assert_eq!(verdict("a", "", ""), Verdict::Absent("there is no such test".to_owned()));
    }
}
