//! Prints what is shown once, or whenever it changes.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::findings::Format;

/// Moves to the upper left corner of a terminal and empties it.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// What was printed, and how.
pub(crate) struct Printer {
    format: Format,
    /// Whether it is printed again and again.
    follows: bool,
    /// What was printed last; the same is not printed again.
    last: String,
}

impl Printer {
    pub(crate) fn new(format: Format, follows: bool) -> Self {
        Self { format, follows, last: String::new() }
    }

    /// Prints `value`, which is `text` for people.
    pub(crate) fn print(&mut self, value: &impl Serialize, text: impl FnOnce() -> String) -> io::Result<()> {
        let json = |value: serde_json::Result<String>| value.map_err(io::Error::other);
        let text = match self.format {
            Format::Json if self.follows => format!("{}\n", json(serde_json::to_string(value))?),
            Format::Json => format!("{}\n", json(serde_json::to_string_pretty(value))?),
            Format::Text => text(),
        };
        if text == self.last {
            return Ok(());
        }
        let is_first = self.last.is_empty();
        self.last = text;
        // anstream drops the colours where nobody would see them, and obeys NO_COLOR.
        let is_terminal = io::stdout().is_terminal();
        let mut out = anstream::stdout().lock();
        match (self.follows, self.format) {
            (true, Format::Text) if is_terminal => io::stdout().write_all(CLEAR.as_bytes())?,
            (true, Format::Text) if !is_first => writeln!(out)?,
            _ => {}
        }
        write!(out, "{}", self.last)?;
        out.flush()
    }
}
