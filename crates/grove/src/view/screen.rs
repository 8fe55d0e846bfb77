//! The terminal itself: drawing on it, and what is typed.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
};

use super::{
    frame::{Scroll, draw},
    look::Look,
    model::Scene,
};

/// Lines that a page has.
const PAGE: isize = 10;

/// An input that the program has to handle; the view scrolls by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `q`, Escape or Ctrl-C.
    Quit,
    /// Draw again: the terminal was resized, or scrolled.
    Redraw,
    /// Any other letter.
    Key(char),
}

/// A terminal that is drawn on. It is put back when this is dropped, and after a panic.
#[derive(Debug)]
pub struct Screen {
    terminal: DefaultTerminal,
    look: Look,
    scroll: Scroll,
}

impl Screen {
    /// Takes the terminal; `None` where standard input or output is none, or one that cannot be drawn on.
    pub fn open() -> io::Result<Option<Self>> {
        let is_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
        if !is_terminal || is_dumb(std::env::var("TERM").ok().as_deref()) {
            return Ok(None);
        }
        let terminal = ratatui::try_init()?;
        Ok(Some(Self { terminal, look: Look::from_environment(), scroll: Scroll::default() }))
    }

    /// Draws a scene; only what has changed is written.
    pub fn draw(&mut self, scene: &Scene) -> io::Result<()> {
        let (look, scroll) = (self.look, &mut self.scroll);
        self.terminal.draw(|frame| draw(frame, scene, look, scroll)).map(drop)
    }

    /// What was typed, after so long at most.
    pub fn input(&mut self, patience: Duration) -> io::Result<Option<Input>> {
        if !event::poll(patience)? {
            return Ok(None);
        }
        Ok(input(&event::read()?, &mut self.scroll))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that is gone.
        let _ = ratatui::try_restore();
    }
}

/// Whether a terminal of this kind only prints lines.
fn is_dumb(kind: Option<&str>) -> bool {
    kind == Some("dumb")
}

fn input(event: &Event, scroll: &mut Scroll) -> Option<Input> {
    let key = match event {
        Event::Resize(..) => return Some(Input::Redraw),
        // Some terminals tell of the release of a key, too.
        Event::Key(key) if key.kind != KeyEventKind::Release => key,
        _ => return None,
    };
    let lines = match key.code {
        KeyCode::Up => -1,
        KeyCode::Down => 1,
        KeyCode::PageUp => -PAGE,
        KeyCode::PageDown => PAGE,
        _ => return typed(key),
    };
    scroll.by(lines);
    Some(Input::Redraw)
}

fn typed(key: &KeyEvent) -> Option<Input> {
    match key.code {
        KeyCode::Esc | KeyCode::Char('q') => Some(Input::Quit),
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Input::Quit),
        KeyCode::Char(letter) if !key.modifiers.contains(KeyModifiers::CONTROL) => Some(Input::Key(letter)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(code: KeyCode, modifiers: KeyModifiers) -> Option<Input> {
        input(&Event::Key(KeyEvent::new(code, modifiers)), &mut Scroll::default())
    }

    #[test]
    fn keys_and_what_they_mean() {
        let plain = KeyModifiers::NONE;
        let rows = [
            (KeyCode::Char('q'), plain, Some(Input::Quit)),
            (KeyCode::Esc, plain, Some(Input::Quit)),
            (KeyCode::Char('c'), KeyModifiers::CONTROL, Some(Input::Quit)),
            (KeyCode::Char('c'), plain, Some(Input::Key('c'))),
            (KeyCode::Char('x'), KeyModifiers::CONTROL, None),
            (KeyCode::Tab, plain, None),
        ];
        for (code, modifiers, want) in rows {
            assert_eq!(pressed(code, modifiers), want, "{code:?} {modifiers:?}");
        }
        assert_eq!(input(&Event::Resize(1, 1), &mut Scroll::default()), Some(Input::Redraw));
        let mut release = KeyEvent::new(KeyCode::Char('q'), plain);
        release.kind = KeyEventKind::Release;
        assert_eq!(input(&Event::Key(release), &mut Scroll::default()), None);
    }

    #[test]
    fn a_dumb_terminal_is_not_drawn_on() {
        let rows = [(Some("dumb"), true), (Some("xterm-256color"), false), (None, false)];
        for (kind, want) in rows {
            assert_eq!(is_dumb(kind), want, "{kind:?}");
        }
    }

    #[test]
    fn arrows_scroll() {
        let mut scroll = Scroll::default();
        let press =
            |code, scroll: &mut Scroll| input(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)), scroll);
        assert_eq!(press(KeyCode::PageDown, &mut scroll), Some(Input::Redraw));
        press(KeyCode::Up, &mut scroll);
        let mut nine = Scroll::default();
        nine.by(9);
        assert_eq!(scroll, nine);
        press(KeyCode::PageUp, &mut scroll);
        assert_eq!(scroll, Scroll::default(), "not beyond the beginning");
    }
}
