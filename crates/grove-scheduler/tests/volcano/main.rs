//! Volcano's backend: gangs to exact objects, rules, pods and words.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]
#![allow(clippy::too_many_lines, reason = "a table is as long as it has rows")]

#[path = "../common/mod.rs"]
mod common;

mod cluster;
mod hyper_nodes;
mod render_existing;
mod render_refused;
mod render_shapes;
mod rules;
mod wanted;
