//! The scheduler over an API server in memory, with paused time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

mod every_revision;
mod faults;
mod gangs;
mod preemption;
mod random;
mod reasons;
mod waiting;
mod world;
