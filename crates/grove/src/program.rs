//! The name under which the user started the program: `grove`, or `kubectl grove` where kubectl found it as a plugin.

use std::{
    env,
    ffi::{OsStr, OsString},
    fmt,
    path::Path,
    sync::LazyLock,
};

use clap::{Command, CommandFactory, FromArgMatches};

use crate::cli::Cli;

const GROVE: &str = "grove";
/// kubectl runs the file `kubectl-grove` for `kubectl grove`.
const PLUGIN_FILE: &str = "kubectl-grove";
const PLUGIN: &str = "kubectl grove";

static NAME: LazyLock<&str> = LazyLock::new(|| name_of(env::args_os().next().as_deref()));

/// What the user types before a command.
pub(crate) fn name() -> &'static str {
    *NAME
}

/// Prints an error for people: a line that begins with the name of the program.
pub(crate) fn complain(text: fmt::Arguments<'_>) {
    anstream::eprintln!("{}: {text}", name());
}

/// The arguments of the process. Ends it where they are wrong, or where they ask for help.
pub(crate) fn arguments() -> Cli {
    parse(name(), env::args_os()).unwrap_or_else(|error| error.exit())
}

fn parse(name: &str, arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = command(name);
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Usage and examples show what the user can type.
fn command(name: &str) -> Command {
    let command = Cli::command();
    if name == GROVE { command } else { renamed(command, name).bin_name(name) }
}

fn renamed(command: Command, name: &str) -> Command {
    let examples =
        command.get_after_help().map(|it| it.to_string().replace("  grove ", &format!("  {name} ")));
    let command = match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    };
    command.mut_subcommands(|it| renamed(it, name))
}

/// By the name of the file that was started; on Windows it ends with `.exe`.
fn name_of(file: Option<&OsStr>) -> &'static str {
    let stem = file.and_then(|it| Path::new(it).file_stem());
    if stem == Some(OsStr::new(PLUGIN_FILE)) { PLUGIN } else { GROVE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_file() {
        let rows = [
            (Some("grove"), GROVE),
            (Some("/usr/local/bin/grove"), GROVE),
            (Some("kubectl-grove"), PLUGIN),
            (Some("bin/kubectl-grove.exe"), PLUGIN),
            (Some("kubectl-grove-old"), GROVE),
            (Some(""), GROVE),
            (None, GROVE),
        ];
        for (file, want) in rows {
            assert_eq!(name_of(file.map(OsStr::new)), want, "{file:?}");
        }
    }

    #[test]
    fn help_shows_what_can_be_typed() {
        let help = |name: &str, command: &str| {
            let arguments = ["file", command, "--help"].map(OsString::from);
            parse(name, arguments).err().map(|it| it.to_string()).unwrap_or_default()
        };
        let plugin = help(PLUGIN, "status");
        assert!(plugin.contains("Usage: kubectl grove status"), "{plugin}");
        assert!(plugin.contains("\n  kubectl grove status chat -w\n"), "{plugin}");
        assert!(help(GROVE, "status").contains("\n  grove status chat -w\n"));
    }
}
