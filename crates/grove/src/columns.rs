//! Columns as kubectl prints them, with colours.

use std::fmt::Write as _;

use owo_colors::OwoColorize;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Waiting,
    Bad,
}

/// One line, and not too long a one: others wrote it.
pub(crate) fn cut(text: &str, max: usize) -> String {
    let clean: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    match clean.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

/// Adds a line to a text.
pub(crate) fn line(out: &mut String, text: &str) {
    // Writing into a string does not fail.
    let _ = writeln!(out, "{}", text.trim_end());
}

pub(crate) fn paint(text: &str, tone: Tone) -> String {
    match tone {
        Tone::Good => text.green().to_string(),
        Tone::Waiting => text.yellow().to_string(),
        Tone::Bad => text.red().to_string(),
    }
}

/// A table.
pub(crate) struct Table {
    head: Vec<&'static str>,
    /// The column that has the colour.
    coloured: usize,
    rows: Vec<Row>,
}

enum Row {
    Cells(Tone, Vec<String>),
    Below(String),
}

impl Table {
    pub(crate) fn new(head: &[&'static str], coloured: usize) -> Self {
        Self { head: head.to_vec(), coloured, rows: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn row<const COLUMNS: usize>(&mut self, tone: Tone, cells: [String; COLUMNS]) {
        self.rows.push(Row::Cells(tone, Vec::from(cells)));
    }

    /// A line that belongs to the row above it.
    pub(crate) fn below(&mut self, text: &str) {
        self.rows.push(Row::Below(text.to_owned()));
    }

    /// The text, without the first `skip` columns.
    pub(crate) fn text(&self, skip: usize) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| match row {
                Row::Cells(_, cells) => cells.get(column).map(|it| it.chars().count()),
                Row::Below(_) => None,
            });
            cells.chain([self.head[column].len()]).max().unwrap_or_default()
        };
        let last = self.head.len().saturating_sub(1);
        // It stands behind the colour, so that a line can end with its text.
        let padding = |column: usize, text: &str| {
            let wide = if column == last { 0 } else { width(column) + 3 };
            " ".repeat(wide.saturating_sub(text.chars().count()))
        };
        let mut out = String::new();
        let head: String =
            (skip..=last).map(|it| self.head[it].to_owned() + &padding(it, self.head[it])).collect();
        line(&mut out, &head.trim_end().dimmed().to_string());
        for row in &self.rows {
            match row {
                Row::Below(text) => line(&mut out, &format!("    {text}")),
                Row::Cells(tone, cells) => {
                    let cell = |column: usize| {
                        let text = &cells[column];
                        let padding = padding(column, text);
                        let text = if column == self.coloured { &paint(text, *tone) } else { text };
                        format!("{text}{padding}")
                    };
                    line(&mut out, &(skip..=last).map(cell).collect::<String>());
                }
            }
        }
        out
    }
}
