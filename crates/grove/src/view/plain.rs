//! The story where nothing can be drawn: each line once.

use super::model::{Scene, clean};

/// What was printed already.
#[derive(Clone, Debug, Default)]
pub struct PlainLines {
    printed: usize,
}

impl PlainLines {
    /// The lines that are new since the last call.
    pub fn new_lines(&mut self, scene: &Scene) -> Vec<String> {
        let mut lines = Vec::new();
        if self.printed == 0 && !scene.title.is_empty() && !scene.story.is_empty() {
            lines.push(clean(&scene.title));
        }
        let left_out = scene.story_left_out;
        let new = scene.story.iter().skip(self.printed.saturating_sub(left_out));
        lines.extend(new.map(super::model::StoryLine::text));
        self.printed = self.printed.max(left_out + scene.story.len());
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::view::model::StoryLine;

    #[test]
    fn each_line_is_printed_once() {
        let line = |text: &str| StoryLine {
            at: Duration::from_millis(1500),
            text: text.to_owned(),
            ..StoryLine::default()
        };
        let mut scene = Scene { title: "grove up".to_owned(), ..Scene::default() };
        let mut plain = PlainLines::default();
        assert_eq!(plain.new_lines(&scene), [""; 0]);
        scene.story.push(line("a"));
        assert_eq!(plain.new_lines(&scene), ["grove up", "   1.5 s  a"]);
        assert_eq!(plain.new_lines(&scene), [""; 0]);
        scene.story.extend([line("b"), line("c")]);
        assert_eq!(plain.new_lines(&scene), ["   1.5 s  b", "   1.5 s  c"]);
        scene.story = vec![line("c"), line("d")];
        scene.story_left_out = 2;
        assert_eq!(plain.new_lines(&scene), ["   1.5 s  d"], "the oldest were left out");
    }
}
