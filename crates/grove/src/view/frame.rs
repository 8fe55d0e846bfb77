//! Where everything goes on a screen of any size.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{
    gangs,
    look::Look,
    model::{Scene, StoryLine, clean},
    racks,
};

/// From this width on, gangs and story stand beside the racks.
const WIDE: u16 = 100;
/// Below this, only the story and a summary are shown.
const SMALLEST: (u16, u16) = (30, 8);
/// Lines that the story has at least, where there is room for anything.
const STORY: u16 = 4;

/// How far the racks are scrolled down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scroll {
    lines: usize,
}

impl Scroll {
    /// Scrolls by so many lines, which may be negative.
    pub fn by(&mut self, lines: isize) {
        self.lines = self.lines.saturating_add_signed(lines);
    }
}

/// Draws a scene. `scroll` is put back where it leads beyond the end.
pub fn draw(frame: &mut Frame<'_>, scene: &Scene, look: Look, scroll: &mut Scroll) {
    let area = frame.area();
    let Rect { width, height, .. } = area;
    if width == 0 || height == 0 {
        return;
    }
    let line = |y: u16| Rect { y: area.y.saturating_add(y), height: 1, ..area };
    frame.render_widget(title(scene, usize::from(width)), line(0));
    if height == 1 {
        return;
    }
    frame.render_widget(help(scene, width), line(height - 1));
    let below = advice(scene, height);
    let body = Rect { y: area.y.saturating_add(1), height: height - 2 - lines_of(below.len()), ..area };
    let advised = Rect { y: body.y.saturating_add(body.height), height: lines_of(below.len()), ..area };
    frame.render_widget(Paragraph::new(below), advised);
    if (width, height) < SMALLEST || height < SMALLEST.1 {
        story(frame, scene, look, body);
    } else if width >= WIDE {
        let left = width / 2;
        let racks = Rect { width: left - 1, ..body };
        let right = Rect { x: body.x.saturating_add(left), width: width - left, ..body };
        self::racks(frame, scene, look, racks, scroll);
        gangs_and_story(frame, scene, look, right);
    } else {
        // Racks first, but never so that nothing else is seen.
        let wanted = racks::lines(scene, usize::from(width), look).len();
        let most = body.height.saturating_sub(STORY) / 2;
        let racks = Rect { height: lines_of(wanted).min(most), ..body };
        let below =
            Rect { y: body.y.saturating_add(racks.height), height: body.height - racks.height, ..body };
        self::racks(frame, scene, look, racks, scroll);
        gangs_and_story(frame, scene, look, below);
    }
}

/// What this is, cut where it leaves the counts no room.
fn title(scene: &Scene, width: usize) -> Line<'static> {
    const SHORTEST: usize = 8;
    let (ready, all) = scene.ready();
    let lost = scene.nodes.iter().filter(|it| !it.ready).count();
    let lost = if lost > 0 { format!(", {lost} lost") } else { String::new() };
    let counts = format!("   {ready} of {all} pods ready, {} nodes{lost}", scene.nodes.len());
    let room = width.saturating_sub(counts.len()).max(SHORTEST);
    let mut title = clean(&scene.title);
    if title.chars().count() > room {
        title = title.chars().take(room - 1).chain(['…']).collect();
    }
    Line::from(vec![Span::styled(title, Look::bold()), Span::raw(counts)])
}

/// After an empty line, and only as a whole: half of it helps nobody.
fn advice(scene: &Scene, height: u16) -> Vec<Line<'static>> {
    let lines = lines_of(scene.advice.len()).saturating_add(1);
    if scene.advice.is_empty() || height < SMALLEST.1.saturating_add(lines) {
        return Vec::new();
    }
    std::iter::once(Line::default()).chain(scene.advice.iter().map(|it| Line::from(clean(it)))).collect()
}

/// `q quit   ↑↓ scroll   l lost node`; what has no room is left out.
fn help(scene: &Scene, width: u16) -> Line<'static> {
    let own = [("q", "quit"), ("↑↓", "scroll")].map(|(key, what)| (key.to_owned(), what.to_owned()));
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut left = usize::from(width);
    for (key, what) in own.iter().chain(&scene.keys) {
        let (key, what) = (Span::styled(clean(key), Look::bold()), Span::raw(format!(" {}   ", clean(what))));
        let Some(rest) = left.checked_sub(key.width() + what.width().saturating_sub(3)) else { break };
        left = rest.saturating_sub(3);
        spans.extend([key, what]);
    }
    Line::from(spans)
}

fn racks(frame: &mut Frame<'_>, scene: &Scene, look: Look, area: Rect, scroll: &mut Scroll) {
    let lines = racks::lines(scene, usize::from(area.width), look);
    scroll.lines = scroll.lines.min(lines.len().saturating_sub(usize::from(area.height)));
    let above = scroll.lines;
    show(frame, lines.into_iter().skip(above).collect(), area);
}

/// Gangs above, and at the end of the story what happened last.
fn gangs_and_story(frame: &mut Frame<'_>, scene: &Scene, look: Look, area: Rect) {
    let lines = gangs::lines(scene, look);
    let most = area.height.saturating_sub(STORY);
    let above = Rect { height: lines_of(lines.len()).min(most), ..area };
    show(frame, lines, above);
    let below = Rect {
        y: area.y.saturating_add(above.height).saturating_add(1),
        height: area.height.saturating_sub(above.height).saturating_sub(1),
        ..area
    };
    story(frame, scene, look, below);
}

/// The last lines that have room; a long one is continued below.
fn story(frame: &mut Frame<'_>, scene: &Scene, look: Look, area: Rect) {
    let mut lines: Vec<Line<'static>> = Vec::new();
    let room = usize::from(area.height);
    for it in scene.story.iter().rev() {
        if lines.len() >= room {
            break;
        }
        let parts = folded(it, usize::from(area.width));
        lines.extend(parts.into_iter().rev().map(|text| Line::from(Span::styled(text, look.tone(it.tone)))));
    }
    lines.truncate(room);
    lines.reverse();
    frame.render_widget(Paragraph::new(lines), area);
}

/// A story line in lines of so many characters, broken at blanks; those below are indented.
fn folded(line: &StoryLine, width: usize) -> Vec<String> {
    const INDENT: usize = 10;
    let text = line.text();
    let mut lines: Vec<String> = Vec::new();
    let mut now = String::new();
    for word in text.split_inclusive(' ') {
        let is_full = now.chars().count() + word.trim_end().chars().count() > width;
        if is_full && now.chars().count() > INDENT && width > 2 * INDENT {
            lines.push(std::mem::replace(&mut now, " ".repeat(INDENT)));
        }
        now.push_str(word);
    }
    lines.push(now);
    lines
}

/// The first lines; the last one says how many more there are.
fn show(frame: &mut Frame<'_>, mut lines: Vec<Line<'static>>, area: Rect) {
    let room = usize::from(area.height);
    let more = (lines.len() + 1).saturating_sub(room);
    if lines.len() > room && room > 0 {
        lines.truncate(room - 1);
        lines.push(Line::from(Span::styled(format!("  … {more} more lines"), Look::dim())));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn lines_of(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
