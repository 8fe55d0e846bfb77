//! The server on the network: TLS, credentials, limits, bad input, shutdown, and what clients ask first.
// Tests, also in the functions that they share; `json!` reads better without borrowing it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_pass_by_value)]

mod audit;
mod authentication;
mod bodies;
mod client;
mod discovery;
mod everywhere;
mod flat_memory;
mod floods;
mod frames;
mod limits;
mod openapi;
mod parameters;
mod rbac;
mod reviews;
mod shutdown;
mod support;
