//! The pod grouper over an API server in memory, with KAI's groups.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "functions that tests share are tests too"
)]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

mod budget;
mod changes;
mod gate;
mod hostile;
mod kills;
mod kinds;
mod pods;
mod rules;
mod terms;
mod trouble;
mod world;
