//! What is asked for on the command line. The flags are upstream's, and one of ours.

use std::{error, fmt, num::NonZeroU32, path::PathBuf};

/// Where the operator mounts the file.
const FILE: &str = "/var/grove/pod-info/parents-ready";

/// The text of `--help`.
pub const HELP: &str = "\
Waits until Grove's operator says that the pod may start: until a file is not empty.

Usage: grove-initc [OPTIONS]

Options:
  -p, --podcliques <NAME:MIN>  A PodClique that has to have so many ready pods first; may be given again
      --file <PATH>            The file [default: /var/grove/pod-info/parents-ready]
  -h, --help                   Print help
  -V, --version                Print version

Exit codes: 0 the pod may start, 1 wrong arguments or ended by a signal.
";

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Wait for these, as `file` says.
    Wait {
        /// What has to be ready first.
        parents: Vec<Parent>,
        /// Where it is read that they are.
        file: PathBuf,
    },
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// A clique that has to be ready first. The operator sees to it; here it is only told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Name of the PodClique.
    pub name: String,
    /// Pods of it that have to be ready.
    pub minimum: NonZeroU32,
}

impl fmt::Display for Parent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (at least {} ready)", self.name, self.minimum)
    }
}

/// Why the arguments cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Not a flag.
    Unknown(String),
    /// A flag whose value is missing.
    NoValue(String),
    /// A value that names no PodClique and minimum.
    NotAParent(String),
}

impl fmt::Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(it) => write!(formatter, "unknown argument {it:?}; see --help"),
            Self::NoValue(it) => write!(formatter, "{it} needs a value"),
            Self::NotAParent(it) => {
                write!(formatter, "--podcliques {it:?}: has to be NAME:MIN with a MIN of 1 or more")
            }
        }
    }
}

impl error::Error for Wrong {}

/// Reads the arguments.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Arguments, Wrong> {
    let mut arguments = arguments.into_iter();
    let (mut parents, mut file) = (Vec::new(), PathBuf::from(FILE));
    while let Some(argument) = arguments.next() {
        let (flag, attached) = split(&argument);
        let value = |arguments: &mut dyn Iterator<Item = String>| {
            let value = attached.map(str::to_owned).or_else(|| arguments.next());
            value.ok_or_else(|| Wrong::NoValue(flag.to_owned()))
        };
        match flag {
            "--podcliques" | "-p" => parents.extend(parent(&value(&mut arguments)?)?),
            "--file" => file = PathBuf::from(value(&mut arguments)?),
            "--help" | "-h" if attached.is_none() => return Ok(Arguments::Help),
            "--version" | "-V" if attached.is_none() => return Ok(Arguments::Version),
            _ => return Err(Wrong::Unknown(argument)),
        }
    }
    Ok(Arguments::Wait { parents, file })
}

/// A flag and the value that is attached to it: `--flag=value`, `-f=value`, `-fvalue`.
fn split(argument: &str) -> (&str, Option<&str>) {
    if argument.starts_with("--") {
        return argument.split_once('=').map_or((argument, None), |(flag, value)| (flag, Some(value)));
    }
    match argument.split_at_checked(2) {
        Some((flag, rest)) if flag.starts_with('-') && !rest.is_empty() => {
            (flag, Some(rest.strip_prefix('=').unwrap_or(rest)))
        }
        _ => (argument, None),
    }
}

/// A blank value asks for nothing.
fn parent(text: &str) -> Result<Option<Parent>, Wrong> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(None);
    }
    let parent = trimmed.split_once(':').and_then(|(name, minimum)| {
        let (name, minimum) = (name.trim(), minimum.trim().parse().ok()?);
        (!name.is_empty()).then(|| Parent { name: name.to_owned(), minimum })
    });
    parent.map(Some).ok_or_else(|| Wrong::NotAParent(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Arguments, Wrong> {
        parse(text.split('|').filter(|it| !it.is_empty()).map(str::to_owned))
    }

    /// Parents as `name:minimum`, and the file.
    fn waits(text: &str) -> (String, String) {
        let Ok(Arguments::Wait { parents, file }) = parsed(text) else { panic!("{text}") };
        let parents: Vec<String> = parents.iter().map(|it| format!("{}:{}", it.name, it.minimum)).collect();
        (parents.join(" "), file.display().to_string())
    }

    #[test]
    fn parents_in_every_form() {
        let rows = [
            ("", ""),
            ("--podcliques=inf-0-a:2", "inf-0-a:2"),
            ("--podcliques|inf-0-a:2", "inf-0-a:2"),
            ("-p|a:1|-pb:2|-p=c:3", "a:1 b:2 c:3"),
            ("--podcliques= a : 1 ", "a:1"),
            // Blank ones ask for nothing.
            ("--podcliques=|-p|  |--podcliques=a:1", "a:1"),
            ("--podcliques=a:4294967295", "a:4294967295"),
        ];
        for (text, want) in rows {
            assert_eq!(waits(text).0, want, "{text}");
        }
    }

    #[test]
    fn the_file_has_a_default() {
        assert_eq!(waits("").1, FILE);
        assert_eq!(waits("--file=/x/y").1, "/x/y");
        assert_eq!(waits("--file|/x/y|-p|a:1"), ("a:1".to_owned(), "/x/y".to_owned()));
        assert!(HELP.contains(FILE));
    }

    #[test]
    fn wrong_arguments_are_told() {
        let not_a_parent = |it: &str| Wrong::NotAParent(it.to_owned());
        let unknown = |it: &str| Wrong::Unknown(it.to_owned());
        let rows = [
            ("-p|a", not_a_parent("a")),
            ("-p|a:", not_a_parent("a:")),
            ("-p|:1", not_a_parent(":1")),
            ("-p|a:0", not_a_parent("a:0")),
            ("-p|a:-1", not_a_parent("a:-1")),
            ("-p|a:b:1", not_a_parent("a:b:1")),
            ("-p|a:4294967296", not_a_parent("a:4294967296")),
            ("--podcliques", Wrong::NoValue("--podcliques".to_owned())),
            ("--file", Wrong::NoValue("--file".to_owned())),
            ("--help=1", unknown("--help=1")),
            ("--podclique=a:1", unknown("--podclique=a:1")),
            ("-x", unknown("-x")),
            ("-é", unknown("-é")),
            ("a:1", unknown("a:1")),
        ];
        for (text, want) in rows {
            assert_eq!(parsed(text), Err(want), "{text}");
        }
    }

    #[test]
    fn help_and_version() {
        for (text, want) in [("-h", Arguments::Help), ("-V", Arguments::Version)] {
            assert_eq!(parsed(text), Ok(want));
        }
        assert_eq!(parsed("--help"), Ok(Arguments::Help));
        assert_eq!(parsed("--version"), Ok(Arguments::Version));
    }
}
