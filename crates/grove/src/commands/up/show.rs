//! What is printed, or drawn on a terminal.

use std::{
    io,
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinHandle};

use crate::{
    follow::{Events, Snapshot},
    view::{Input, PlainLines, Scene, Screen, picture},
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
}

/// A thread that draws: it also waits for keys.
struct Drawing {
    scenes: watch::Sender<Scene>,
    thread: JoinHandle<io::Result<()>>,
}

impl Show {
    pub(super) fn new(began: Instant, is_plain: bool) -> Self {
        Self {
            began,
            is_plain,
            scene: Scene::default(),
            events: Events::default(),
            lines: PlainLines::default(),
            screen: None,
        }
    }

    /// Prints a line with the time since the start, where there is no screen.
    pub(super) fn say(&self, text: &str) {
        if self.screen.is_none() {
            anstream::println!("{:6.1} s  {text}", self.began.elapsed().as_secs_f64());
        }
    }

    /// Takes the terminal, if there is one and it may be drawn on.
    pub(super) fn open(&mut self, title: String) -> io::Result<()> {
        if self.is_plain {
            return Ok(());
        }
        let Some(screen) = Screen::open()? else { return Ok(()) };
        self.scene.title = title;
        let (scenes, drawn) = watch::channel(self.scene.clone());
        self.screen =
            Some(Drawing { scenes, thread: tokio::task::spawn_blocking(move || draw(screen, drawn)) });
        Ok(())
    }

    /// Shows a snapshot, and what happened since the last one.
    pub(super) fn update(&mut self, snapshot: &Snapshot) {
        self.events.update(snapshot, self.began.elapsed());
        snapshot.fill(&mut self.scene);
        self.events.fill(&mut self.scene);
        match &self.screen {
            Some(drawing) => drop(drawing.scenes.send_replace(self.scene.clone())),
            None => print(&self.lines.new_lines(&self.scene)),
        }
    }

    /// Prints where the pods are, unless that is on the screen.
    pub(super) fn picture(&self) {
        if self.screen.is_none() {
            anstream::println!();
            print(&picture(&self.scene, WIDTH));
        }
    }

    /// Prints lines after an empty one, where there is no screen.
    pub(super) fn print(&self, lines: &[String]) {
        if self.screen.is_none() {
            anstream::println!();
            print(lines);
        }
    }

    /// Resolves when the user asks to quit.
    pub(super) async fn quit(&mut self) -> io::Result<()> {
        match &mut self.screen {
            Some(drawing) => (&mut drawing.thread).await.map_err(io::Error::other)?,
            None => std::future::pending().await,
        }
    }

    /// Gives the terminal back.
    pub(super) async fn close(self) {
        if let Some(Drawing { scenes, thread }) = self.screen {
            drop(scenes);
            // It has ended already where the user asked to quit.
            if !thread.is_finished() {
                drop(thread.await);
            }
        }
    }
}

fn print(lines: &[String]) {
    for line in lines {
        anstream::println!("{line}");
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
