//! The operator in a cluster in memory where everything goes wrong that can. Time is virtual and everything is decided by
//! one seed, so that a run can be repeated, and cut down to what matters.
//!
//! ```text
//! seed ─► plan (sets, weather, steps) ─► run ─┬─ cluster: API server, users, nodes
//!                                             ├─ operator ── connection, as bad as the weather
//!                                             └─ referee: every change ─► past ─► rules
//! ```

mod clock;
mod cluster;
mod connection;
pub mod crowd;
mod operator;
mod panics;
mod past;
pub mod plan;
mod random;
mod referee;
pub mod rules;
mod run;
pub mod shrink;
mod story;
mod watchdog;

pub use self::run::{Outcome, run};
