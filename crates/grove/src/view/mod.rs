//! A live view of a small cluster in a terminal: racks, gangs, pods, and what happened.
//!
//! The program that shows it fills a [`Scene`] from what it watches. Where standard output is a terminal, [`Screen`] draws
//! it and reads keys; elsewhere [`PlainLines`] prints each story line once. What is drawn is a pure function of the scene,
//! the size and the [`Look`]: `racks` and `gangs` make lines of it, `frame` puts them where there is room.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use grove::view::{Input, PlainLines, Scene, Screen};
//!
//! # fn main() -> std::io::Result<()> {
//! let scene = Scene::default();
//! if let Some(mut screen) = Screen::open()? {
//!     screen.draw(&scene)?;
//!     while screen.input(Duration::from_millis(100))? != Some(Input::Quit) {
//!         screen.draw(&scene)?;
//!     }
//! } else {
//!     let mut plain = PlainLines::default();
//!     plain.new_lines(&scene).iter().for_each(|line| println!("{line}"));
//! }
//! # Ok(())
//! # }
//! ```

mod frame;
mod gangs;
mod look;
mod model;
mod picture;
mod plain;
mod racks;
mod screen;

pub use self::{
    frame::{Scroll, draw},
    look::Look,
    model::{GangState, GangView, NodeView, PodState, PodView, Scene, StoryLine, Tone},
    picture::picture,
    plain::PlainLines,
    screen::{Input, Screen},
};
