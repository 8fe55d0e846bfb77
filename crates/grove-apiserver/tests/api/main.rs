//! The server as its clients see it. One program, because each links a whole client.
// Tests, also in the functions that they share; `json!` reads better without borrowing it.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

mod apply;
mod client;
mod collector;
mod create;
mod definitions;
mod delete;
mod eviction;
mod faults;
mod grove;
mod list;
mod model;
mod odd;
mod pods;
mod policies;
mod quotas;
mod restore;
mod strategic;
mod strict;
mod subresources;
mod support;
mod table;
mod update;
mod watch;
mod webhooks;
