//! What is printed, or drawn on a terminal.

use std::{
    io,
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    cli,
    follow::{Events, Snapshot},
    view::{Input, PlainLines, Scene, Screen, StoryLine, Tone, picture},
};

/// How soon a change is drawn, and a key answered.
const FRAME: Duration = Duration::from_millis(50);
/// Width of the picture where there is no terminal.
const WIDTH: usize = 100;

/// Prints lines, and draws once [`Show::open`] found a terminal.
pub(super) struct Show {
    began: Instant,
    is_plain: bool,
    scene: Scene,
    events: Events,
    lines: PlainLines,
    screen: Option<Drawing>,
    /// Cancelled where nothing can be printed any more.
    stop: CancellationToken,
    /// Why not.
    error: Option<io::Error>,
}

/// A thread that draws: it also waits for keys.
struct Drawing {
    scenes: watch::Sender<Scene>,
    thread: JoinHandle<io::Result<()>>,
}

impl Show {
    pub(super) fn new(began: Instant, is_plain: bool, stop: CancellationToken) -> Self {
        Self {
            began,
            is_plain,
            scene: Scene::default(),
            events: Events::default(),
            lines: PlainLines::default(),
            screen: None,
            stop,
            error: None,
        }
    }

    /// A line with the time since the start.
    pub(super) fn say(&mut self, text: &str) {
        let line = StoryLine { at: self.began.elapsed(), text: text.to_owned(), tone: Tone::Plain };
        if self.screen.is_none() {
            self.print(&[line.text()]);
            return;
        }
        self.events.add(line);
        self.events.fill(&mut self.scene);
        self.redraw();
    }

    /// Takes the terminal, if there is one and it may be drawn on. The advice stays on it.
    pub(super) fn open(&mut self, title: &str, advice: &[String]) -> io::Result<()> {
        if self.is_plain {
            return Ok(());
        }
        let Some(screen) = Screen::open()? else { return Ok(()) };
        self.draw_with(title, advice, |drawn| draw(screen, drawn));
        Ok(())
    }

    fn draw_with(
        &mut self,
        title: &str,
        advice: &[String],
        draw: impl FnOnce(watch::Receiver<Scene>) -> io::Result<()> + Send + 'static,
    ) {
        title.clone_into(&mut self.scene.title);
        self.scene.advice = advice.to_vec();
        let (scenes, drawn) = watch::channel(self.scene.clone());
        self.screen = Some(Drawing { scenes, thread: tokio::task::spawn_blocking(move || draw(drawn)) });
    }

    /// Shows a snapshot, and what happened since the last one.
    pub(super) fn update(&mut self, snapshot: &Snapshot) {
        self.events.update(snapshot, self.began.elapsed());
        snapshot.fill(&mut self.scene);
        self.events.fill(&mut self.scene);
        if self.screen.is_some() {
            self.redraw();
        } else {
            let lines = self.lines.new_lines(&self.scene);
            self.print(&lines);
        }
    }

    /// Prints where the pods are, unless that is on the screen.
    pub(super) fn picture(&mut self) {
        if self.screen.is_none() {
            let lines = picture(&self.scene, WIDTH);
            self.print_below(&lines);
        }
    }

    /// Prints lines after an empty one, unless advice is on the screen.
    pub(super) fn advise(&mut self, lines: &[String]) {
        if self.screen.is_none() {
            self.print_below(lines);
        }
    }

    /// Resolves when the user asks to quit.
    pub(super) async fn quit(&mut self) -> io::Result<()> {
        match &mut self.screen {
            Some(drawing) => (&mut drawing.thread).await.map_err(io::Error::other)?,
            None => std::future::pending().await,
        }
    }

    /// Gives the terminal back. Fails where something could not be printed.
    pub(super) async fn close(self) -> io::Result<()> {
        if let Some(Drawing { scenes, thread }) = self.screen {
            drop(scenes);
            // It has ended already where the user asked to quit.
            if !thread.is_finished() {
                drop(thread.await);
            }
        }
        self.error.map_or(Ok(()), Err)
    }

    fn redraw(&self) {
        if let Some(drawing) = &self.screen {
            drawing.scenes.send_replace(self.scene.clone());
        }
    }

    fn print_below(&mut self, lines: &[String]) {
        self.print(&[String::new()]);
        self.print(lines);
    }

    fn print(&mut self, lines: &[String]) {
        let text: String = lines.iter().flat_map(|it| [it.as_str(), "\n"]).collect();
        if let Err(error) = cli::print(&text) {
            self.error = Some(error);
            self.stop.cancel();
        }
    }
}

/// Draws what changes, until the user quits or there is nothing more to draw.
fn draw(mut screen: Screen, mut scenes: watch::Receiver<Scene>) -> io::Result<()> {
    screen.draw(&scenes.borrow_and_update())?;
    loop {
        let input = screen.input(FRAME)?;
        if input == Some(Input::Quit) {
            return Ok(());
        }
        match scenes.has_changed() {
            Err(_) => return Ok(()),
            Ok(has_changed) if has_changed || input.is_some() => screen.draw(&scenes.borrow_and_update())?,
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;
    use crate::view::{Look, Scroll};

    /// What is on a screen that is drawn on from now on.
    fn screen(scene: &Scene) -> String {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let look = Look { colours: false };
        terminal.draw(|frame| crate::view::draw(frame, scene, look, &mut Scroll::default())).unwrap();
        terminal.backend().to_string()
    }

    #[tokio::test]
    async fn advice_and_later_words_are_on_the_screen() {
        let mut show = Show::new(Instant::now(), false, CancellationToken::new());
        let (sender, receiver) = std::sync::mpsc::channel();
        let advice = ["kubeconfig: k".to_owned(), "  kubectl get pods".to_owned()];
        show.draw_with("grove up", &advice, move |scenes| sender.send(scenes).map_err(io::Error::other));
        let scenes = receiver.recv().unwrap();
        show.say("not all pods are ready yet");
        show.advise(&["Ctrl-C stops everything.".to_owned()]);
        show.update(&Snapshot::default());
        let drawn = screen(&scenes.borrow());
        for part in ["kubeconfig: k", "  kubectl get pods", "s  not all pods are ready yet", "q quit"] {
            assert!(drawn.contains(part), "{part:?} is not drawn:\n{drawn}");
        }
        show.close().await.unwrap();
    }
}
