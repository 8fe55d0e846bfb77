//! Checks over the workspace itself, run by `make lint` as `xtask tidy`.
//!
//! Each check is a pure function from what it reads (`cargo metadata`, `deny.toml`, the tracked files) to
//! findings. Here are only the arguments, the reading and the output. `guards` is more than a check, and takes minutes:
//! `make guards` runs it.

mod bans;
mod deps;
mod features;
mod finding;
#[cfg(test)]
mod fixture;
mod guards;
mod layers;
mod licences;
mod metadata;
mod named_tests;
mod policy;
#[cfg(test)]
mod profiles;
mod sizes;
mod spdx;
mod tracked;
mod unsafe_code;
mod words;

use std::cell::OnceCell;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use finding::Finding;
use guards::Selection;
use metadata::Metadata;
use policy::Policy;
use tracked::TextFile;

const USAGE: &str = "\
Checks over the workspace itself.

Usage: cargo run -q -p xtask -- <command>

Commands:
  deps   dependencies between workspace crates are those of the crate table
  deny   licences and crates are those that deny.toml allows
  sizes  no Rust file is too long to read
  words  no tracked file names a path of somebody's machine
  features  every development build selects the same features, so that no crate is compiled twice
  guard-table  the table of guards fits the sources and docs/guards.md
  named-tests  tests and scenarios that the documentation names exist
  unsafe-code  no crate can contain unsafe code
  tidy   all of these

  guards [TEXT]  take each guard away (or those with TEXT in their title) in a copy, and see its test fail
         --changed N  only those in files that the last N commits changed
         --minutes N  begin no other after that time
  guard-page     write the table of docs/guards.md

Exit code: 0 if all is well, 1 if there are findings or a check could not run, 2 if called wrongly.
";

/// One check, in the order in which `tidy` runs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Deps,
    Deny,
    Sizes,
    Words,
    Features,
    GuardTable,
    NamedTests,
    UnsafeCode,
}

