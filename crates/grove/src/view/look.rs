//! Colours, or none.

use ratatui::style::{Color, Modifier, Style};

use super::model::{GangState, Tone};

/// Colours of gangs, which read well on a dark and on a light background.
const GANGS: [Color; 6] =
    [Color::Cyan, Color::Magenta, Color::Yellow, Color::Green, Color::Blue, Color::LightRed];

/// How things look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether colours are used. Bold and dim text is used in any case.
    pub colours: bool,
}

impl Look {
    /// As the environment asks for: no colours where `NO_COLOR` is set and not empty, or on a dumb terminal.
    pub fn from_environment() -> Self {
        Self::of(std::env::var("NO_COLOR").ok().as_deref(), std::env::var("TERM").ok().as_deref())
    }

    fn of(no_color: Option<&str>, terminal: Option<&str>) -> Self {
        Self { colours: no_color.is_none_or(str::is_empty) && terminal != Some("dumb") }
    }

    fn colour(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    /// The gang of this number.
    pub(super) fn gang(self, number: usize) -> Style {
        self.colour(GANGS[number % GANGS.len()])
    }

    pub(super) fn state(self, state: GangState) -> Style {
        match state {
            GangState::Running => self.colour(Color::Green),
            GangState::Waiting | GangState::Starting => self.colour(Color::Yellow),
            GangState::Unhealthy => self.colour(Color::Red).add_modifier(Modifier::BOLD),
        }
    }

    pub(super) fn tone(self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::new(),
            Tone::Good => self.colour(Color::Green),
            Tone::Bad => self.bad(),
            Tone::Note => self.colour(Color::Cyan),
        }
    }

    pub(super) fn bad(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn dim() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn bold() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_used_unless_the_environment_says_no() {
        let rows = [
            (None, None, true),
            (None, Some("xterm-256color"), true),
            (Some(""), None, true),
            (Some("1"), None, false),
            (None, Some("dumb"), false),
        ];
        for (no_color, terminal, want) in rows {
            assert_eq!(Look::of(no_color, terminal).colours, want, "{no_color:?} {terminal:?}");
        }
    }

    #[test]
    fn without_colours_nothing_has_one() {
        let look = Look { colours: false };
        let styles = [look.gang(0), look.state(GangState::Unhealthy), look.tone(Tone::Good), look.bad()];
        assert!(styles.iter().all(|it| it.fg.is_none() && it.bg.is_none()));
        assert_ne!(Look { colours: true }.gang(0), Look { colours: true }.gang(1));
    }
}
