//! What was found, for people and for machines.

use std::io::{self, Write};

use clap::ValueEnum;
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::cli::Outcome;

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object.
    Json,
}

/// Something about one line of the input.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) severity: Severity,
    /// Field, where the input could be read at all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
    /// Kind of a field error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<grove_api::field::ErrorKind>,
    pub(crate) message: String,
    #[serde(skip)]
    pub(crate) source: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    Error,
    Warning,
}

/// All that a run found.
#[derive(Default, Serialize)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    /// Objects that were checked.
    pub(crate) checked: usize,
    /// Objects of other kinds, by file, line and kind.
    pub(crate) skipped: Vec<Skipped>,
    /// Whether an input could not be read as YAML at all.
    #[serde(skip)]
    pub(crate) unusable: bool,
}

#[derive(Serialize)]
pub(crate) struct Skipped {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) kind: String,
}

impl Report {
    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.severity == severity).count()
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match (self.unusable, self.count(Severity::Error)) {
            (true, _) => Outcome::Unusable,
            (false, 0) => Outcome::Success,
            (false, _) => Outcome::Findings,
        }
    }

    pub(crate) fn print(&self, format: Format) -> io::Result<Outcome> {
        let printed = match format {
            Format::Json => {
                let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
                writeln!(io::stdout(), "{text}")
            }
            Format::Text => self.print_text(),
        };
        match printed {
            // Whoever reads us has read enough; what was found is still found.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(self.outcome()),
            other => other.map(|()| self.outcome()),
        }
    }

    /// Prints what was found beside an output that is something else.
    pub(crate) fn print_aside(&self) -> io::Result<()> {
        self.print_lines(&mut anstream::stderr().lock())
    }

    fn print_text(&self) -> io::Result<()> {
        // anstream drops the colours where nobody would see them, and obeys NO_COLOR.
        self.print_lines(&mut anstream::stdout().lock())?;
        let mut out = anstream::stderr().lock();
        for it in &self.skipped {
            writeln!(
                out,
                "note: {}:{}: {} is not a Grove kind and was not checked",
                it.file, it.line, it.kind
            )?;
        }
        let plural =
            |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        writeln!(
            out,
            "{} checked: {}, {}",
            plural(self.checked, "object"),
            plural(self.count(Severity::Error), "error"),
            plural(self.count(Severity::Warning), "warning"),
        )
    }

    fn print_lines(&self, out: &mut impl Write) -> io::Result<()> {
        for it in &self.findings {
            write!(out, "{}", format!("{}:{}:", it.file, it.line).bold())?;
            if it.severity == Severity::Warning {
                write!(out, " {}", "warning:".yellow())?;
            }
            if !it.path.is_empty() {
                write!(out, " {}:", it.path.cyan())?;
            }
            match it.severity {
                Severity::Error => writeln!(out, " {}", it.message.red())?,
                Severity::Warning => writeln!(out, " {}", it.message)?,
            }
            if !it.source.trim().is_empty() {
                writeln!(out, "{}", format!("{:>6} | {}", it.line, it.source).dimmed())?;
            }
        }
        Ok(())
    }
}

/// Keeps the text of a source line short enough for a terminal.
pub(crate) fn source_line(text: &str, line: usize) -> String {
    const MAX: usize = 160;
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    match line.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