impl Check {
    const ALL: &[Self] = &[
        Self::Deps,
        Self::Deny,
        Self::Sizes,
        Self::Words,
        Self::Features,
        Self::GuardTable,
        Self::NamedTests,
        Self::UnsafeCode,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Deps => "deps",
            Self::Deny => "deny",
            Self::Sizes => "sizes",
            Self::Words => "words",
            Self::Features => "features",
            Self::GuardTable => "guard-table",
            Self::NamedTests => "named-tests",
            Self::UnsafeCode => "unsafe-code",
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Run(Vec<Check>),
    /// Take guards away.
    Guards(Selection),
    GuardPage,
    Help,
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let command = match arguments {
        [command, more @ ..] if command == "guards" => return Selection::parse(more).map(Request::Guards),
        [command] => command,
        other => return Err(format!("expected one command, got {}", other.len())),
    };
    match command.as_str() {
        "guard-page" => Ok(Request::GuardPage),
        "tidy" => Ok(Request::Run(Check::ALL.to_vec())),
        "help" | "-h" | "--help" => Ok(Request::Help),
        name => match Check::ALL.iter().find(|check| check.name() == name) {
            Some(check) => Ok(Request::Run(vec![*check])),
            None => Err(format!("unknown command `{name}`")),
        },
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    match parse(&arguments) {
        Ok(Request::Help) => {
            say(USAGE.trim_end());
            ExitCode::SUCCESS
        }
        Ok(Request::Run(checks)) => run(&checks),
        Ok(Request::Guards(selection)) => {
            let root = Workspace::new().root;
            let target = guards::target(&root);
            ended("guards", target.and_then(|it| guards::run(&root, &it, &selection, say)))
        }
        Ok(Request::GuardPage) => {
            ended("guard-page", guards::write_page(&Workspace::new().root).map(|()| true))
        }
        Err(error) => {
            complain(&format!("xtask: {error}\n\n{}", USAGE.trim_end()));
            ExitCode::from(2)
        }
    }
}

/// How a command that is no check ends.
fn ended(name: &str, result: Result<bool, String>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            complain(&format!("xtask: {name} could not run: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs every check, also after one that fails, and prints what they find.
fn run(checks: &[Check]) -> ExitCode {
    let workspace = Workspace::new();
    let (mut found, mut broken) = (0_usize, 0_usize);
    for check in checks {
        match workspace.run(*check) {
            Ok(findings) => {
                found += findings.len();
                for finding in findings {
                    say(&finding.to_string());
                }
            }
            Err(error) => {
                broken += 1;
                complain(&format!("xtask: {} could not run: {error}", check.name()));
            }
        }
    }
    let names: Vec<_> = checks.iter().map(|check| check.name()).collect();
    let names = names.join(", ");
    if found == 0 && broken == 0 {
        say(&format!("xtask: {names}: no findings"));
        ExitCode::SUCCESS
    } else {
        say(&format!("xtask: {names}: {found} finding(s), {broken} check(s) could not run"));
        ExitCode::FAILURE
    }
}

/// What the checks read, each thing at most once.
struct Workspace {
    root: PathBuf,
    metadata: OnceCell<Result<Metadata, String>>,
    files: OnceCell<Result<Vec<TextFile>, String>>,
}

impl Workspace {
    /// The workspace whose cargo runs this program, or the one in the current directory.
    fn new() -> Self {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root =
            manifest.and_then(|it| it.parent().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."));
        Self { root, metadata: OnceCell::new(), files: OnceCell::new() }
    }

    fn run(&self, check: Check) -> Result<Vec<Finding>, String> {
        match check {
            Check::Deps => Ok(deps::check(self.metadata()?, layers::TABLE)),
            Check::Deny => {
                let text = fs::read_to_string(self.root.join("deny.toml"))
                    .map_err(|error| format!("cannot read deny.toml: {error}"))?;
                let policy = Policy::parse(&text)?;
                let mut findings = licences::check(self.metadata()?, &policy);
                findings.extend(bans::check(self.metadata()?, &policy));
                Ok(findings)
            }
            Check::Sizes => {
                let report = sizes::check(self.files()?, sizes::EXEMPT);
                for warning in report.warnings {
                    complain(&format!("warning: {warning}"));
                }
                Ok(report.findings)
            }
            Check::Words => Ok(words::check(self.files()?)),
            Check::Features => features::check(&self.root),
            Check::GuardTable => guards::check(&self.root, self.files()?),
            Check::NamedTests => Ok(named_tests::check(self.files()?)),
            Check::UnsafeCode => unsafe_code::check(self.files()?),
        }
    }

    fn metadata(&self) -> Result<&Metadata, String> {
        self.metadata.get_or_init(|| Metadata::load(&self.root)).as_ref().map_err(Clone::clone)
    }

    fn files(&self) -> Result<&[TextFile], String> {
        let files = self.files.get_or_init(|| tracked::load(&self.root)).as_ref();
        files.map(Vec::as_slice).map_err(Clone::clone)
    }
}

/// Prints to stdout. A reader that has gone away (`| head`) is not our failure, so errors are ignored.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints to stderr.
fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Request, String> {
        parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn commands() {
        assert_eq!(parsed(&["deps"]), Ok(Request::Run(vec![Check::Deps])));
        assert_eq!(parsed(&["tidy"]), Ok(Request::Run(Check::ALL.to_vec())));
        assert_eq!(parsed(&["--help"]), Ok(Request::Help));
        assert_eq!(parsed(&[]), Err("expected one command, got 0".to_owned()));
        assert_eq!(parsed(&["deps", "deny"]), Err("expected one command, got 2".to_owned()));
        assert_eq!(parsed(&["guards"]), Ok(Request::Guards(Selection::default())));
        let updates = Selection { only: "updates".to_owned(), ..Selection::default() };
        assert_eq!(parsed(&["guards", "updates"]), Ok(Request::Guards(updates)));
        assert_eq!(parsed(&["guard-page"]), Ok(Request::GuardPage));
        assert_eq!(parsed(&["dep"]), Err("unknown command `dep`".to_owned()));
    }

    #[test]
    fn usage_names_every_command() {
        for check in Check::ALL {
            assert!(USAGE.contains(&format!("\n  {} ", check.name())), "{}", check.name());
        }
    }
}
