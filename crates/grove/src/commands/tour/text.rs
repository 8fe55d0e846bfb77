//! What is printed during the tour, on a terminal and elsewhere.

use std::{
    io::{self, IsTerminal as _},
    path::Path,
};

use owo_colors::OwoColorize;
use ratatui::crossterm::terminal;

use crate::{
    columns,
    tour::Said,
    view::{StoryLine, Tone},
};

/// Width where there is no terminal, and the most that reads well.
const WIDTH: usize = 100;
/// Longest text; the scheduler's words are part of one.
const MAX_CHARACTERS: usize = 2_000;
const INDENT: &str = "  ";

/// Makes text of what is said. Colours are removed when it is printed, where they are of no use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    width: usize,
}

impl Text {
    /// As wide as the terminal.
    pub(super) fn of_terminal() -> Self {
        let columns = terminal::size().ok().filter(|_| io::stdout().is_terminal());
        Self { width: columns.map_or(WIDTH, |it| usize::from(it.0).min(WIDTH)) }
    }

    /// `[2/6] A gang waits`, and what is about to happen and has happened, indented.
    pub(super) fn said(self, said: &Said) -> String {
        match said {
            Said::Title { number, of, title } => {
                format!("\n{}\n", format!("[{number}/{of}] {title}").bold())
            }
            Said::Intro(text) => format!("{}\n\n", self.folded(text)),
            Said::Outcome(text) => format!("\n{}\n", self.folded(text)),
        }
    }

    /// `   4.8 s  gang chat-0 is scheduled`
    pub(super) fn event(line: &StoryLine) -> String {
        let text = columns::cut(&line.text(), MAX_CHARACTERS);
        match line.tone {
            Tone::Plain => format!("{}\n", text.dimmed()),
            Tone::Good => format!("{}\n", text.green()),
            Tone::Bad => format!("{}\n", text.red()),
            Tone::Note => format!("{}\n", text.cyan()),
        }
    }

    pub(super) fn progress(sentence: &str) -> String {
        format!("{}\n", sentence.dimmed())
    }

    pub(super) fn look_around(kubeconfig: &Path) -> String {
        let hint = format!("to look around: kubectl --kubeconfig {} get pods -w", kubeconfig.display());
        format!("{}\n", hint.dimmed())
    }

    pub(super) fn end() -> String {
        format!("\nThe tour is complete. A cluster to try things yourself: {}\n", "grove up".bold())
    }

    /// Indented lines of this width, broken at blanks.
    fn folded(self, text: &str) -> String {
        let text = columns::cut(text, MAX_CHARACTERS);
        let mut lines = vec![INDENT.to_owned()];
        for word in text.split_whitespace() {
            let Some(line) = lines.last_mut() else { break };
            let is_empty = line.len() == INDENT.len();
            if is_empty || line.chars().count() + 1 + word.chars().count() <= self.width {
                line.push_str(if is_empty { "" } else { " " });
                line.push_str(word);
            } else {
                lines.push(format!("{INDENT}{word}"));
            }
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// As it is where there are no colours.
    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn what_is_said_fits_the_terminal() {
        let text = Text { width: 20 };
        let rows = [
            (Said::Title { number: 2, of: 6, title: "A gang waits" }, "\n[2/6] A gang waits\n"),
            (Said::Intro("The training job ends."), "  The training job\n  ends.\n\n"),
            (Said::Outcome("x\x1b[2J\ny".to_owned()), "\n  x [2J y\n"),
            (
                Said::Outcome("averyveryverylongwordindeed a".to_owned()),
                "\n  averyveryverylongwordindeed\n  a\n",
            ),
        ];
        for (said, want) in rows {
            assert_eq!(plain(&text.said(&said)), want, "{said:?}");
        }
    }

    #[test]
    fn events_have_their_time() {
        let line = StoryLine {
            at: Duration::from_millis(4_800),
            text: "gang chat-0 is scheduled".to_owned(),
            tone: Tone::Good,
        };
        let text = Text::event(&line);
        assert!(text.contains("\x1b["), "{text:?}");
        assert_eq!(plain(&text), "   4.8 s  gang chat-0 is scheduled\n");
    }
}
